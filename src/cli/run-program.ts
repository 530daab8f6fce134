import process from 'node:process';
import { CommanderError, type Command } from 'commander';
import { TreadleError } from '../base/errors.ts';
import { processEnvironment, type Environment } from '../platform/bundle/environment.ts';
import { didYouMean } from '../platform/bundle/problems.ts';
import type { Context } from './context.ts';
import { EXIT_CODES, type Outcome } from './exit-codes.ts';
import { createProgram } from './program.ts';
import { reportError } from './report-error.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Runs one command line and ends the process with its exit code. */
export async function main(given: readonly string[], version: string): Promise<void> {
  const environment = processEnvironment();
  const terminal = openTerminal(environment, process);
  // A reader that has seen enough, such as `head`, is no fault of anybody.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT_CODES.completed.code);
      const why = error.code === 'ENOSPC' ? 'the disk is full' : error.message;
      if (stream === process.stdout) process.stderr.write(`✗ What was to be printed could not be written: ${why}.\n`);
      process.exit(EXIT_CODES.log.code);
    });
  }
  const debug = wantsDebug(given, environment);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      reportError(error, terminal, debug);
      process.exit(EXIT_CODES.bug.code);
    });
  }
  const outcome = await runProgram(given, version, { terminal, environment });
  await leave(EXIT_CODES[outcome].code);
}

function wantsDebug(given: readonly string[], environment: Environment): boolean {
  return given.includes('--debug') || (environment['TREADLE_DEBUG'] ?? '') !== '';
}

/** Runs one command line and says how it came out. What is wrong with it is told on stderr and never thrown. */
export async function runProgram(given: readonly string[], version: string, context: Context): Promise<Outcome> {
  let outcome: Outcome = 'completed';
  const program = createProgram(context, version, (one) => {
    outcome = one;
  });
  const { terminal, environment } = context;
  const debug = wantsDebug(given, environment);
  quietly(program, terminal);
  try {
    if (given.length === 0) program.outputHelp();
    else await program.parseAsync(given, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) outcome = reportError(error, terminal, debug);
    else if (error.exitCode !== 0) outcome = reportError(usageError(error, program), terminal, debug);
  }
  return outcome;
}

/** Commander throws instead of ending the process, writes where we write, and leaves it to us to say what is wrong. */
function quietly(command: Command, terminal: Terminal): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => void terminal.out.write(text),
    writeErr: (text) => void terminal.err.write(text),
    outputError: () => undefined,
  });
  for (const one of command.commands) quietly(one, terminal);
}

function usageError({ code, message }: CommanderError, program: Command): TreadleError {
  const [said = '', suggestion = ''] = message.replace(/^error: /, '').split('\n');
  const hint = /\(Did you mean (?:one of )?(.+?)\?\)/.exec(suggestion)?.[1];
  const unknown = code === 'commander.unknownCommand' ? /'(.*)'/.exec(said)?.[1] : undefined;
  const near =
    unknown === undefined
      ? undefined
      : didYouMean(
          unknown,
          program.commands.map((one) => one.name()),
        )?.concat('?');
  if (code === 'commander.unknownOption' && /'-(\d|.*\s)/.test(said))
    return new TreadleError('usage', { found: said, hint: 'put -- before it where it is text' });
  const better = hint === undefined ? near : `did you mean ${hint}?`;
  return new TreadleError('usage', { found: said, hint: better ?? 'see treadle --help' });
}

/** Ends the process when what was written has left it: on some systems a pipe is written in the background. */
async function leave(code: number): Promise<void> {
  process.exitCode = code;
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => {
      stream.write('', () => resolve());
    });
  }
  process.exit(code);
}

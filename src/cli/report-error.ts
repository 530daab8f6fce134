import { commandName } from './command-name.ts';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { systemClock } from '../base/clock.ts';
import { ERROR_CODES, TreadleError } from '../base/errors.ts';
import { BundleError } from '../platform/problems.ts';
import { errorOutcome, type Outcome } from './exit-codes.ts';
import { counted, harmless, wrap } from './text.ts';
import type { Colors, Terminal } from './terminal.ts';

const LABEL_COLUMNS = 8;

export interface ErrorLook {
  readonly colors: Colors;
  readonly columns: number;
  /** Shows the stack. */
  readonly debug: boolean;
}

/** Says on stderr what went wrong, and how the command ends. */
export function reportError(error: unknown, { err, errColors, columns }: Terminal, debug: boolean): Outcome {
  const lines = errorLines(error, { colors: errColors, columns: columns(), debug });
  err.write(lines.map((line) => `${line}\n`).join(''));
  return TreadleError.is(error) ? errorOutcome(error) : 'bug';
}

/** What went wrong, in words: a block for each problem. */
export function errorLines(error: unknown, look: ErrorLook): string[] {
  if (!TreadleError.is(error)) return bugBlock(error, look);
  const { colors, columns, debug } = look;
  const problems = error instanceof BundleError ? error.problems : [error];
  const lines = problems.flatMap((problem, index) => [
    ...(index > 0 ? [''] : []),
    ...errorBlock(problem, colors, columns),
  ]);
  if (problems.length > 1) lines.push('', `${counted(problems.length, 'problem')}.`);
  if (debug) lines.push('', colors.dim(stackOf(error)));
  return lines;
}

/** What, where, what was found and wanted, what to do: one line each, and only those that are known. */
function errorBlock({ code, detail }: TreadleError, colors: Colors, columns: number): string[] {
  const row = (label: string, text: string | undefined): string[] => {
    if (text === undefined) return [];
    const first = `  ${label.padEnd(LABEL_COLUMNS)}`;
    const [head = '', ...more] = wrap(harmless(text), { columns, first, rest: ' '.repeat(first.length) });
    return [colors.dim(head.slice(0, first.length)) + head.slice(first.length), ...more];
  };
  // A slip on the command line needs no more than to be named; the code's own sentence would only be in the way.
  const slip = code === 'usage' && detail.found !== undefined ? [detail.place, detail.found] : undefined;
  const titled = slip?.filter((one) => one !== undefined).join(': ') ?? ERROR_CODES[code];
  const title = wrap(harmless(titled), { columns, first: '✗ ', rest: '  ' });
  return [
    ...title.map((line) => colors.bold(colors.red(line))),
    ...(slip === undefined ? [...row('where', detail.place), ...row('found', detail.found)] : []),
    ...row('wanted', detail.wanted),
    ...row('do', detail.hint),
    ...row('code', code),
  ];
}

function bugBlock(error: unknown, { colors, columns, debug }: ErrorLook): string[] {
  const message = error instanceof Error ? error.message : String(error);
  const title = wrap(`This is a fault of Treadle, not yours: ${harmless(message)}`, {
    columns,
    first: '✗ ',
    rest: '  ',
  });
  const lines = title.map((line) => colors.bold(colors.red(line)));
  if (debug) return [...lines, colors.dim(stackOf(error))];
  const file = writeStack(error);
  const where = file === undefined ? 'Run it again with --debug to see where.' : `Where it happened is in ${file}`;
  return [
    ...lines,
    ...wrap(`${where} Nothing in the log is lost: see \`${commandName()} list\`.`, { columns, first: '  ' }),
  ];
}

function writeStack(error: unknown): string | undefined {
  const file = path.join(tmpdir(), `treadle-fault-${systemClock.now()}-${process.pid}.txt`);
  try {
    writeFileSync(file, `${stackOf(error)}\n`, { mode: 0o600 });
    return file;
  } catch {
    return undefined; // a full disk is no reason to hide the fault
  }
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

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

/** Says in words what went wrong, and how the command ends. A stack is shown to those who ask for it. */
export function reportError(
  error: unknown,
  terminal: Pick<Terminal, 'err' | 'errColors' | 'columns'>,
  debug: boolean,
): Outcome {
  const write = (lines: readonly string[]): void => void terminal.err.write(lines.map((line) => `${line}\n`).join(''));
  const { errColors: colors } = terminal;
  const columns = terminal.columns();
  if (!TreadleError.is(error)) {
    write(bugBlock(error, colors, columns, debug));
    return 'bug';
  }
  const problems = error instanceof BundleError ? error.problems : [error];
  for (const [index, problem] of problems.entries()) {
    if (index > 0) write(['']);
    write(errorBlock(problem, colors, columns));
  }
  if (problems.length > 1) write(['', `${counted(problems.length, 'problem')}.`]);
  if (debug) write(['', colors.dim(stackOf(error))]);
  return errorOutcome(error);
}

/** What, where, what was found and wanted, what to do: one line each, and only those that are known. */
export function errorBlock({ code, detail }: TreadleError, colors: Colors, columns: number): string[] {
  const row = (label: string, text: string | undefined): string[] => {
    if (text === undefined) return [];
    const first = `  ${label.padEnd(LABEL_COLUMNS)}`;
    const [head = '', ...more] = wrap(harmless(text), { columns, first, rest: ' '.repeat(first.length) });
    return [colors.dim(head.slice(0, first.length)) + head.slice(first.length), ...more];
  };
  // Most slips on the command line need no more than to be named.
  const isNamed = code === 'usage' && detail.place === undefined && detail.found !== undefined;
  const title = wrap(isNamed ? harmless(detail.found) : ERROR_CODES[code], { columns, first: '✗ ', rest: '  ' });
  return [
    ...title.map((line) => colors.bold(colors.red(line))),
    ...row('where', detail.place),
    ...row('found', isNamed ? undefined : detail.found),
    ...row('wanted', detail.wanted),
    ...row('do', detail.hint),
    ...row('code', code),
  ];
}

function bugBlock(error: unknown, colors: Colors, columns: number, debug: boolean): string[] {
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
  return [...lines, ...wrap(`${where} Nothing in the log is lost: see \`treadle list\`.`, { columns, first: '  ' })];
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

import { commandName } from './command-name.ts';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { systemClock } from '../base/clock.ts';
import { ERROR_CODES, TreadleError } from '../base/errors.ts';
import { ClientError } from '../client/client-error.ts';
import { BundleError } from '../platform/bundle/problems.ts';
import { clientOutcome, errorOutcome, type Outcome } from './exit-codes.ts';
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
  if (error instanceof ClientError) return clientOutcome(error);
  return TreadleError.is(error) ? errorOutcome(error) : 'bug';
}

/** What went wrong, in words: a block for each problem. */
export function errorLines(error: unknown, look: ErrorLook): string[] {
  if (error instanceof ClientError) return clientBlock(error, look);
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
  // A slip on the command line needs no more than to be named; the code's own sentence would only be in the way.
  const slip = code === 'usage' && detail.found !== undefined ? [detail.place, detail.found] : undefined;
  const titled = slip?.filter((one) => one !== undefined).join(': ') ?? ERROR_CODES[code];
  return [
    ...title(titled, colors, columns),
    ...(slip === undefined
      ? [...row('where', detail.place, colors, columns), ...row('found', detail.found, colors, columns)]
      : []),
    ...row('wanted', detail.wanted, colors, columns),
    ...row('do', detail.hint, colors, columns),
    ...row('code', code, colors, columns),
  ];
}

/** What a server, or the way to it, had against it. */
function clientBlock(error: ClientError, { colors, columns, debug }: ErrorLook): string[] {
  const { code, message, field, status, retryAfter } = error;
  return [
    ...title(message, colors, columns),
    ...row('where', field, colors, columns),
    ...row('do', remedy(error), colors, columns),
    ...row('after', retryAfter === undefined ? undefined : `${retryAfter} s`, colors, columns),
    ...row('code', status === 0 ? code : `${code}, status ${status}`, colors, columns),
    ...(debug ? ['', colors.dim(stackOf(error))] : []),
  ];
}

function remedy({ code, status, idempotencyKey }: ClientError): string | undefined {
  switch (code) {
    case 'invalid_token':
      return 'give a key with --key or TREADLE_API_KEY';
    case 'not_found':
      return 'check the id and whose key it is: a run of somebody else looks like one that is not there';
    case 'outcome_unknown':
      return `look whether it was done before you do it again; its key was ${idempotencyKey ?? ''}`;
    case 'transport_error':
      return 'check --url, and that the server is up';
    default:
      return status === 429 || status >= 500 ? 'try again later' : undefined;
  }
}

function title(text: string, colors: Colors, columns: number): string[] {
  return wrap(harmless(text), { columns, first: '✗ ', rest: '  ' }).map((line) => colors.bold(colors.red(line)));
}

function row(label: string, text: string | undefined, colors: Colors, columns: number): string[] {
  if (text === undefined) return [];
  const first = `  ${label.padEnd(LABEL_COLUMNS)}`;
  const [head = '', ...more] = wrap(harmless(text), { columns, first, rest: ' '.repeat(first.length) });
  return [colors.dim(head.slice(0, first.length)) + head.slice(first.length), ...more];
}

function bugBlock(error: unknown, { colors, columns, debug }: ErrorLook): string[] {
  const message = error instanceof Error ? error.message : String(error);
  const lines = title(`This is a fault of Treadle, not yours: ${message}`, colors, columns);
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

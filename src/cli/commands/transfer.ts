import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { TreadleError } from '../../base/errors.ts';
import { exported, importInto } from '../../platform/hosting/transfer.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { findRun, openLog } from '../open.ts';
import { counted } from '../text.ts';

export interface TransferOptions {
  readonly data?: string;
  readonly debug?: boolean;
}

/** Prints conversations so that another log can have them: all, or those that are named with all below them. */
export async function exportRuns(
  { terminal, environment }: Context,
  named: readonly string[],
  options: TransferOptions & { readonly out?: string },
): Promise<Outcome> {
  const { log, place } = await openLog({ data: options.data, reads: true, environment });
  const file = options.out === undefined ? undefined : await open(options.out, 'w', 0o600);
  try {
    const ids: string[] = [];
    for (const name of named) {
      const { id } = await findRun(log, name);
      ids.push(id, ...(await log.list({ limit: 100_000, root: id, archived: 'any' })).map((row) => row.id));
    }
    const { lines, busy } = exported(log, named.length === 0 ? undefined : ids);
    let count = -2; // the first line and the last
    for await (const line of lines) {
      count++;
      if (file !== undefined) await file.write(`${line}\n`);
      else if (!terminal.out.write(`${line}\n`)) await new Promise((resolve) => terminal.out.once('drain', resolve));
    }
    await file?.sync();
    terminal.err.write(`${counted(count, 'conversation')} of ${place ?? 'nowhere'}.\n`);
    if (busy.length === 0) return 'completed';
    terminal.err.write(`Left out, for a process drives them: ${busy.join(', ')}. Stop it, and export again.\n`);
    return 'busy';
  } finally {
    await file?.close();
    await log.close();
  }
}

/** Puts exported conversations into the log: from a file, or from standard input. */
export async function importRuns(
  { terminal, environment }: Context,
  file: string | undefined,
  options: TransferOptions,
): Promise<Outcome> {
  const { createInterface } = await import('node:readline');
  const input = file === undefined || file === '-' ? terminal.input : await opened(file);
  const { log, place } = await openLog({ data: options.data, environment });
  try {
    const { added, there } = await importInto(log, createInterface({ input, terminal: false, crlfDelay: Infinity }));
    const before = there === 0 ? '' : `; ${there} were there before`;
    terminal.err.write(`${counted(added, 'conversation')} put into ${place ?? 'nowhere'}${before}.\n`);
    return 'completed';
  } finally {
    await log.close();
  }
}

async function opened(file: string): Promise<NodeJS.ReadableStream> {
  try {
    const handle = await open(file);
    await handle.close();
    return createReadStream(file);
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new TreadleError('usage', { place: 'FILE', found, wanted: 'a file that can be read', cause });
  }
}

import { commandName } from '../command-name.ts';
import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { RUN_STATUSES, statusKind, type RunStatus } from '../../domain/status.ts';
import { rowKindOf } from '../../platform/runs/state.ts';
import { didYouMean, oneOf } from '../../platform/bundle/problems.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { openLog } from '../open.ts';
import { runTable } from '../run-table.ts';

export interface ListOptions {
  readonly json?: boolean;
  readonly limit?: string;
  readonly status?: string;
  readonly data?: string;
}

const LIMIT = 20;
const LIMIT_MAX = 1_000;

/** Prints the runs of the log, newest first. */
export async function list({ terminal, environment }: Context, options: ListOptions): Promise<Outcome> {
  const limit = options.limit === undefined ? LIMIT : parseLimit(options.limit);
  const status = options.status === undefined ? undefined : parseStatus(options.status);
  const { log, place = '' } = await openLog({ data: options.data, reads: true, environment });
  try {
    const rows = await log.list({ limit, status, top: true });
    const print = (lines: readonly string[]): void =>
      void terminal.out.write(lines.map((line) => `${line}\n`).join(''));
    if (options.json === true) print([JSON.stringify(rows)]);
    else if (rows.length > 0) {
      const told = await Promise.all(rows.map(async (row) => ({ ...row, statusKind: await rowKindOf(log, row) })));
      print(runTable(told, { colors: terminal.colors, columns: terminal.columns(), now: systemClock.now() }));
      if (rows.length === limit) terminal.err.write(`The newest ${limit}; --limit shows more.\n`);
    } else {
      terminal.err.write(`No runs${status === undefined ? '' : ' like that'} in ${place}.\n`);
      if (status === undefined) terminal.err.write(`Start one with: ${commandName()} chat\n`);
    }
    return 'completed';
  } finally {
    await log.close();
  }
}

/** A count. Throws `usage`. */
export function parseLimit(text: string, place = '--limit'): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new TreadleError('usage', {
    place,
    found: JSON.stringify(text),
    wanted: `a number from 1 to ${LIMIT_MAX}`,
  });
}

/** A status, or one of the words that stand for several. Throws `usage`. */
export function parseStatus(text: string): readonly RunStatus[] {
  const kinds: Readonly<Record<string, (status: RunStatus) => boolean>> = {
    working: (one) => statusKind(one) === 'working',
    waiting: (one) => statusKind(one).startsWith('waiting'),
    ended: (one) => statusKind(one) === 'ended',
  };
  const wanted = text.split(',').map((one) => one.trim());
  return wanted.flatMap((one) => {
    const found = RUN_STATUSES.filter(
      Object.hasOwn(kinds, one) ? (kinds[one] ?? (() => false)) : (status) => status === one,
    );
    if (found.length > 0) return found;
    const known = [...Object.keys(kinds), ...RUN_STATUSES];
    throw new TreadleError('usage', {
      place: '--status',
      found: JSON.stringify(one),
      wanted: oneOf(known),
      hint: didYouMean(one, known),
    });
  });
}

import type { Clock, Instant } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { END_STATUSES } from '../../domain/status.ts';
import type { ConversationRow, Log } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { removeTree } from './control.ts';

/** How long runs are kept, in days. */
export interface Retention {
  /** After their last turn ended. For ever when absent. */
  readonly endedDays?: number | undefined;
  /** After they were archived, if they ended. For ever when absent. */
  readonly archivedDays?: number | undefined;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
const PAGE = 100;

/** Removes what is too old, now and every hour. The returned function ends it. */
export function retire(
  { log, clock, logger }: { readonly log: Log; readonly clock: Clock; readonly logger: Logger },
  retention: Retention,
): () => void {
  let stop: () => void = () => undefined;
  let over = false;
  const again = (): void => {
    if (over) return;
    stop = clock.after(EVERY_MS, sweep);
  };
  const sweep = (): void => {
    removeOld(log, clock.now(), retention).then(
      (removed) => {
        if (removed > 0) logger.info('old runs were removed', { removed });
        again();
      },
      (error: unknown) => {
        logger.error('old runs could not be removed', { error });
        again();
      },
    );
  };
  sweep();
  return () => {
    over = true;
    stop();
  };
}

/** One pass. Runs below another go with it. How many were removed. */
export async function removeOld(log: Log, now: Instant, { endedDays, archivedDays }: Retention): Promise<number> {
  let removed = 0;
  if (endedDays !== undefined) {
    for await (const row of endedBefore(log, now - endedDays * DAY_MS)) removed += await removeIdle(log, row);
  }
  if (archivedDays !== undefined) {
    const limit = now - archivedDays * DAY_MS;
    for await (const row of endedBefore(log, limit, 'only'))
      if ((row.archivedAt ?? now) < limit) removed += await removeIdle(log, row);
  }
  return removed;
}

/** Those whose last change was before it: nothing else of the log is looked at. */
async function* endedBefore(
  log: Log,
  limit: Instant,
  archived: 'any' | 'only' = 'any',
): AsyncGenerator<ConversationRow> {
  let before: Pick<ConversationRow, 'updatedAt' | 'id'> = { updatedAt: limit, id: '' };
  for (;;) {
    const page = await log.list({ limit: PAGE, before, status: END_STATUSES, archived });
    for (const row of page) if (row.parent === undefined) yield row;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    before = last;
  }
}

async function removeIdle(log: Log, row: ConversationRow): Promise<number> {
  try {
    await removeTree(log, row);
    return 1;
  } catch (error) {
    if (TreadleError.is(error) && error.code === 'run_active') return 0; // the next pass finds it again
    throw error;
  }
}

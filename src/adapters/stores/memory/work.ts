import type { Clock, Instant } from '../../../base/clock.ts';
import type { FreeRun, Held } from '../fair.ts';
import { isLeased } from '../standing.ts';
import type { Entry } from './entry.ts';

/** Which conversations have work, and when. */
export interface Work {
  /** There is work from now on, if there was none. */
  wait(entry: Entry, now: Instant): void;
  /** There is no work any more. */
  rest(entry: Entry): void;
  /** There is work at that time; at none when absent. */
  timeAt(entry: Entry, at: Instant | undefined): void;
  /** What nobody holds and has work, and since when: the longest waiting first. */
  free(bundles: readonly string[] | undefined): FreeRun[];
  /** What somebody holds. */
  held(): Held;
  /** When the passing of time alone makes something ready. */
  due(bundles: readonly string[] | undefined): Instant | undefined;
}

export function createWork(clock: Clock): Work {
  /** Conversations with work left or begun, the longest waiting first. */
  const waiting = new Set<Entry>();
  /** Conversations that are to go on at a time of their own. */
  const timed = new Set<Entry>();

  function wait(entry: Entry, now: Instant): void {
    entry.waitingSince ??= now;
    waiting.add(entry);
  }

  function rest(entry: Entry): void {
    entry.waitingSince = undefined;
    waiting.delete(entry);
  }

  function timeAt(entry: Entry, at: Instant | undefined): void {
    entry.continueAt = at;
    if (at === undefined) timed.delete(entry);
    else timed.add(entry);
  }

  function free(bundles: readonly string[] | undefined): FreeRun[] {
    const now = clock.now();
    const found: FreeRun[] = [];
    for (const entry of new Set([...waiting, ...timed])) {
      const since = entry.waitingSince ?? entry.continueAt ?? now;
      if (since > now && entry.waitingSince === undefined) continue;
      if (!isLeased(entry, now) && bundles?.includes(entry.meta.bundle) !== false)
        found.push({ id: entry.meta.id, since, tenant: entry.meta.tenant, userId: entry.meta.userId });
    }
    return found.sort((left, right) => left.since - right.since);
  }

  function held(): Held {
    const now = clock.now();
    const metas = [...waiting].filter((entry) => isLeased(entry, now)).map(({ meta }) => meta);
    return {
      ofTenant: (tenant) => metas.filter((meta) => meta.tenant === tenant).length,
      ofUser: (tenant, userId) => metas.filter((meta) => meta.tenant === tenant && meta.userId === userId).length,
    };
  }

  function due(bundles: readonly string[] | undefined): Instant | undefined {
    let first: Instant | undefined;
    for (const { meta, owner, until, waitingSince, continueAt } of new Set([...waiting, ...timed])) {
      if (bundles?.includes(meta.bundle) === false) continue;
      const at = waitingSince === undefined ? continueAt : owner === undefined ? undefined : until;
      if (at !== undefined) first = Math.min(first ?? at, at);
    }
    return first;
  }

  return { wait, rest, timeAt, free, held, due };
}

import type { Instant } from '../../../base/clock.ts';
import type { Statements } from './statements.ts';

export interface FreeWork {
  readonly id: string;
  /** Since when it could be driven. */
  readonly since: Instant;
}

/** What nobody holds and has work, the longest waiting first. */
export function freeWork(
  sql: Statements,
  now: Instant,
  limit: number,
  bundles: readonly string[] | undefined,
): readonly FreeWork[] {
  const filter = bundles === undefined ? null : JSON.stringify(bundles);
  const found = (['ready', 'late'] as const).flatMap((name) =>
    sql(name)
      .all(now, limit, filter)
      .map(({ id, since }) => ({ id: String(id), since: Number(since) })),
  );
  return found.sort((left, right) => left.since - right.since).slice(0, limit);
}

/** When the passing of time alone makes something ready. */
export function nextDue(sql: Statements, bundles: readonly string[] | undefined): Instant | undefined {
  const filter = bundles === undefined ? null : JSON.stringify(bundles);
  const times = (['nextTimed', 'nextLapse'] as const)
    .map((name) => sql(name).get(filter)?.['at'])
    .filter((at) => typeof at === 'number');
  return times.length === 0 ? undefined : Math.min(...times);
}

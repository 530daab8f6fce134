import type { Instant } from '../../../base/clock.ts';
import type { Shares } from '../../../kernel/log.ts';
import { fairly, type FreeRun, type Held } from '../fair.ts';
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

/** The same with tenants taking turns, and no more than their shares. */
export function fairWork(
  sql: Statements,
  now: Instant,
  limit: number,
  { bundles, shares }: { readonly bundles?: readonly string[] | undefined; readonly shares: Shares },
): readonly FreeRun[] {
  const rows = sql('held').all(now);
  const countOf = (fits: (row: (typeof rows)[number]) => boolean): number =>
    rows.filter(fits).reduce((sum, row) => sum + Number(row['count']), 0);
  const held: Held = {
    ofTenant: (tenant) => countOf((row) => row['tenant'] === tenant),
    ofUser: (tenant, userId) => countOf((row) => row['tenant'] === tenant && row['user_id'] === userId),
  };
  const filter = bundles === undefined ? null : JSON.stringify(bundles);
  const free = sql('turns').all(now, limit, filter, shares.perUser ?? Number.MAX_SAFE_INTEGER);
  const runs = free.map((row) => ({
    id: String(row['id']),
    since: Number(row['since']),
    tenant: String(row['tenant']),
    userId: String(row['user_id']),
  }));
  return fairly(runs, held, shares).slice(0, limit);
}

/** When the passing of time alone makes something ready. */
export function nextDue(sql: Statements, bundles: readonly string[] | undefined): Instant | undefined {
  const filter = bundles === undefined ? null : JSON.stringify(bundles);
  const times = (['nextTimed', 'nextLapse'] as const)
    .map((name) => sql(name).get(filter)?.['at'])
    .filter((at) => typeof at === 'number');
  return times.length === 0 ? undefined : Math.min(...times);
}

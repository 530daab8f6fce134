import type { Instant } from '../../base/clock.ts';
import type { Shares } from '../../kernel/log.ts';

/** A conversation that nobody holds and that has work. */
export interface FreeRun {
  readonly id: string;
  readonly since: Instant;
  readonly tenant: string;
  readonly userId: string;
}

/** How many conversations are held at the moment. */
export interface Held {
  readonly ofTenant: (tenant: string) => number;
  readonly ofUser: (tenant: string, userId: string) => number;
}

/**
 * Who comes next: of each tenant the longest waiting, and first of those that have the least at work. So a tenant that
 * brings a thousand runs at once delays its own. `free` is in the order of waiting.
 */
export function fairly<R extends FreeRun>(
  free: readonly R[],
  held: Held,
  { perTenant = Infinity, perUser = Infinity }: Shares,
): readonly R[] {
  const tenants = new Map<string, number>();
  const users = new Map<string, number>();
  const placed: { readonly run: R; readonly place: number }[] = [];
  for (const run of free) {
    const user = `${run.tenant}\n${run.userId}`;
    const place = 1 + (tenants.get(run.tenant) ?? held.ofTenant(run.tenant));
    const own = 1 + (users.get(user) ?? held.ofUser(run.tenant, run.userId));
    if (place > perTenant || own > perUser) continue;
    tenants.set(run.tenant, place);
    users.set(user, own);
    placed.push({ run, place });
  }
  return placed
    .sort((left, right) => left.place - right.place || left.run.since - right.run.since)
    .map(({ run }) => run);
}

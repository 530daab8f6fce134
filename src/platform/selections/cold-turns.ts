import type { Instant } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { ChangePolicy } from '../../assembly/change-policy.ts';
import { isCold } from '../../assembly/cache.ts';
import type { SelectionRecord } from '../../domain/selection-record.ts';
import { conversationKey } from './selection-reader.ts';
import { ask, type Affected, type SelectionPorts, type SelectionState } from './selection-state.ts';

const HOUR_MS = 3_600_000;
/** Conversations of one user that are looked at: the newest. Older ones are cold. */
const MOST_LOOKED_AT = 50;

/** The warm conversations that a change would reach: the one that is named, else all that have no copy of their own. */
export async function affectedBy(
  ports: SelectionPorts,
  { named, agent, key }: SelectionState,
  now: Instant,
): Promise<readonly Affected[]> {
  if (named !== undefined) return [named];
  const { userId, tenant } = key;
  const rows = await ports.log.list({ limit: MOST_LOOKED_AT, userId, tenant, agent: agent.frame.id });
  const found: Affected[] = [];
  for (const row of rows) {
    if (row.updatedAt < now - HOUR_MS) break; // newest first, and no cache lives longer
    if (!ports.isOf(row, agent.bundle)) continue;
    if ((await ask(ports, () => ports.store.readSelection(conversationKey(row, agent)))) !== undefined) continue;
    const conversation = await ports.fold(row);
    if (!isCold(conversation, now)) found.push({ row, conversation });
  }
  return found;
}

/** The user's record with so many cold turns more. Throws `cold_turns_exhausted` where the operator allows no more. */
export function recordColdTurns(
  record: SelectionRecord,
  count: number,
  { coldTurnsPerHour: most }: ChangePolicy,
  now: Instant,
): SelectionRecord {
  if (count === 0 || most === undefined) return record;
  const recent = (record.coldTurns ?? []).filter((at) => at > now - HOUR_MS);
  if (recent.length + count > most) {
    const free = recent.at(Math.max(0, recent.length + count - most - 1));
    const waitMs = free === undefined || count > most ? undefined : free + HOUR_MS - now;
    throw new TreadleError('cold_turns_exhausted', {
      found: `${recent.length} in the last hour, and ${count} more`,
      wanted: `at most ${most}`,
      hint: 'let the change wait until the cache is cold, or for the next conversation',
      data: waitMs === undefined ? {} : { retryAfterMs: waitMs },
    });
  }
  return { ...record, coldTurns: [...recent, ...Array.from({ length: count }, () => now)] };
}

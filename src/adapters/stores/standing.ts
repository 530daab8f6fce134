import type { Instant } from '../../base/clock.ts';
import { statusKind, type RunStatus } from '../../domain/status.ts';
import type { Lease, ReleaseOptions } from '../../kernel/log.ts';

/** What a store knows of who may write to a conversation, and of what was dealt with. Every store decides by these. */
export interface Standing {
  readonly head: number;
  /** Raised by every take; 0 before the first. */
  readonly epoch: number;
  /** Who holds the lease, also when it has run out; undefined once it was let go. */
  readonly owner: string | undefined;
  readonly until: Instant;
  /** The head as the present or last holder knew it when it took the lease or last appended. */
  readonly seen: number;
  /** Sequence number of the last fact from outside; 0 without one. */
  readonly posted: number;
  readonly status: RunStatus;
}

/**
 * Why an append is refused, or undefined.
 *
 * Fenced comes first: a writer that lost its lease must stop, and would read on after `moved`. A lease that has run out
 * still counts until somebody else takes it: the epoch is what keeps two writers apart.
 */
export function refusal(standing: Standing, lease: Lease, expected: number): 'fenced' | 'moved' | undefined {
  if (!holds(standing, lease)) return 'fenced';
  return standing.head === expected ? undefined : 'moved';
}

export function holds(standing: Pick<Standing, 'epoch' | 'owner'>, lease: Lease): boolean {
  return standing.owner !== undefined && standing.epoch === lease.epoch;
}

export function isLeased(standing: Pick<Standing, 'owner' | 'until'>, now: Instant): boolean {
  return standing.owner !== undefined && standing.until > now;
}

export function mayTake(standing: Pick<Standing, 'owner' | 'until'>, owner: string, now: Instant): boolean {
  return standing.owner === owner || !isLeased(standing, now);
}

/**
 * Whether work is left when the lease is let go.
 *
 * A fact from outside that came after the holder's last look was not seen by it. A status that says the run is at work
 * means the holder stopped half way, such as at a drain, and somebody has to go on: at once, unless the holder said when.
 * `initializing` is what a conversation is born with and says nothing.
 */
export function leavesWork(
  { posted, seen, status }: Pick<Standing, 'posted' | 'seen' | 'status'>,
  { unfinished = false, continueAt }: ReleaseOptions = {},
): boolean {
  if (unfinished || posted > seen) return true;
  return continueAt === undefined && status !== 'initializing' && statusKind(status) === 'working';
}

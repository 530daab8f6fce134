import type { Instant } from '../base/clock.ts';

/**
 * How a slice ended: `idle` when nothing is left, `suspended` when only somebody else can go on, otherwise when it goes on
 * by itself; at once when `continueAt` is absent. The log has it too, from the release of the lease.
 */
export type SliceEnd = 'idle' | 'suspended' | { readonly continueAt?: Instant };

export interface SliceControl {
  /** Aborted when the slice is to stop at the next safe point: what was begun is finished, nothing new is begun. */
  readonly signal: AbortSignal;
  /** 1, and one more for each slice of this conversation that failed in a row. */
  readonly attempt: number;
}

/**
 * One stretch of work on one conversation: takes the lease, drives until rest or until its budget is used up, lets go.
 * Rejects when it failed; it is tried again later then.
 */
export type Slice = (conversationId: string, control: SliceControl) => Promise<SliceEnd>;

export interface EngineHealth {
  /** Slices under way in this process. */
  readonly running: number;
  /** Conversations that are ready and that nobody has taken yet. Counted up to a thousand. */
  readonly waiting: number;
  /** Conversations whose last slices here failed. */
  readonly failing: number;
  /** Since when the longest waiting one has been ready. */
  readonly oldestReady?: Instant | undefined;
  /**
   * For how many milliseconds the first of what is due by time alone, the end of a dead worker's lease or of a rest, has been
   * left; 0 where nothing is.
   */
  readonly overdueMs?: number | undefined;
  /** What stands in the engine's own queue and is not begun, in all bundles; absent where the log is the queue. */
  readonly queued?: number | undefined;
}

/**
 * Makes sure that each conversation with work gets a slice, sooner or later, in some process.
 *
 * Liveness only. What is to be done is in the log; that only one writes is the log's lease. So an engine may give one
 * conversation two slices at once, after a partition or by mistake: the second finds the lease taken, or is fenced.
 *
 * A conversation that waits for people or for other work costs an engine nothing: no timer, no memory, no look.
 */
export interface Engine {
  /** Begins to give slices, here and from now on. Resolves once it has begun to look for work. Called once. */
  start(slice: Slice): Promise<void>;
  /** Look at this conversation now: a fact was stated in it. An engine that hears of facts by itself needs no telling. */
  wake(conversationId: string): Promise<void>;
  /** Ends the conversation's slice in this process, if there is one, at its next safe point. Resolves when it has ended. */
  interrupt(conversationId: string): Promise<void>;
  /** Begins no more slices and interrupts those under way. Resolves when they have ended, or after `drainMs`. */
  stop(options: { readonly drainMs: number }): Promise<void>;
  health(): Promise<EngineHealth>;
  /** Throws while this process could give no slice although the log can be read. */
  check?(): void;
}

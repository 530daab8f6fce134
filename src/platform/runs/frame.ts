import type { RunStatus, StatusKind } from '../../domain/status.ts';
import type { View, WireEntry } from './page.ts';
import type { OpenRequest, WaitingOn } from './snapshot.ts';

/** What a follower is handed, in order. */
export type Frame =
  /** An entry that is new or has changed. `cursor` goes on after it, here and in `events`. */
  | { readonly type: 'entry'; readonly entry: WireEntry; readonly cursor: string }
  /**
   * A piece of an entry that is being made. `id` is the id the entry will have. A higher `attempt` begins anew: what came
   * of the attempt before is void. What has no entry when its turn has ended never came to be.
   */
  | {
      readonly type: 'delta';
      readonly id: string;
      readonly kind: 'text' | 'thinking' | 'action' | 'progress';
      readonly attempt: number;
      readonly delta: string;
      /** The tool, of an action. */
      readonly name?: string;
    }
  /** What the agent is doing just now, in a word. */
  | {
      readonly type: 'activity';
      readonly state: 'thinking' | 'tool_running' | 'waiting' | 'idle';
      readonly detail?: string;
    }
  /** The run's state has changed. The first frame but for a gap, and again after the entries that explain it. */
  | {
      readonly type: 'status';
      readonly status: RunStatus;
      readonly statusKind: StatusKind;
      readonly terminal: boolean;
      readonly needsInput: boolean;
      readonly pendingApproval?: { readonly kind: 'plan' | 'action' };
      readonly waitingOn: readonly WaitingOn[];
      readonly requests: readonly OpenRequest[];
      readonly version: number;
      readonly cursor: string;
    }
  /** The reader was too slow and so many deltas were let go: what was put together of them is void, and begins anew. Entries never are. */
  | { readonly type: 'gap'; readonly dropped: number }
  /** The run has ended and everything was handed out. Nothing follows. */
  | { readonly type: 'end'; readonly status: RunStatus; readonly cursor: string };

export interface FollowOptions {
  /** Goes on after it; from the beginning when absent. */
  readonly cursor?: string | undefined;
  /** Pieces of entries that are being made, too. False when absent. */
  readonly deltas?: boolean | undefined;
  readonly view?: View | undefined;
  /** `ended` (when absent) ends with the run, `removed` stays for the next turn. */
  readonly until?: 'ended' | 'removed' | undefined;
  /** Deltas kept for a slow reader; 1,000 when absent. */
  readonly maxDeltas?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

import type { Json } from '../../base/json.ts';
import type { EntryRole } from '../../domain/entry.ts';
import type { RunStatus } from '../../domain/status.ts';
import type { IsoTime } from './snapshot.ts';

/** An entry as it leaves the house. Identity is `id`; `digest` says which of its contents this is. */
export interface WireEntry {
  readonly id: string;
  readonly digest: string;
  readonly role: EntryRole;
  readonly text: string;
  /** `{oversize: {bytes, log: {after}}}` for what does not fit into a page: the facts are in the run's log. */
  readonly data?: Json;
  /** Place in the conversation, from 1. Never changes. */
  readonly position: number;
  /** Log sequence number of the fact that last changed it. */
  readonly revision: number;
  /** When it began. */
  readonly at: IsoTime;
  /** Number of the turn it belongs to; absent for what no turn has begun on. */
  readonly turn?: number;
}

/** `messages` leaves out model calls, thinking and notices: the conversation, without how it came about. */
export type View = 'all' | 'messages';

export interface PageQuery {
  /** 1 to 100, 50 when absent. Anything else is refused. */
  readonly limit?: number | undefined;
  /** From a page or frame of the same run and tenant. It carries its own `order` and `view`. */
  readonly cursor?: string | undefined;
  /** `asc` when absent: oldest first, then whatever is newer. `desc` goes back from the newest and ends at the first. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** `all` when absent. */
  readonly view?: View | undefined;
}

export interface Page {
  readonly events: readonly WireEntry[];
  /** Always usable, also after an empty page. */
  readonly nextCursor: string;
  /** There is more to read right now. A terminal run may have more. */
  readonly hasMore: boolean;
  /** True exactly when the first event was delivered under this cursor before, with another digest. */
  readonly supersededFirst: boolean;
  readonly status: RunStatus;
  /** A person is asked something that is no approval. */
  readonly needsInput: boolean;
  readonly terminal: boolean;
  /** Present only while one is open, in this run or below it. */
  readonly pendingApproval?: { readonly kind: 'plan' | 'action' };
  readonly version: number;
}

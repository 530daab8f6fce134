import type { Instant } from '../../../base/clock.ts';
import type { Transaction } from './database.ts';

/** Work that a conversation got. */
export interface NewWork {
  readonly conversationId: string;
  readonly bundle: string;
  /** What it came from: the same cause of one conversation twice is one work. */
  readonly cause: string;
  /** When somebody has to look at it; at once when absent. */
  readonly at?: Instant | undefined;
}

/** Writes it down for a queue beside the log, in the transaction that gave the work: there are both, or neither. */
export type Outbox = (transaction: Transaction, work: NewWork) => Promise<void>;

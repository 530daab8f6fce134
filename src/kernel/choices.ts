import type { Instant } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Allowance } from '../domain/allowance.ts';
import type { ConnectedAccount } from './running-tool.ts';

/** Whose choices: a user's for an agent, or that user's for one conversation with it. */
export interface SelectionKey {
  readonly userId: string;
  readonly tenant: string;
  readonly bundle: string;
  readonly agent: string;
  readonly conversation?: string | undefined;
}

/** Users' choices, as they were stored: anything at all, read with suspicion. */
export interface SelectionStore {
  readSelection(key: SelectionKey): MaybePromise<{ readonly value: unknown; readonly revision: number } | undefined>;
  /**
   * Replaces the row if its revision is still `expected`; 0 means that there is none yet. False: somebody else was
   * faster, and nothing was written. What was written survives the process.
   */
  writeSelection(key: SelectionKey, value: Json, expected: number): MaybePromise<boolean>;
}

/** Whose yes, and to which agent. */
export interface AllowanceOwner {
  readonly userId: string;
  readonly tenant: string;
}

/** A yes for always, with where it was said. */
export interface StoredAllowance extends Allowance {
  readonly scope: 'always';
  readonly bundle: string;
  readonly agent: string;
  /** The conversation in which it was said. */
  readonly conversation: string;
}

/** What users have allowed for always. */
export interface AllowanceStore {
  /** One that is there stays as it is, also one that was revoked. What was added survives a power cut. */
  addAllowance(owner: AllowanceOwner, allowance: StoredAllowance): MaybePromise<void>;
  /** Those that stand, the newest first. */
  allowancesOf(owner: AllowanceOwner): MaybePromise<readonly StoredAllowance[]>;
  /** It counts no more once this has returned. False when there is none that stands. */
  revokeAllowance(owner: AllowanceOwner, id: string, at: Instant): MaybePromise<boolean>;
}

/** A user's connected accounts. */
export interface AccountStore {
  /** By provider: the rights. What cannot be read is not there. */
  claims(key: {
    readonly userId: string;
    readonly tenant: string;
  }): MaybePromise<Readonly<Record<string, readonly string[]>>>;
  /** The account with a token that is good now. Rejects where it is not connected. Absent: nobody can use one here. */
  open?(key: {
    readonly userId: string;
    readonly tenant: string;
    readonly provider: string;
  }): MaybePromise<ConnectedAccount>;
  /** A token was refused where it should have been good: it is renewed. Rejects where the user has to connect anew. */
  renew?(key: {
    readonly userId: string;
    readonly tenant: string;
    readonly provider: string;
    readonly refused: string;
  }): MaybePromise<void>;
}

import type { Instant } from '../base/clock.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { AllowanceStore, SelectionStore } from './choices.ts';

/** What a credential may do. Approving can spend, so it is apart from running. */
export const SCOPES = ['read', 'run', 'approve', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key as it is kept. The key itself is not: it was shown once. */
export interface ApiKey {
  /** Public half of the key, by which it is looked up and spoken of. */
  readonly id: string;
  /** SHA-256 of the whole key, in hex. */
  readonly hash: string;
  /** What its owner calls it. */
  readonly name: string;
  /** `compute`: for a sandbox, which may touch no run. */
  readonly kind: 'user' | 'compute';
  readonly scopes: readonly Scope[];
  readonly userId: string;
  readonly tenant: string;
  readonly createdAt: Instant;
  readonly expiresAt?: Instant | undefined;
  readonly revokedAt?: Instant | undefined;
  readonly lastUsedAt?: Instant | undefined;
}

export interface KeyStore {
  /** Throws when the id exists. The key survives a power cut once this has returned. */
  add(key: ApiKey): MaybePromise<void>;
  find(id: string): MaybePromise<ApiKey | undefined>;
  /** Newest first, revoked ones too. */
  list(): MaybePromise<readonly ApiKey[]>;
  /** False when there is no such key. One that was revoked before keeps the time. */
  revoke(id: string, at: Instant): MaybePromise<boolean>;
  used(id: string, at: Instant): MaybePromise<void>;
  /** True once a key was made, revoked or not: from then on nobody is let in without one. */
  any(): MaybePromise<boolean>;
}

/** A reply as it went out, to go out again. */
export interface StoredReply {
  readonly status: number;
  readonly body: string;
}

/** One use of a key of a client: `scope` says whose and for which operation, `fingerprint` what was asked. */
export interface Claim {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
}

export type ClaimOutcome =
  /** Do it. `again`: somebody began before and never told the end; the work must bear being repeated. */
  | { readonly state: 'yours'; readonly again: boolean }
  | { readonly state: 'done'; readonly reply: StoredReply }
  /** Somebody is at it. */
  | { readonly state: 'busy' }
  /** The key was used for something else. */
  | { readonly state: 'conflict' };

export interface IdempotencyStore {
  /** Claims the key for `leaseMs`: after that, whoever asks again gets it. Exactly one of several at once gets it. */
  begin(claim: Claim, owner: string, leaseMs: number): MaybePromise<ClaimOutcome>;
  /** Keeps the reply for `keepMs`. Nothing happens when the claim was lost. */
  settle(claim: Claim, owner: string, reply: StoredReply, keepMs: number): MaybePromise<void>;
  /** Frees the key: nothing came of it. Nothing happens when the claim was lost. */
  abandon(claim: Claim, owner: string): MaybePromise<void>;
  /** Forgets what need not be kept any longer. Returns how many. */
  purge(): MaybePromise<number>;
}

export interface SecretStore {
  /** The secret of this name: made by chance when it is first asked for, and the same ever after for every process. */
  secret(name: string): MaybePromise<string>;
}

/** Whose account, and where. */
export interface AccountKey {
  readonly tenant: string;
  readonly userId: string;
  readonly provider: string;
}

/** Users' accounts, sealed: who has the store does not have them. */
export interface AccountRows {
  readAccount(key: AccountKey): MaybePromise<{ readonly sealed: string; readonly revision: number } | undefined>;
  /**
   * Replaces the row if its revision is still `expected`; 0 means that there is none yet. False: somebody else was
   * faster, and nothing was written. What was written survives a power cut.
   */
  writeAccount(key: AccountKey, sealed: string, expected: number): MaybePromise<boolean>;
  /** False when there is none. It is gone once this has returned. */
  removeAccount(key: AccountKey): MaybePromise<boolean>;
  /** In the order of their providers. */
  accountsOf(
    owner: Omit<AccountKey, 'provider'>,
  ): MaybePromise<readonly { readonly provider: string; readonly sealed: string }[]>;
}

/** Who has let tools of servers run, and with which bundle. */
export interface ToolUser {
  readonly tenant: string;
  readonly userId: string;
  readonly bundle: string;
}

/** A tool of a server, as it was described when a user last let it run. */
export interface KnownTool {
  readonly server: string;
  /** As the server calls it. */
  readonly tool: string;
  /** Of its description: see `toolDigest`. */
  readonly digest: string;
}

/** Under which descriptions users have let tools of servers run, in any conversation. */
export interface ToolMemory {
  /** In the order of servers and tools. */
  toolsOf(user: ToolUser): MaybePromise<readonly KnownTool[]>;
  /** In place of what was known of this tool. It survives a power cut once this has returned. */
  rememberTool(user: ToolUser, tool: KnownTool): MaybePromise<void>;
}

/** What a server keeps besides the log. */
export interface ControlStore
  extends KeyStore, IdempotencyStore, SecretStore, SelectionStore, AccountRows, AllowanceStore, ToolMemory {
  close(): MaybePromise<void>;
}

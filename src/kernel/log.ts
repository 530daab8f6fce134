import type { Instant } from '../base/clock.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Draft, Fact } from '../domain/event.ts';
import type { RunLimits } from '../domain/run.ts';
import type { RunStatus } from '../domain/status.ts';

/** What a log knows of a conversation besides its facts. */
export interface ConversationMeta {
  readonly id: string;
  readonly agent: string;
  /** Path or id of the bundle it was started with. */
  readonly bundle: string;
  readonly userId: string;
  readonly tenant: string;
  /** From the root run's agent down, joined by `/`. */
  readonly agentPath: string;
  readonly createdAt: Instant;
  /** The run that delegated to this one, and the action it did that with. */
  readonly parent?: { readonly id: string; readonly action: string } | undefined;
  /** The run at the top of the tree this one belongs to. Absent: it is the top itself. */
  readonly root?: string | undefined;
  /** Whatever the caller that created it wants to find again. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** What the run may use, as it was created. A `limits.changed` fact replaces it. */
  readonly limits?: RunLimits | undefined;
}

export interface ConversationRow extends ConversationMeta {
  readonly head: number;
  readonly status: RunStatus;
  /** The first words of the first message. */
  readonly title: string;
  readonly updatedAt: Instant;
  /** Since when it is out of the usual list. */
  readonly archivedAt?: Instant | undefined;
}

/** Which conversations to list. A condition that is absent lets all through, except that archived ones are left out. */
export interface ListQuery {
  readonly limit: number;
  /** The last row of the page before. */
  readonly before?: Pick<ConversationRow, 'updatedAt' | 'id'> | undefined;
  readonly userId?: string | undefined;
  readonly tenant?: string | undefined;
  readonly agent?: string | undefined;
  readonly status?: readonly RunStatus[] | undefined;
  /** Words of the title, whatever their case. */
  readonly q?: string | undefined;
  /** `only` the archived ones, or `any`. */
  readonly archived?: 'only' | 'any' | undefined;
  /** The children of this run, of whatever age. */
  readonly parent?: string | undefined;
  /** Every run below this one, children of children included. */
  readonly root?: string | undefined;
  /** Only runs that no other run has begun. */
  readonly top?: true | undefined;
  readonly bundles?: readonly string[] | undefined;
  /** Those that carry this label in their metadata. */
  readonly label?: { readonly name: string; readonly value: string } | undefined;
}

/** The right to write, until `until`, for whoever holds this epoch. A later lease has a higher epoch. */
export interface Lease {
  readonly conversationId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly until: Instant;
}

/** All that a log has of a conversation, so that another log can have it. */
export interface Carried {
  readonly row: ConversationRow;
  /** In order, from the first: what was stated, and when. */
  readonly facts: readonly { readonly draft: Draft; readonly at: Instant }[];
  readonly bodies: readonly string[];
  /** Somebody has to drive it: at once, and else at `continueAt`, where that is said. */
  readonly hasWork: boolean;
  readonly continueAt?: Instant | undefined;
}

export interface ReleaseOptions {
  readonly unfinished?: boolean | undefined;
  readonly continueAt?: Instant | undefined;
}

/** The most conversations that are held at a time, in all processes together. Of several that look at once each may go one over. */
export interface Shares {
  readonly perTenant?: number | undefined;
  readonly perUser?: number | undefined;
}

export type AppendResult =
  /** What was added, gapless after the expected head. A draft whose type and key exist already is left out. */
  | { readonly ok: true; readonly facts: readonly Fact[] }
  /** Somebody else stated a fact first: read after your head, fold, decide again. */
  | { readonly ok: false; readonly reason: 'moved' }
  /** The lease is no longer yours. Stop. */
  | { readonly ok: false; readonly reason: 'fenced' };

/**
 * The record of truth: facts of conversations, append-only.
 *
 * Throws `TreadleError` (`log_locked`, `log_full`, `log_corrupt`, `log_unavailable`, `log_version`, and
 * `conversation_unknown` where a conversation must exist); everything else is a result. When `append` or `post` has
 * returned, the facts survive a crash of the process. Times are the log's own clock. Wait for an append before letting its
 * lease go: a log may do the second sooner.
 */
export interface Log {
  /** Adds a conversation. False when the id exists already; nothing is changed then. */
  create(meta: ConversationMeta): MaybePromise<boolean>;
  find(conversationId: string): MaybePromise<ConversationRow | undefined>;
  /** Newest first. */
  list(query: ListQuery): MaybePromise<readonly ConversationRow[]>;
  /** Puts it out of the usual list, or back. Its facts and its `updatedAt` stay as they are. False when it is unknown. */
  archive(conversationId: string, archived: boolean): MaybePromise<boolean>;
  /** Gives it another title. Its facts and its `updatedAt` stay as they are. False when it is unknown. */
  rename(conversationId: string, title: string): MaybePromise<boolean>;
  /**
   * Forgets a conversation with all it holds, also the bodies that no other conversation has. False when it is unknown.
   * Throws `conversation_busy` while a lease on it stands. Its children, if any, are conversations of their own.
   */
  remove(conversationId: string): MaybePromise<boolean>;
  /**
   * Adds the conversation `meta` with the facts 1 to `at` of another: the same sequence numbers, payloads, keys and times,
   * under its own id and agent path, and the bodies that the other may read. The title is the other's and the status
   * `initializing`. It is not ready by itself. False when `meta.id` exists already; nothing is changed then. Throws
   * `conversation_unknown` when there is nothing to copy from.
   */
  fork(meta: ConversationMeta, from: string, at: number): MaybePromise<boolean>;
  /** Facts with `seq > after`, in order, at most `limit`. */
  read(conversationId: string, after: number, limit: number): MaybePromise<readonly Fact[]>;
  /**
   * Adds facts, all or none, if the head is still `expected` and the lease still stands. `at` is now. `status`
   * updates the row when given, and so does `title` where it has none yet. An empty list only updates the row.
   */
  append(
    lease: Lease,
    expected: number,
    drafts: readonly Draft[],
    row?: { readonly status?: RunStatus | undefined; readonly title?: string | undefined },
  ): MaybePromise<AppendResult>;
  /** Adds one fact from outside, without a lease. A key that exists returns the fact it belongs to with `fresh: false`. */
  post(conversationId: string, draft: Draft): MaybePromise<{ readonly fact: Fact; readonly fresh: boolean }>;
  /** The lease, or undefined while another owner's stands. Taking it again as the same owner raises the epoch too. */
  take(conversationId: string, owner: string, ttlMs: number): MaybePromise<Lease | undefined>;
  /** The lease with a later end, or undefined when it was lost. One that ran out and that nobody took goes on. */
  renew(lease: Lease, ttlMs: number): MaybePromise<Lease | undefined>;
  /**
   * Lets go. Nothing happens when the lease was lost. `unfinished` says that the holder stopped before it came to rest,
   * such as at a shutdown: the conversation is ready for the next one. With `continueAt` it becomes ready at that time
   * without any fact, such as when an approval expires or a failed slice is tried again, whatever its status says until
   * then; a fact from outside makes it ready sooner. Taking the lease takes that time back: the holder says it again.
   */
  release(lease: Lease, options?: ReleaseOptions): MaybePromise<void>;
  /**
   * Conversations that nobody holds and that have work, the longest waiting first: what a sweep drives.
   *
   * Work is a fact from outside that came after the last holder had taken the lease or last appended, a holder that never
   * let go or was not finished, a status that says the run is at work, or a `continueAt` that has passed. `bundles`: of
   * these only, so that the runs of others neither come up nor stand in the way. `shares`: tenants take turns instead, and
   * what would be more than a share is left out.
   */
  ready(
    limit: number,
    options?: { readonly bundles?: readonly string[] | undefined; readonly shares?: Shares | undefined },
  ): MaybePromise<readonly string[]>;
  /**
   * When the next conversation may become ready by the passing of time alone: the earliest `continueAt`, or end of a
   * lease whose holder may have died. Undefined: not before somebody states a fact.
   */
  due(options?: { readonly bundles?: readonly string[] | undefined }): MaybePromise<Instant | undefined>;
  /**
   * Calls back soon after any conversation got work or a time to continue: at once for this process, within a second for
   * others that share the log. May also call without any. The returned function ends it.
   */
  onWork(listener: () => void): () => void;
  /** How many conversations have each status. Asked as often as somebody looks at figures: it must not read them all. */
  counts(): MaybePromise<Readonly<Partial<Record<RunStatus, number>>>>;
  /** Since when the longest waiting conversation of `ready` has had work that nobody took. */
  oldestReady(): MaybePromise<Instant | undefined>;
  /**
   * Calls back after facts of the conversation were added: at once for this process, within a second for others that share
   * the log. May also call without any.
   */
  watch(conversationId: string, listener: () => void): () => void;
  /** All there is of a conversation; undefined when it is unknown. Throws `conversation_busy` while a lease on it stands. */
  carry(conversationId: string): MaybePromise<Carried | undefined>;
  /**
   * Adds a conversation that another log has carried: the same sequence numbers, times, keys, bodies and row. False when
   * the id exists already; nothing is changed then.
   */
  adopt(carried: Carried): MaybePromise<boolean>;
  /** Stores a body under its SHA-256 and returns the reference. The same body twice is stored once. */
  writeBody(conversationId: string, body: string): MaybePromise<string>;
  readBody(conversationId: string, ref: string): MaybePromise<string | undefined>;
  close(): MaybePromise<void>;
}

/**
 * Calls between processes that share a log: at once, at most once, and in the order in which one process sent them. For
 * what passes by. Whoever calls does not hear itself.
 */
export interface Relay {
  /** The most that a message may have, in UTF-8. */
  readonly bytesMax: number;
  send(message: string): void;
  /** `onUp` is called each time that messages are heard from then on; before, some may have been missed. The returned function ends it. */
  listen(listener: (message: string) => void, onUp: () => void): () => void;
}

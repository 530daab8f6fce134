import type { Clock, Instant } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Allowance } from '../domain/allowance.ts';
import type { EffectiveAgent, ModelRef } from '../domain/agent.ts';
import type { Part } from '../domain/content.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { Draft, Fact, FactPayload } from '../domain/event.ts';
import type { ModelPart, ModelRequest } from '../domain/model.ts';
import type { RunLimits } from '../domain/run.ts';
import type { NoteBook } from './notes.ts';
import type { RunStatus } from '../domain/status.ts';
import type { Observation, ToolDefinition } from '../domain/tool.ts';

import type { GuardedFetch } from './fetch.ts';
import type { RootedFiles } from './files.ts';
import type { Deny, Hold } from './verdict.ts';

export type { Clock, IdSource };

/** Structured log lines for operators. Not the log of events. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

// ── The log ──────────────────────────────────────────────────────────────────────────────────────────────────────

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

// ── Models ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** A pull of plain parts. `next` answers without a promise where the part is already here; undefined is the end. */
export interface ModelStream {
  next(): MaybePromise<ModelPart | undefined>;
  /** Gives the call up. May be called at any time, also twice. */
  close(): void;
}

/**
 * A model that can be called. Provider trouble is data: a `failure` part. A stream that ends with neither `finish` nor
 * `failure` was cut. Aborting the signal ends the stream soon, with or without a `failure`.
 */
export interface Model {
  call(
    request: ModelRequest,
    context: { readonly conversationId: string; readonly signal: AbortSignal },
  ): MaybePromise<ModelStream>;
}

/** Finds the adapter of a model. Throws `model_unknown_provider` or `model_no_key`. */
export interface ModelSource {
  open(ref: ModelRef): MaybePromise<Model>;
}

// ── Tools ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A user's account elsewhere, opened for one tool. */
export interface ConnectedAccount {
  readonly provider: string;
  /** The rights that the user gave. */
  readonly claims: readonly string[];
  /** What shows who the user is, as `Authorization: Bearer`. Good for some minutes; a tool keeps it nowhere. */
  readonly token: string;
  /** When the user signed in. Another time: it may be another account. */
  readonly since?: Instant | undefined;
}

/** What a running tool may touch. */
/**
 * What a program is run with. It is run again from its start after a crash, and when somebody has answered what it waits
 * for; what its calls gave before is given again, in the order in which it was, so that nothing happens twice.
 */
export interface ProgramHands {
  /** When it was begun first: the one time that it may know. */
  readonly begunAt: Instant;
  /** True until all that is on record of earlier runs has been given again. */
  readonly isReplaying: () => boolean;
  /** As `call` of the context. `parked`: somebody has to answer first, in days perhaps, and this run of it ends without that. */
  readonly call: (name: string, args: JsonObject) => Promise<Observation | 'parked'>;
  /** Says that it has been given all answers that there are, and waits for others. */
  readonly onIdle: () => void;
}

export interface ToolContext {
  readonly conversationId: string;
  readonly userId: string;
  readonly tenant: string;
  readonly turnId: string;
  readonly actionId: string;
  /** The same for every attempt at this action, so that the far side can tell a repetition. */
  readonly idempotencyKey: string;
  /** Aborted at the deadline and on cancel. */
  readonly signal: AbortSignal;
  readonly now: () => Instant;
  /** Tells watchers how far it is. Never stored. `fraction` is 0 to 1. */
  readonly progress: (report: { readonly text?: string; readonly fraction?: number }) => void;
  /** Whole bodies of results that were cut to size, and of older turns. */
  readonly readBody: (ref: string) => MaybePromise<string | undefined>;
  /** The conversation as it was when the tool began. */
  readonly conversation: Conversation;
  /** The answer of the person this tool had asked, on its second run. */
  readonly reply?: string | undefined;
  /** Requests to the public internet and to what the bundle's entry of the tool allows. The one way out for addresses that others chose. */
  readonly fetch: GuardedFetch;
  /** The files of the folder that the bundle's entry of the tool names; absent where it names none. */
  readonly files?: RootedFiles | undefined;
  /** By name: what the bundle's entry of the tool hands it. Taken out of all that the tool returns, throws and reports. */
  readonly secrets: Readonly<Record<string, string>>;
  /**
   * Calls another tool of the agent, as an action under this one: it is validated, asked of the gates, and on record with
   * its own intent and result. One that a person would have to be asked about is refused. Never rejects for what the
   * tool does.
   */
  readonly call: (name: string, args: JsonObject) => Promise<Observation>;
  /** Of a tool that `replays`: how it calls others. Absent for any other. */
  readonly program?: ProgramHands | undefined;
  /** The user's account, of a tool that the bundle says needs it; absent for any other. Rejects where it is not connected. */
  readonly account?: (() => Promise<ConnectedAccount>) | undefined;
  /** The user's notes, of a tool that remembers; absent for any other, and where none are kept. */
  readonly notes?: NoteBook | undefined;
}

/** What a tool hands back when a plain value is not enough. Made with `toolResult`, `toolFailure`, `askPerson`, `waitFor`. */
export type ToolReturn =
  | {
      readonly kind: 'result';
      readonly value?: Json;
      readonly content?: readonly Part[];
      /** A text that enters the conversation with the result and is never cut to size. */
      readonly skill?: FactPayload<'skill.loaded'>;
      /** Deferred tools that the result describes, by name: they may be called from then on. */
      readonly loads?: readonly string[];
    }
  | {
      readonly kind: 'failure';
      readonly code: string;
      readonly message: string;
      /** The same for programs, where a sentence does not hold it. */
      readonly value?: Json;
      /** Nobody can say whether it happened: of a tool that acts once, the outcome is `unknown`. */
      readonly uncertain?: boolean;
    }
  /** The turn waits for a person; the tool runs again with `context.reply`. */
  | {
      readonly kind: 'ask';
      readonly question: string;
      readonly choices?: readonly string[];
      /** What is asked for is a connected account. */
      readonly consent?: { readonly account: string; readonly claims: readonly string[] };
    }
  /** The turn waits until somebody hands in what came of the ticket; that is then the action's result. */
  | { readonly kind: 'wait'; readonly ticket: string; readonly note?: string; readonly expiresInMs?: number }
  /** Another agent of the bundle works on the task in a run of its own; its answer is then the action's result. */
  | { readonly kind: 'delegate'; readonly agent: string; readonly task: string }
  /** A program waits for what its calls wait for, and is run again then. */
  | { readonly kind: 'parked' }
  /** What was observed once, as it stands in a log: of a replay, where no tool runs. */
  | {
      readonly kind: 'recorded';
      readonly observation: Observation;
      readonly skill?: FactPayload<'skill.loaded'>;
      readonly loads?: readonly string[];
    };

/** A tool with its hands. What it returns or throws becomes one observation; nothing it does can break the loop. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Problems of arguments, each with its path, or an empty list. */
  validate(args: Json): readonly string[];
  run(args: JsonObject, context: ToolContext): unknown;
  /** Whether an interrupted run with this key happened: its result, or undefined when it did not. */
  probe?(idempotencyKey: string, context: ToolContext): unknown;
  /** What the tool itself says of these arguments, asked after the gates. */
  judge?(args: JsonObject, context: ToolContext): MaybePromise<Deny | Hold | undefined>;
  /** What a person who is asked is shown besides the arguments. */
  preview?(args: JsonObject, context: ToolContext): MaybePromise<readonly Part[]>;
  /** It is handed the user's notes. */
  readonly needsNotes?: boolean | undefined;
  /** It may be run again from its start. */
  readonly replays?: true | undefined;
}

/** The tools of one effective agent by name. Compiled once per catalogue version. */
export type Toolset = ReadonlyMap<string, Tool>;

// ── Agents, selections, accounts ─────────────────────────────────────────────────────────────────────────────────

/** What assembly says when a turn begins. */
export interface Assembled {
  readonly agent: EffectiveAgent;
  /** SHA-256 of the agent's canonical JSON. */
  readonly digest: string;
  /** Facts that assembly wants on record, such as `selection.ignored`. */
  readonly facts: readonly Draft[];
}

/** Where a turn's agent and tools come from. */
export interface AgentSource {
  /**
   * The effective agent for a turn that begins now, in the conversation as its log has it. Throws when the bundle no
   * longer has the agent.
   */
  assemble(meta: ConversationMeta, conversation: Conversation): MaybePromise<Assembled>;
  /** The hands of an agent's tools. A tool that no longer exists is absent. */
  tools(agent: EffectiveAgent): Toolset;
}

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

// ── The engine ───────────────────────────────────────────────────────────────────────────────────────────────────

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

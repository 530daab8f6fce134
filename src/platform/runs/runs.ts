import type { Json } from '../../base/json.ts';
import type { AllowScope } from '../../domain/allowance.ts';
import type { Part } from '../../domain/content.ts';
import type { Fact } from '../../domain/event.ts';
import type { RunLimits } from '../../domain/run.ts';
import type { RunStatus } from '../../domain/status.ts';
import type { Delivery } from '../hosting/delivery.ts';
import type { CallsPage, CallsQuery } from './calls.ts';
import type { TranscriptFormat } from '../../assembly/transcript-export.ts';
import type { ReplayReport } from '../replay/report.ts';
import type { Caller } from './caller.ts';
import type { FollowOptions, Frame } from './frame.ts';
import type { Page, PageQuery } from './page.ts';
import type { Prompt, PromptQuery } from './prompt.ts';
import type { IsoTime, OpenRequest, RunSummary, Snapshot } from './snapshot.ts';
import type { UsageQuery, UsageRow } from './usage.ts';

export interface CreateRun {
  readonly prompt: string;
  /** Unique name among all bundles served; the first bundle's default agent when absent. */
  readonly agent?: string | undefined;
  readonly attachments?: readonly Part[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Each narrows what the agent declares and never widens it. */
  readonly limits?: RunLimits | undefined;
  /** One run a key, user and tenant, however often it is asked for. Another prompt under the same key is refused. */
  readonly key?: string | undefined;
}

export interface ReplayRun {
  /** YAML, in place of the bundle that the run belongs to. As the run's log has it when absent. */
  readonly bundle?: string | undefined;
  /** Ends after this model call, counted from 1. */
  readonly upTo?: number | undefined;
}

export interface SayToRun {
  readonly content: string;
  /**
   * `followup` is read before the next model call, `steer` interrupts, `message` begins the next turn. To an ended run each
   * begins a new turn. When absent, it is the answer where the run waits for one, and else a `followup`.
   */
  readonly mode?: 'message' | 'followup' | 'steer' | undefined;
  readonly attachments?: readonly Part[] | undefined;
  /** Said once, however often it is sent. */
  readonly key?: string | undefined;
}

export interface RunAnswer {
  readonly request: string;
  /** The run that asks, where it is one below. Needed only when two of them have a request of this id and digest. */
  readonly run?: string | undefined;
  /** As it stood in the request. Another one means that something else was seen: nothing is answered. */
  readonly digest: string;
  readonly decision: 'allow' | 'reject' | 'edit' | 'reply';
  /**
   * How far an `allow` reaches, as far as the request offers it: absent, to this one action. `always` is for the run's own
   * user to say.
   */
  readonly allow?: AllowScope | undefined;
  /** All new arguments of an `edit`: they replace, and never merge. */
  readonly arguments?: Json | undefined;
  /** The words of a `reply`. */
  readonly text?: string | undefined;
  /** A reason, which the model reads. */
  readonly note?: string | undefined;
}

/** What is on record as the answer: the first one given, whoever gave it. */
export interface Receipt {
  readonly request: string;
  readonly run: string;
  readonly decision: RunAnswer['decision'];
  readonly arguments?: Json;
  readonly text?: string;
  readonly note?: string;
  readonly allow?: AllowScope;
  readonly by: string;
  readonly at: IsoTime;
  /** Somebody had answered before: this is theirs, and nothing was added. */
  readonly repeated: boolean;
}

export interface Answered {
  readonly receipts: readonly Receipt[];
  /** Still waiting for an answer. */
  readonly open: readonly OpenRequest[];
  readonly status: RunStatus;
  readonly version: number;
}

export interface ListRuns {
  readonly status?: readonly RunStatus[] | undefined;
  /** Unique name, as `agents` gives it. */
  readonly agent?: string | undefined;
  /** Part of the title, in any case. */
  readonly q?: string | undefined;
  /** `no` when absent. */
  readonly archived?: 'no' | 'only' | 'any' | undefined;
  /** Runs below this one. */
  readonly parent?: string | undefined;
  /** Runs with this label in their metadata. */
  readonly label?: { readonly name: string; readonly value: string } | undefined;
  readonly cursor?: string | undefined;
  /** 1 to 100, 50 when absent. */
  readonly limit?: number | undefined;
}

export interface RunList {
  readonly runs: readonly RunSummary[];
  readonly hasMore: boolean;
  /** Absent at the end. */
  readonly nextCursor?: string;
}

export interface LogQuery {
  /** Facts with a higher sequence number; from the first when absent. */
  readonly after?: number | undefined;
  /** 1 to 1000, 100 when absent. */
  readonly limit?: number | undefined;
}

export interface LogPage {
  readonly facts: readonly Fact[];
  readonly hasMore: boolean;
}

export interface ForkRun {
  /** Id of the entry after which the copy ends; the whole log when absent. An entry in the middle of a turn ends it there. */
  readonly at?: string | undefined;
  /** Said in place of the message at `at`, which has to begin a turn. */
  readonly content?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly key?: string | undefined;
}

/** Events of one service, as whoever saw them tells them. */
export interface ToldEvents {
  readonly source: string;
  readonly events: readonly {
    readonly id?: string | undefined;
    readonly text: string;
    readonly at?: string | undefined;
  }[];
}

export type { Delivery } from '../hosting/delivery.ts';

export interface ResumeRun {
  /** What the run may use from now on, in place of what was said before. */
  readonly limits?: RunLimits | undefined;
}

/**
 * Runs as the world outside knows them: whoever holds a caller may ask, from any process, at any time.
 *
 * Every method throws `compute_forbidden` and `insufficient_scope` first, then `run_unknown` for a run that is not there
 * or not the caller's: the two cannot be told apart. What a method adds is said there.
 */
export interface Runs {
  /**
   * Scope `run`. Puts the run and its first message on record; a worker goes on from there. Throws `agent_unknown`,
   * `input_invalid`, and `idempotency_conflict` for a key that began another run. `fresh` is false for a repetition.
   */
  create(caller: Caller, request: CreateRun): Promise<{ readonly run: Snapshot; readonly fresh: boolean }>;
  /** Scope `read`. Newest first. An admin sees the whole tenant. Throws `invalid_request`, `invalid_cursor`. */
  list(caller: Caller, query?: ListRuns): Promise<RunList>;
  /** Scope `read`. */
  snapshot(caller: Caller, id: string): Promise<Snapshot>;
  /** Scope `read`. Throws `invalid_request` and `invalid_cursor`. */
  events(caller: Caller, id: string, query?: PageQuery): Promise<Page>;
  /**
   * Scope `read`. Hands out entries from a cursor on, as they come about, never missing one. The checks are made before it
   * resolves. Leaving the iteration, or the signal, lets go of everything.
   */
  follow(caller: Caller, id: string, options?: FollowOptions): Promise<AsyncIterableIterator<Frame>>;
  /** Scope `read`. The facts themselves. Throws `invalid_request`. */
  log(caller: Caller, id: string, query?: LogQuery): Promise<LogPage>;
  /** Scope `read`. Throws `prompt_unknown` for an iteration that made no model call. */
  prompt(caller: Caller, id: string, query: PromptQuery): Promise<Prompt>;
  /** Scope `read`. Every model call with what was expected of it, what was billed and what it cost. Throws `invalid_request`. */
  calls(caller: Caller, id: string, query?: CallsQuery): Promise<CallsPage>;
  /** Scope `read`. The whole run to keep, piece by piece. */
  transcript(caller: Caller, id: string, format: TranscriptFormat): Promise<Iterator<string, void>>;
  /**
   * Scope `read`, and `admin` for another bundle. Runs it again offline and says what would be asked for otherwise. Throws
   * `bundle_not_served`, and `bundle_invalid` for an edit that cannot be loaded here.
   */
  replay(caller: Caller, id: string, request?: ReplayRun): Promise<ReplayReport>;
  /**
   * Scope `run`. Throws `input_invalid`, `idempotency_conflict`, and `ambiguous_request` for an answer when several questions
   * are open. `fresh` is false for a key that was used.
   */
  say(caller: Caller, id: string, message: SayToRun): Promise<{ readonly run: Snapshot; readonly fresh: boolean }>;
  /**
   * Scope `approve` for `allow` and `edit`, `run` for `reject` and `reply`. Any subset in any order; all are checked before
   * the first is put on record. One that was answered before gives the recorded answer. Throws `request_unknown`,
   * `digest_mismatch`, `request_expired`, `request_withdrawn`, `answer_invalid`, `ambiguous_request`.
   */
  answer(caller: Caller, id: string, answers: readonly RunAnswer[]): Promise<Answered>;
  /** Scope `approve`. Says yes to the one open approval. Throws `nothing_pending` or `ambiguous_request`. */
  approve(caller: Caller, id: string): Promise<Snapshot>;
  /** Scope `run`. Says no to the one open approval. Throws `nothing_pending` or `ambiguous_request`. */
  reject(caller: Caller, id: string, note?: string): Promise<Snapshot>;
  /** Scope `run`. Asks the run and all below it to stop. An ended run stays as it is: stopping twice is stopping once. */
  stop(caller: Caller, id: string): Promise<Snapshot>;
  /** Scope `run`. Opens the turn again that was stopped, or that a limit ended. Throws `nothing_to_resume`. */
  resume(caller: Caller, id: string, options?: ResumeRun): Promise<Snapshot>;
  /** Scope `run`. A new run whose log begins as a copy. Throws `invalid_request` for an entry that is not there, and `input_invalid`. */
  fork(caller: Caller, id: string, options?: ForkRun): Promise<{ readonly run: Snapshot; readonly fresh: boolean }>;
  /** Scope `run`. Out of the lists, or back into them. */
  archive(caller: Caller, id: string, archived?: boolean): Promise<Snapshot>;
  /** Scope `run`. Gives it another title. Throws `invalid_request` for an empty one and for more than 200 characters. */
  rename(caller: Caller, id: string, title: string): Promise<Snapshot>;
  /** Scope `run`. Gone with all it holds and all below it. Throws `run_active` while it is driven. */
  remove(caller: Caller, id: string): Promise<void>;
  /** Scope `run`. Once a ticket: a repetition changes nothing. Throws `ticket_unknown`. */
  deliver(caller: Caller, id: string, delivery: Delivery): Promise<Snapshot>;
  /**
   * Scope `run`. What happened in a service that the agent listens to: read before the next model call, or when the next
   * turn begins. An event whose id was told before changes nothing. Throws `event_source_unknown`.
   */
  tell(caller: Caller, id: string, told: ToldEvents): Promise<Snapshot>;
  /** Scope `read`. The caller's own; the tenant's for an admin. Throws `invalid_request`. */
  usage(caller: Caller, query: UsageQuery): Promise<readonly UsageRow[]>;
}

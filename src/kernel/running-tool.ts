import type { Instant } from '../base/clock.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Part } from '../domain/content.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { FactPayload } from '../domain/event.ts';
import type { Observation, ToolDefinition } from '../domain/tool.ts';
import type { GuardedFetch } from './fetch.ts';
import type { RootedFiles } from './files.ts';
import type { NoteBook } from './notes.ts';
import type { Deny, Hold } from './verdict.ts';

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

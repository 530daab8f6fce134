import { AppendList } from '../base/append-list.ts';
import type { Json } from '../base/json.ts';
import type { Instant } from '../base/clock.ts';
import type { EffectiveAgent } from './agent.ts';
import type { Action, Decision } from './decision.ts';
import type { Allowance } from './allowance.ts';
import type { Aside } from './aside.ts';
import type { FactPayload } from './event.ts';
import type { ModelFailure } from './model.ts';
import type { PlanStep } from './plan.ts';
import type { Selection } from './selection.ts';
import type { RunLimits } from './run-limits.ts';
import type { Observation } from './tool.ts';
import type { Usage } from './usage.ts';
import { noUsage } from './usage-sum.ts';

/** Something a person said, and where in the log. */
export type Input = FactPayload<'io.input'> & { readonly seq: number; readonly at: Instant };

/** A person was asked; `answer` is set once they answered, `cancelled` once nobody will. */
export interface HeldRequest extends FactPayload<'hitl.requested'> {
  readonly answer?: FactPayload<'hitl.responded'>;
  readonly cancelled?: string;
}

/** Something happened in a service that the agent listens to. */
export type SourceEvent = FactPayload<'source.event'>;

/** An action that waits for something outside of this conversation; `ended` is set once that is over. */
export type Wait =
  | (FactPayload<'computation.started'> & {
      readonly kind: 'computation';
      readonly ended?: FactPayload<'computation.ended'>;
    })
  | (FactPayload<'subagent.started'> & {
      readonly kind: 'subagent';
      readonly action: string;
      readonly ended?: FactPayload<'subagent.ended'>;
    });

/** What is known of one action: asked for, perhaps begun, perhaps observed. */
export interface ActionState {
  readonly action: Action;
  /** Set by `tool.invoke`. */
  readonly begun?: {
    readonly arguments: Json;
    readonly argumentHash: string;
    readonly effect: string;
    readonly revisedBy?: string | undefined;
    readonly timeoutMs?: number | undefined;
    readonly replays?: true | undefined;
    readonly at: Instant;
  };
  readonly observation?: Observation;
  /** Of a program that runs or waits: what it has asked for so far. */
  readonly inner?: Inner;
}

/** What a program has asked for while it ran, as far as it is on record. */
export interface Inner {
  readonly actions: readonly InnerAction[];
  /** Ids of those that have their observation, in the order in which the program was told. */
  readonly told: readonly string[];
}

export interface InnerAction {
  readonly id: string;
  /** What was asked for: see `call` of the facts. Absent in logs of before it was kept. */
  readonly call: string | undefined;
  readonly name: string | undefined;
  readonly begun?: ActionState['begun'];
  readonly observation?: Observation;
}

export interface Attempt {
  readonly request: FactPayload<'llm.request'>;
  readonly failure?: ModelFailure;
  /** A person cut it short, and what it had said stays in the timeline. */
  readonly kept?: true;
  readonly at: Instant;
  /** After it failed, older turns were to be summarised, and were or were not: the call is worth another attempt or is not. */
  readonly compaction?: 'done' | 'failed';
}

/** One model call, perhaps in several attempts, and the actions it asked for. */
export interface Iteration {
  readonly number: number;
  /** What people said in mid-turn that this call was the first to read. */
  readonly inputs: readonly Input[];
  readonly attempts: readonly Attempt[];
  readonly thoughts: readonly FactPayload<'thinking.step'>[];
  /** The answer that counts. Failed attempts leave none. */
  readonly response?: FactPayload<'llm.response'>;
  readonly decision?: Decision;
  /** A gate refused the answer, and the model is asked once more. */
  readonly refused?: FactPayload<'gate.verdict'>;
  readonly actions: readonly ActionState[];
  /** What its actions loaded, which the model reads after their results. */
  readonly skills?: readonly FactPayload<'skill.loaded'>[];
  /** What services told that this call's latest attempt was the first to read, and what they have told since. */
  readonly heard?: readonly SourceEvent[];
  readonly events?: readonly SourceEvent[];
}

/** A plan, as a person has left it. */
export type MadePlan = FactPayload<'plan.result'> & {
  /** Who wrote its steps anew when they were asked. */
  readonly editedBy?: string;
  /** What they said to it. */
  readonly note?: string;
};

/** The work of answering one message. */
export interface Turn {
  readonly number: number;
  readonly id: string;
  readonly at: Instant;
  readonly agent: EffectiveAgent;
  readonly inputs: readonly Input[];
  /** Finished iterations; the one in work is `current`. */
  readonly iterations: AppendList<Iteration>;
  readonly current: Iteration | undefined;
  /** Said in mid-turn and not yet read by a model call. */
  readonly pending: readonly Input[];
  readonly plan: 'none' | 'requested' | MadePlan;
  /** The steps of the plan as they stand, once the model has marked or revised any. */
  readonly progress?: readonly PlanStep[];
  /** Requests to people, answered ones included until their action is observed. */
  readonly requests: readonly HeldRequest[];
  /** What actions wait or have waited for, in the order begun. */
  readonly waits: readonly Wait[];
  /** Results that were handed in before it was on record that somebody waits for them. */
  readonly early: readonly FactPayload<'computation.ended'>[];
  /** Milliseconds that the turn rested: for people, for other work, or stopped. */
  readonly restedMs: number;
  /** Those that were there before the first model call. */
  readonly skills: readonly FactPayload<'skill.loaded'>[];
  /** What services told before the first model call. */
  readonly events: readonly SourceEvent[];
  /** How services were asked for that, where there is something to say of it. None when absent. */
  readonly pulls?: readonly FactPayload<'source.pulled'>[];
  /** Accounts that bring tools back which the turn before did not have. None when absent. */
  readonly reactivated?: readonly FactPayload<'account.reactivated'>[];
  /** What it knows of earlier conversations, as it was when it began. */
  readonly recalled?: FactPayload<'memory.recalled'>;
  readonly cancel: 'none' | 'requested' | 'active' | 'complete';
  readonly override: FactPayload<'agent.tool_choice'> | undefined;
  /** A gate's refusal of a model call or of the answer; with `retryAt`, until then. */
  readonly denied: FactPayload<'gate.verdict'> | undefined;
  readonly compaction: 'none' | 'requested' | 'done' | 'failed';
  /** Why it was last requested. */
  readonly compactionWhy?: FactPayload<'memory.compact.request'>['why'];
  /** Model calls beside the decisions, in the order made. */
  readonly asides: readonly Aside[];
  readonly output: string | undefined;
  /** Model calls of the turn, however many attempts each took. */
  readonly calls: number;
  /** Bad decisions and failed actions since the last good one. */
  readonly faults: number;
  /** What the last fault was, in words. */
  readonly lastFault: { readonly code: string; readonly message: string } | undefined;
  readonly toolCalls: number;
  /** Empty answers and pauses in a row. */
  readonly empties: number;
  readonly pauses: number;
  readonly usage: Usage;
  readonly repeats: readonly Repeat[];
  /** How often in a row a worker took the turn up and left nothing in the log. Stays at `CRASH_LOOP` once it is there. */
  readonly stalls: number;
  readonly end: FactPayload<'agent.turn.end'> | undefined;
  readonly endedAt?: Instant | undefined;
}

/** So many stalls in a row: whatever the turn would do next takes its worker down. */
export const CRASH_LOOP = 5;

/** The same tool, arguments and result, so many times. */
export interface Repeat {
  readonly name: string;
  readonly argumentHash: string;
  /** The last result. */
  readonly observation: Observation;
  readonly count: number;
}

/** What a provider is known to hold of a conversation's prompt: by the last answer of a model that was not a failure. */
export interface CacheMark {
  readonly provider: string;
  readonly model: string;
  /** When it was asked. */
  readonly at: Instant;
  /** Milliseconds from then on. */
  readonly livesMs: number;
  /** Tokens that a prompt which begins the same would read. */
  readonly tokens: number;
  /** Of the prompt then: the digest of each section, and the turn it was part of. */
  readonly sections: Readonly<Record<string, string>>;
  readonly turn: number;
  /** What it was made of: tells which change made the next one cold. */
  readonly revision: string;
  readonly selection: string | undefined;
  /** How many results had been cleared. */
  readonly cleared: number;
}

/** The selection that the last turn was assembled with, as its log has it. */
export interface AppliedSelection {
  readonly digest: string;
  readonly selection: Selection;
  /** Deferred changes that count in this conversation. */
  readonly promoted: readonly string[];
}

export interface Spent {
  /** Input and output, over all turns. */
  readonly tokens: number;
  /** Actions that were begun. */
  readonly actions: number;
}

/** One user's ordered exchange with one agent: the fold of its log. Immutable. */
export interface Conversation {
  readonly id: string;
  readonly agentPath: string;
  /** Sequence number of the last fact folded in; 0 before the first. */
  readonly head: number;
  /** When that fact was stated. */
  readonly at: Instant;
  /** Ended turns, oldest first. */
  readonly turns: AppendList<Turn>;
  readonly turn: Turn | undefined;
  /** Messages that no turn has begun on. */
  readonly inbox: readonly Input[];
  /** Somebody wants the turn to stop that the inbox will begin. */
  readonly cancelNext: boolean;
  readonly agent: EffectiveAgent | undefined;
  readonly agentDigest: string | undefined;
  /** Digest of each prompt section as last sent. */
  readonly sections: Readonly<Record<string, string>>;
  readonly selection: AppliedSelection | undefined;
  /** By `provider/model`, the one that answered last at the end. */
  readonly cached: readonly CacheMark[];
  /** What the run may use; absent keys are no limit. */
  readonly limits: RunLimits;
  /** What the run has used of that, its children included. */
  readonly spent: Spent;
  /** What people have allowed for this conversation, in the order in which they did. */
  readonly allowances: readonly Allowance[];
  /** What the run may not do because the one that delegated to it may not. */
  readonly ceiling: FactPayload<'ceiling.set'> | undefined;
  readonly summary: { readonly through: number; readonly text: string } | undefined;
  /** What services told while no turn was open: the next one begins with it. */
  readonly events: readonly SourceEvent[];
  /** By service: where the next reading goes on. */
  readonly cursors: Readonly<Record<string, string>>;
  /** Actions whose results were cleared out of the prompt. */
  readonly cleared: ReadonlySet<string>;
  /** Names of deferred tools that were found. */
  readonly loaded: readonly string[];
  readonly usage: Usage;
  /** Input and output tokens of the last answer: about what the next prompt begins with. 0 when that is not known any more. */
  readonly contextTokens: number;
}

const NOTHING_CLEARED: ReadonlySet<string> = new Set();

export function emptyConversation(id: string, agentPath: string): Conversation {
  return {
    id,
    agentPath,
    head: 0,
    at: 0,
    turns: AppendList.of<Turn>(),
    turn: undefined,
    inbox: [],
    cancelNext: false,
    agent: undefined,
    agentDigest: undefined,
    sections: {},
    selection: undefined,
    cached: [],
    limits: {},
    spent: { tokens: 0, actions: 0 },
    allowances: [],
    ceiling: undefined,
    summary: undefined,
    events: [],
    cursors: {},
    cleared: NOTHING_CLEARED,
    loaded: [],
    usage: noUsage,
    contextTokens: 0,
  };
}

/** Every iteration of a turn, the one in work last. */
export function* iterationsOf(turn: Turn): Generator<Iteration> {
  yield* turn.iterations;
  if (turn.current !== undefined) yield turn.current;
}

/** True for a turn that was stopped, or that ended at a limit: it can be opened again where it was. */
export function isResumable({ end }: Turn): boolean {
  return end?.status === 'stopped' || end?.stop === 'limit';
}

/** The number of the iteration that the next model call belongs to: the one in work, while it has no answer. */
export function nextIteration({ calls, current }: Turn): number {
  return current !== undefined && current.response === undefined ? calls : calls + 1;
}

export function openActions(turn: Turn): readonly ActionState[] {
  return turn.current?.actions.filter((one) => one.observation === undefined) ?? [];
}

/** The request about an action, the newest first: an edit makes a second one. */
export function requestFor(turn: Turn, action: string): HeldRequest | undefined {
  return turn.requests.findLast((one) => one.action === action);
}

export function openRequests(turn: Turn): readonly HeldRequest[] {
  return turn.requests.filter((one) => one.answer === undefined && one.cancelled === undefined);
}

/**
 * Open actions that cannot go on before somebody has answered or handed something in. A program that waits for several
 * answers goes on with the first.
 */
export function heldActions(turn: Turn): ReadonlySet<string | undefined> {
  const held = new Set<string | undefined>(openWaits(turn).map((one) => one.action));
  for (const { action, parent } of openRequests(turn))
    if (parent === undefined || !hasNews(turn, parent)) held.add(parent ?? action);
  return held;
}

/** Somebody has answered a program, and it has not been told. */
function hasNews(turn: Turn, parent: string): boolean {
  const asked = new Set(turn.requests.filter((one) => one.parent === parent).map((one) => one.action ?? ''));
  return [...asked].some((action) => {
    const request = requestFor(turn, action);
    return request?.answer !== undefined || request?.cancelled !== undefined;
  });
}

/** What open actions still wait for. */
export function openWaits(turn: Turn): readonly Wait[] {
  if (turn.waits.length === 0) return turn.waits;
  const open = new Set(openActions(turn).map((one) => one.action.id));
  return turn.waits.filter((one) => one.ended === undefined && open.has(one.action));
}

/** The wait of an action that has not been observed yet. */
export function waitFor(turn: Turn, action: string): Wait | undefined {
  return turn.waits.findLast((one) => one.action === action);
}

/** Model calls of a turn: what the agent declares, or less where the run has less. */
export function iterationsAllowed({ limits }: Pick<Conversation, 'limits'>, { agent }: Pick<Turn, 'agent'>): number {
  return Math.min(agent.limits.maxIterations, limits.maxIterations ?? Infinity);
}

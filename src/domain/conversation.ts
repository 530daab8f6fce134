import { AppendList } from '../base/append-list.ts';
import { canonicalJson, type Json } from '../base/json.ts';
import { shortDigest } from '../base/digest.ts';
import type { Instant } from '../base/clock.ts';
import type { EffectiveAgent } from './agent.ts';
import { decode, type Action, type Decision } from './decision.ts';
import type { Fact, FactOf, FactPayload } from './event.ts';
import type { ModelFailure } from './model.ts';
import type { Observation } from './tool.ts';
import type { Usage } from './usage.ts';
import { addUsage, inputTokens, noUsage, outputTokens } from './usage-sum.ts';

/** Something a person said, and where in the log. */
export type Input = FactPayload<'io.input'> & { readonly seq: number; readonly at: Instant };

/** A person was asked; `answer` is set once they answered, `cancelled` once nobody will. */
export interface HeldRequest extends FactPayload<'hitl.requested'> {
  readonly answer?: FactPayload<'hitl.responded'>;
  readonly cancelled?: string;
}

/** What is known of one action: asked for, perhaps begun, perhaps observed. */
export interface ActionState {
  readonly action: Action;
  /** Set by `tool.invoke`. */
  readonly begun?: {
    readonly arguments: Json;
    readonly argumentHash: string;
    readonly effect: string;
    readonly revisedBy?: string | undefined;
  };
  readonly observation?: Observation;
}

export interface Attempt {
  readonly request: FactPayload<'llm.request'>;
  readonly failure?: ModelFailure;
  readonly at: Instant;
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
  readonly actions: readonly ActionState[];
}

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
  readonly plan: 'none' | 'requested' | FactPayload<'plan.result'>;
  /** Requests to people, answered ones included until their action is observed. */
  readonly requests: readonly HeldRequest[];
  readonly skills: readonly FactPayload<'skill.loaded'>[];
  readonly cancel: 'none' | 'requested' | 'active' | 'complete';
  readonly override: FactPayload<'agent.tool_choice'> | undefined;
  /** Gate's refusal of a model call or of the answer. */
  readonly denied: FactPayload<'gate.verdict'> | undefined;
  readonly compaction: 'none' | 'requested' | 'done' | 'failed';
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
  readonly end: FactPayload<'agent.turn.end'> | undefined;
}

/** The same tool, arguments and result, so many times. */
export interface Repeat {
  readonly name: string;
  readonly argumentHash: string;
  readonly result: string;
  readonly count: number;
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
  readonly summary: { readonly through: number; readonly text: string } | undefined;
  readonly usage: Usage;
  /** Input and output tokens of the last answer: about what the next prompt begins with. */
  readonly contextTokens: number;
}

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
    summary: undefined,
    usage: noUsage,
    contextTokens: 0,
  };
}

/** The conversation after one more fact. Total: a fact that makes no sense where it stands changes nothing but the head. */
export function apply(conversation: Conversation, fact: Fact): Conversation {
  const moved: Conversation = { ...conversation, head: fact.seq, at: fact.at };
  switch (fact.type) {
    case 'io.input':
      return hear(moved, { ...fact.payload, seq: fact.seq, at: fact.at });
    case 'agent.turn.start':
      return startTurn(moved, fact);
    case 'agent.turn.end':
      return endTurn(moved, fact.payload);
    case 'memory.compacted':
      return compacted(moved, fact.payload);
    case 'llm.request':
      if (fact.payload.sections === undefined) return inTurn(moved, (turn) => request(turn, fact));
      return inTurn({ ...moved, sections: { ...moved.sections, ...fact.payload.sections } }, (turn) =>
        request(turn, fact),
      );
    case 'llm.response':
      return inTurn(billed(moved, fact.payload), (turn) => response(turn, fact.payload));
    case 'thinking.step':
      return inTurn(moved, (turn) =>
        inIteration(turn, (now) => ({ ...now, thoughts: [...now.thoughts, fact.payload] })),
      );
    case 'tool.invoke':
      return inTurn(moved, (turn) => begin(turn, fact.payload));
    case 'tool.result':
      return inTurn(moved, (turn) => observe(turn, fact.payload));
    case 'plan.request':
      return inTurn(moved, (turn) => ({ ...turn, plan: 'requested' }));
    case 'plan.result':
      return inTurn(moved, (turn) => ({ ...turn, plan: fact.payload }));
    case 'hitl.requested':
      return inTurn(moved, (turn) => ({ ...turn, requests: [...turn.requests, fact.payload] }));
    case 'hitl.responded':
      return inTurn(moved, (turn) => settle(turn, fact.payload.request, { answer: fact.payload }));
    case 'hitl.cancel':
      return inTurn(moved, (turn) => settle(turn, fact.payload.request, { cancelled: fact.payload.reason }));
    case 'skill.loaded':
      return inTurn(moved, (turn) => ({ ...turn, skills: [...turn.skills, fact.payload] }));
    case 'agent.tool_choice':
      return inTurn(moved, (turn) => ({ ...turn, override: fact.payload }));
    case 'gate.verdict':
      return inTurn(moved, (turn) => (denies(fact.payload) ? { ...turn, denied: fact.payload } : turn));
    case 'gate.llm.retry':
      return inTurn(moved, (turn) => ({ ...turn, denied: undefined }));
    case 'memory.compact.request':
      return inTurn(moved, (turn) => ({ ...turn, compaction: 'requested' }));
    case 'cancel.request':
      if (moved.turn === undefined) return moved.inbox.length === 0 ? moved : { ...moved, cancelNext: true };
      return inTurn(moved, (turn) => (turn.cancel === 'none' ? { ...turn, cancel: 'requested' } : turn));
    case 'cancel.active':
      return inTurn(moved, (turn) => ({ ...turn, cancel: 'active' }));
    case 'cancel.complete':
      return inTurn(moved, (turn) => ({ ...turn, cancel: 'complete' }));
    case 'cancel.resume':
      return resumeTurn(moved);
    case 'io.output':
      return inTurn(moved, (turn) => ({ ...turn, output: fact.payload.text }));
    case 'tool.register':
    case 'selection.applied':
    case 'selection.ignored':
    case 'cache.cold':
    case 'account.inactive':
    case 'account.reactivated':
    case 'subagent.started':
    case 'subagent.ended':
      return moved;
    default:
      return moved; // A fact of a newer version: kept in the log, unknown to this fold.
  }
}

export function fold(id: string, agentPath: string, facts: Iterable<Fact>): Conversation {
  let conversation = emptyConversation(id, agentPath);
  for (const fact of facts) conversation = apply(conversation, fact);
  return conversation;
}

/** Every iteration of a turn, the one in work last. */
export function* iterationsOf(turn: Turn): Generator<Iteration> {
  yield* turn.iterations;
  if (turn.current !== undefined) yield turn.current;
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

function billed(conversation: Conversation, { usage, failure }: FactPayload<'llm.response'>): Conversation {
  const contextTokens = failure === undefined ? inputTokens(usage) + outputTokens(usage) : conversation.contextTokens;
  return { ...conversation, usage: addUsage(conversation.usage, usage), contextTokens };
}

function inTurn(conversation: Conversation, change: (turn: Turn) => Turn): Conversation {
  return conversation.turn === undefined ? conversation : { ...conversation, turn: change(conversation.turn) };
}

function inIteration(turn: Turn, change: (now: Iteration) => Iteration): Turn {
  return turn.current === undefined ? turn : { ...turn, current: change(turn.current) };
}

function hear(conversation: Conversation, input: Input): Conversation {
  const { turn } = conversation;
  if (turn === undefined || input.mode === 'message') return { ...conversation, inbox: [...conversation.inbox, input] };
  return { ...conversation, turn: { ...turn, pending: [...turn.pending, input] } };
}

function startTurn(conversation: Conversation, fact: FactOf<'agent.turn.start'>): Conversation {
  const agent = fact.payload.agent ?? conversation.agent;
  if (agent === undefined) return conversation;
  const known = { ...conversation, agent, agentDigest: fact.payload.digest };
  if (conversation.turn !== undefined) return { ...known, turn: { ...conversation.turn, agent } }; // resumed
  const number = conversation.turns.length + 1;
  const turn: Turn = {
    number,
    id: `t${number}`,
    at: fact.at,
    agent,
    inputs: conversation.inbox,
    iterations: AppendList.of<Iteration>(),
    current: undefined,
    pending: [],
    plan: 'none',
    requests: [],
    skills: [],
    cancel: conversation.cancelNext ? 'requested' : 'none',
    override: undefined,
    denied: undefined,
    compaction: 'none',
    output: undefined,
    calls: 0,
    faults: 0,
    lastFault: undefined,
    toolCalls: 0,
    empties: 0,
    pauses: 0,
    usage: noUsage,
    repeats: [],
    end: undefined,
  };
  return { ...known, inbox: [], cancelNext: false, turn };
}

function endTurn(conversation: Conversation, end: FactPayload<'agent.turn.end'>): Conversation {
  const { turn } = conversation;
  if (turn === undefined) return conversation;
  // What nobody read in this turn is not lost: it begins the next one.
  return {
    ...conversation,
    turn: undefined,
    inbox: [...turn.pending, ...conversation.inbox],
    turns: conversation.turns.append({ ...turn, pending: [], end }),
  };
}

/** A cancelled turn is open again, as the log left it. Messages that came since stay in the inbox. */
function resumeTurn(conversation: Conversation): Conversation {
  if (conversation.turn !== undefined) return inTurn(conversation, (turn) => ({ ...turn, cancel: 'none' }));
  const last = conversation.turns.at(-1);
  if (last?.end?.status !== 'stopped') return conversation;
  let turns = AppendList.of<Turn>();
  for (const turn of conversation.turns) if (turn !== last) turns = turns.append(turn);
  return { ...conversation, turns, turn: { ...last, cancel: 'none', end: undefined } };
}

function compacted(conversation: Conversation, payload: FactPayload<'memory.compacted'>): Conversation {
  if (payload.error !== undefined) return inTurn(conversation, (turn) => ({ ...turn, compaction: 'failed' }));
  const summary = { through: payload.through, text: payload.summary };
  return inTurn({ ...conversation, summary }, (turn) => ({ ...turn, compaction: 'done' }));
}

function request(turn: Turn, fact: FactOf<'llm.request'>): Turn {
  const { payload } = fact;
  if (payload.purpose === 'plan' || payload.purpose === 'compact') return turn;
  const attempt: Attempt = { request: payload, at: fact.at };
  const override = turn.override?.duration === 'once' ? undefined : turn.override;
  if (payload.attempt > 1 && turn.current !== undefined) {
    const inputs = [...turn.current.inputs, ...turn.pending];
    return {
      ...turn,
      override,
      pending: [],
      current: { ...turn.current, inputs, attempts: [...turn.current.attempts, attempt], thoughts: [] },
    };
  }
  const number = turn.calls + 1;
  return {
    ...turn,
    override,
    calls: number,
    pending: [],
    iterations: turn.current === undefined ? turn.iterations : turn.iterations.append(turn.current),
    current: { number, inputs: turn.pending, attempts: [attempt], thoughts: [], actions: [] },
  };
}

function response(turn: Turn, payload: FactPayload<'llm.response'>): Turn {
  const { current } = turn;
  const usage = addUsage(turn.usage, payload.usage);
  if (current === undefined) return { ...turn, usage };
  if (payload.failure !== undefined) {
    const attempts = current.attempts.map((one, index) =>
      index === current.attempts.length - 1 ? { ...one, failure: payload.failure } : one,
    );
    return { ...turn, usage, current: { ...current, attempts: attempts as readonly Attempt[], thoughts: [] } };
  }
  const decision = decode(payload.content, turn.agent.grammar, turn.id, current.number);
  const actions = decision.type === 'actions' ? decision.actions.map((action) => ({ action })) : [];
  const invalid = decision.type === 'invalid';
  return {
    ...turn,
    usage,
    empties: decision.type === 'empty' && payload.stop !== 'paused' ? turn.empties + 1 : 0,
    pauses: payload.stop === 'paused' ? turn.pauses + 1 : 0,
    faults: invalid ? turn.faults + 1 : turn.faults,
    lastFault: invalid ? { code: 'bad_decision', message: decision.problem } : turn.lastFault,
    current: { ...current, response: payload, decision, actions },
  };
}

function begin(
  turn: Turn,
  { action, arguments: given, argumentHash, effect, revisedBy }: FactPayload<'tool.invoke'>,
): Turn {
  return inAction(turn, action, (state) => ({
    ...state,
    begun: { arguments: given, argumentHash, effect, revisedBy },
  }));
}

function observe(turn: Turn, { action, ...observation }: FactPayload<'tool.result'>): Turn {
  const state = turn.current?.actions.find((one) => one.action.id === action);
  if (state === undefined || state.observation !== undefined) return turn;
  const observed = inAction(turn, action, (one) => ({ ...one, observation }));
  const fault = isFault(observation);
  const ok = observation.outcome === 'ok';
  return {
    ...observed,
    requests: turn.requests.filter((one) => one.action !== action),
    toolCalls: turn.toolCalls + (ok ? 1 : 0),
    faults: fault ? turn.faults + 1 : ok ? 0 : turn.faults,
    lastFault: fault
      ? (observation.error ?? { code: observation.outcome, message: observation.outcome })
      : turn.lastFault,
    repeats:
      state.begun === undefined
        ? turn.repeats
        : repeated(turn.repeats, state.action.name, state.begun.argumentHash, observation),
  };
}

/** Codes of refusals that are the model's own mistake. What a gate or a person refuses is not. */
const FAULT_REFUSALS: ReadonlySet<string> = new Set(['not_allowed', 'too_many', 'repeated']);

function isFault(observation: Observation): boolean {
  if (observation.outcome === 'failed' || observation.outcome === 'invalid') return true;
  return observation.outcome === 'refused' && FAULT_REFUSALS.has(observation.error?.code ?? '');
}

/** Enough to see a cycle of a few different calls, too few to grow with the turn. */
const REPEATS_KEPT = 8;

function repeated(
  repeats: readonly Repeat[],
  name: string,
  argumentHash: string,
  observation: Observation,
): readonly Repeat[] {
  const told = canonicalJson([
    observation.value ?? null,
    (observation.content ?? null) as Json,
    observation.error ?? null,
  ]);
  const result = told.length <= 64 ? told : shortDigest(told); // short ones are their own digest
  const before = repeats.find((one) => one.name === name && one.argumentHash === argumentHash);
  const count = before?.result === result ? before.count + 1 : 1;
  return [...repeats.filter((one) => one !== before).slice(1 - REPEATS_KEPT), { name, argumentHash, result, count }];
}

function inAction(turn: Turn, id: string, change: (state: ActionState) => ActionState): Turn {
  return inIteration(turn, (now) => ({
    ...now,
    actions: now.actions.map((one) => (one.action.id === id ? change(one) : one)),
  }));
}

function settle(turn: Turn, id: string, change: Pick<HeldRequest, 'answer' | 'cancelled'>): Turn {
  // The first word counts: a second answer, or one that comes after the request was taken back, changes nothing.
  const requests = turn.requests.map((one) =>
    one.request === id && one.answer === undefined && one.cancelled === undefined ? { ...one, ...change } : one,
  );
  return { ...turn, requests };
}

function denies(verdict: FactPayload<'gate.verdict'>): boolean {
  return (
    verdict.verdict === 'deny' && (verdict.question === 'before:llm.request' || verdict.question === 'before:io.output')
  );
}

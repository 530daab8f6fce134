import { canonicalJson, type Json } from '../base/json.ts';
import { decode } from './decision.ts';
import { unwraps } from './deferred.ts';
import type { FactOf, FactPayload } from './event.ts';
import type { Observation } from './tool.ts';
import { isAside } from './aside.ts';
import { WINDOW_CODE } from './limits.ts';
import { editedSteps, stepsAfter } from './plan.ts';
import { addUsage } from './usage-sum.ts';
import type { ActionState, Attempt, HeldRequest, InnerAction, Iteration, Repeat, Turn } from './conversation.ts';

export function inIteration(turn: Turn, change: (now: Iteration) => Iteration): Turn {
  return turn.current === undefined ? turn : { ...turn, current: change(turn.current) };
}

export function request(turn: Turn, fact: FactOf<'llm.request'>): Turn {
  const { payload } = fact;
  if (isAside(payload.purpose))
    return { ...turn, asides: [...turn.asides, { prompt: payload.sections?.['prompt'] ?? '', text: undefined }] };
  const attempt: Attempt = { request: payload, at: fact.at };
  const override = turn.override?.duration === 'once' ? undefined : turn.override;
  if (payload.attempt > 1 && turn.current !== undefined) {
    const { events = [], heard = [], ...current } = turn.current;
    const inputs = [...current.inputs, ...turn.pending];
    // The attempt that was sent has them before its answer.
    const told = heard.length + events.length === 0 ? {} : { heard: [...heard, ...events] };
    return {
      ...turn,
      override,
      pending: [],
      current: { ...current, ...told, inputs, attempts: [...current.attempts, attempt], thoughts: [] },
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

export function response(turn: Turn, payload: FactPayload<'llm.response'>): Turn {
  const { current } = turn;
  const usage = addUsage(turn.usage, payload.usage);
  if (isAside(payload.purpose)) return { ...turn, usage, asides: answeredAside(turn.asides, payload) };
  if (current === undefined) return { ...turn, usage };
  if (payload.failure !== undefined) {
    const attempts = current.attempts.map((one, index) =>
      index === current.attempts.length - 1
        ? { ...one, failure: payload.failure, ...(payload.kept === true && { kept: payload.kept }) }
        : one,
    );
    return { ...turn, usage, current: { ...current, attempts: attempts as readonly Attempt[], thoughts: [] } };
  }
  const decision = decode(payload.content, turn.agent.grammar, turn.id, current.number, unwraps(turn.agent));
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

/** Only a whole answer counts: half a summary is none. */
function answeredAside(
  asides: Turn['asides'],
  { content, failure, stop }: FactPayload<'llm.response'>,
): Turn['asides'] {
  const last = asides.at(-1);
  if (last === undefined || failure !== undefined || stop !== 'finished') return asides;
  const text = content.map((one) => (one.type === 'text' ? one.text : '')).join('');
  return [...asides.slice(0, -1), { ...last, text }];
}

/** Older turns were summarised, or could not be: also for the call that was too long, if there is one. */
export function afterCompaction(before: Turn, compaction: 'done' | 'failed'): Turn {
  const { current } = before;
  // The gate that found the prompt too long judges the shorter one.
  const isFreed = compaction === 'done' && before.denied?.code === WINDOW_CODE;
  const turn = isFreed ? { ...before, denied: undefined } : before;
  const last = current?.attempts.at(-1);
  if (current === undefined || current.response !== undefined || last?.failure === undefined)
    return { ...turn, compaction };
  return {
    ...turn,
    compaction,
    current: { ...current, attempts: [...current.attempts.slice(0, -1), { ...last, compaction }] },
  };
}

export function begin(turn: Turn, { payload, at }: FactOf<'tool.invoke'>): Turn {
  const { action, name, arguments: given, argumentHash, effect, revisedBy, timeoutMs, replays } = payload;
  const begun = { arguments: given, argumentHash, effect, revisedBy, timeoutMs, replays, at };
  return payload.parent === undefined
    ? inAction(turn, action, (state) => ({ ...state, begun }))
    : inside(turn, payload, (one) => ({ ...one, name, begun }));
}

/** A person is asked, perhaps about what a program wants to do. */
export function asked(before: Turn, payload: FactPayload<'hitl.requested'>): Turn {
  const { action, parent, name, call } = payload;
  const turn = { ...before, requests: [...before.requests, payload] };
  if (action === undefined || parent === undefined) return turn;
  return inside(turn, { action, parent, call }, (one) => ({ ...one, name: one.name ?? name }));
}

/** Changes what is known of an action that a program asked for; the first time, it becomes known. */
function inside(
  turn: Turn,
  { action: id, parent, call }: Pick<FactPayload<'tool.invoke'>, 'action' | 'parent' | 'call'>,
  change: (one: InnerAction) => InnerAction,
  isTold = false,
): Turn {
  return inAction(turn, parent ?? '', (state) => {
    const { actions, told } = state.inner ?? { actions: [], told: [] };
    const isKnown = actions.some((one) => one.id === id);
    const all = isKnown ? actions : [...actions, { id, call, name: undefined }];
    const inner = {
      actions: all.map((one) => (one.id === id ? change(one) : one)),
      told: isTold ? [...told, id] : told,
    };
    return { ...state, inner };
  });
}

export function observe(turn: Turn, payload: FactPayload<'tool.result'>): Turn {
  const { action, parent, call, ...observation } = payload;
  if (parent !== undefined) {
    const requests = turn.requests.filter((one) => one.action !== action);
    return inside({ ...turn, requests }, { action, parent, call }, (one) => ({ ...one, observation }), true);
  }
  const state = turn.current?.actions.find((one) => one.action.id === action);
  if (state === undefined || state.observation !== undefined) return turn;
  const fault = isFault(observation);
  const ok = observation.outcome === 'ok';
  const progress = ok ? progressOf(turn, state) : undefined;
  return {
    ...inAction(turn, action, ({ inner: _, ...one }) => ({ ...one, observation })),
    ...(progress !== undefined && { progress }),
    requests:
      turn.requests.length === 0
        ? turn.requests
        : turn.requests.filter((one) => one.action !== action && one.parent !== action),
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

function progressOf({ plan, progress }: Turn, { action, begun }: ActionState): Turn['progress'] {
  if (typeof plan === 'string') return undefined;
  return stepsAfter(progress ?? plan.steps, action.name, begun?.arguments ?? action.arguments);
}

/** Codes of refusals that are the model's own mistake. What a gate or a person refuses is not. */
const FAULT_REFUSALS: ReadonlySet<string> = new Set(['not_allowed', 'not_loaded', 'too_many', 'repeated']);

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
  const before = repeats.find((one) => one.name === name && one.argumentHash === argumentHash);
  const count = before !== undefined && told(before.observation) === told(observation) ? before.count + 1 : 1;
  const others = repeats.filter((one) => one !== before).slice(1 - REPEATS_KEPT);
  return [...others, { name, argumentHash, observation, count }];
}

function told({ value, content, error }: Observation): string {
  return canonicalJson([value ?? null, (content ?? null) as Json, error ?? null]);
}

function inAction(turn: Turn, id: string, change: (state: ActionState) => ActionState): Turn {
  return inIteration(turn, (now) => ({
    ...now,
    actions: now.actions.map((one) => (one.action.id === id ? change(one) : one)),
  }));
}

export function settle(turn: Turn, id: string, change: Pick<HeldRequest, 'answer' | 'cancelled'>): Turn {
  // The first word counts: a second answer, or one that comes after the request was taken back, changes nothing.
  const requests = turn.requests.map((one) =>
    one.request === id && one.answer === undefined && one.cancelled === undefined ? { ...one, ...change } : one,
  );
  const { answer } = change;
  const isPlan = turn.requests.some((one, index) => one !== requests[index] && one.kind === 'plan');
  return isPlan && answer !== undefined
    ? { ...turn, requests, plan: agreed(turn.plan, answer) }
    : { ...turn, requests };
}

function agreed(
  plan: Turn['plan'],
  { decision, arguments: given, by, note }: NonNullable<HeldRequest['answer']>,
): Turn['plan'] {
  if (typeof plan === 'string') return plan;
  const said = note === undefined ? plan : { ...plan, note };
  const steps = decision === 'edit' ? editedSteps(given) : undefined;
  return steps === undefined ? said : { ...said, steps: [...steps], editedBy: by };
}

/** A gate's refusal of a model call or of the answer ends the turn, or makes it wait, or has the model asked once more. */
export function judge(turn: Turn, given: FactPayload<'gate.verdict'>): Turn {
  if (given.verdict !== 'deny' || given.purpose !== undefined) return turn;
  switch (given.question) {
    case 'before:llm.request':
      // Put off by several, it waits for the last of them.
      return (turn.denied?.retryAt ?? 0) > (given.retryAt ?? Infinity) ? turn : { ...turn, denied: given };
    case 'before:llm.response':
      return turn.current?.decision?.type === 'answer' ? { ...turn, denied: given } : turn;
    case 'before:io.output':
      if (given.again === undefined) return { ...turn, denied: given };
      return inIteration(turn, (now) => ({ ...now, refused: given }));
    default:
      return turn;
  }
}

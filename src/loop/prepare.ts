import { digest } from '../base/digest.ts';
import { deepFreeze } from '../base/freeze.ts';
import type { Json } from '../base/json.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import { requestFor, type ActionState, type HeldRequest, type Turn } from '../domain/conversation.ts';
import { TOOL_SEARCH } from '../domain/deferred.ts';
import type { Tool } from '../kernel/running-tool.ts';
import type { Judgement, Questions } from '../kernel/verdict.ts';
import { allowedBefore, offerOf } from './allowed.ts';
import { askPerson, consented } from './ask-person.ts';
import { withOwnWord } from './ask-tool.ts';
import { observation, observed, type Ready, type Settled } from './prepared.ts';
import { recover } from './recover.ts';
import { answered, inTurn, openTurn, verdictDrafts, type Work } from './work.ts';

/** What differs for an action that another one asks for while it runs. */
export interface Inside {
  /** The tool that asks: it is not called from itself. */
  readonly tool: string;
  /** A person may be asked: the one that asks can wait. */
  readonly mayWait: boolean;
}

/**
 * From decision to intent, in this order: read, allowed, under the cap, on record from before a crash, valid, not a
 * loop, and asked of the gates. The first that fails is told to the model as the action's observation.
 */
export function prepare(work: Work, state: ActionState, inside?: Inside): MaybePromise<Ready | Settled> {
  const turn = openTurn(work);
  const refusal = inside === undefined ? refuseAsked(work, turn, state) : undefined;
  return refusal ?? judged(work, turn, state, inside);
}

/** Of what the model asked for: cut short, one too many, or nothing that it was given. */
function refuseAsked(work: Work, turn: Turn, state: ActionState): Settled | undefined {
  const { action } = state;
  if (turn.current?.response?.stop === 'length') {
    return observed(
      turn,
      state,
      'invalid',
      'cut',
      'Your reply was cut at the output limit before it was complete, so none of its actions ran. Ask for this again, in a smaller step.',
    );
  }
  const place = turn.current?.actions.indexOf(state) ?? 0;
  if (place >= turn.agent.limits.maxActions) {
    return observed(
      turn,
      state,
      'refused',
      'too_many',
      `At most ${turn.agent.limits.maxActions} actions of one decision are carried out. Ask for this one again if you still need it.`,
    );
  }
  const names = allowedNames(turn);
  if (!names.has(action.name)) {
    return observed(
      turn,
      state,
      'refused',
      'not_allowed',
      `Tool is not allowed: ${JSON.stringify(action.name)}${whyInactive(turn, action.name)}. Allowed: ${[...names].filter((name) => !isHidden(work, turn, name)).join(', ') || 'none'}.`,
    );
  }
  if (isHidden(work, turn, action.name)) {
    const how = `${action.name} is not loaded: find it with ${TOOL_SEARCH} first, which tells what it takes.`;
    return observed(turn, state, 'refused', 'not_loaded', how);
  }
  return undefined;
}

function judged(work: Work, turn: Turn, state: ActionState, inside: Inside | undefined): MaybePromise<Ready | Settled> {
  const { action } = state;
  if (inside !== undefined && (action.name === inside.tool || !allowedNames(turn).has(action.name))) {
    const names = [...allowedNames(turn)].filter((name) => name !== inside.tool).join(', ');
    const why = `There is no tool ${JSON.stringify(action.name)} to call from here. There is: ${names}.`;
    return observed(turn, state, 'refused', 'not_allowed', why);
  }
  if (action.problem !== undefined) return observed(turn, state, 'invalid', 'bad_arguments', action.problem);
  const tool = work.ports.agents.tools(turn.agent).get(action.name);
  if (tool === undefined) return gone(work, turn, state);

  const request = requestFor(turn, action.id);
  if (request?.cancelled !== undefined)
    return observed(turn, state, 'refused', request.cancelled, 'Nobody approved this in time, so it did not run.');
  if (request?.answer?.decision === 'reject') {
    return observed(
      turn,
      state,
      'refused',
      'rejected',
      `The user refused this action${request.answer.note === undefined ? '.' : `: ${request.answer.note}`}`,
    );
  }
  if (state.begun !== undefined) return recover(turn, state, tool, request);

  const edited = request?.answer?.decision === 'edit' ? request.answer : undefined;
  // Gates are shown what will run. One that changed it in place would leave no trace: it must revise.
  const args = deepFreeze(edited?.arguments ?? action.arguments);
  const problems = tool.validate(args);
  if (problems.length > 0) return observed(turn, state, 'invalid', 'bad_arguments', problems.join('; '));
  const argumentHash = digest(args);
  if (inside === undefined && isLoop(turn, tool, argumentHash)) {
    return observed(
      turn,
      state,
      'refused',
      'repeated',
      `You have called ${action.name} with these arguments ${turn.agent.limits.maxRepeats} times and got the same result. Do something else, or answer.`,
    );
  }
  const timeoutMs = deadlineOf(tool, turn);
  const asked = work.ports.bus.ask(
    'before:tool.invoke',
    { action: action.id, tool: tool.definition, arguments: args, timeoutMs },
    { conversation: work.recorder.conversation, agent: turn.agent },
    (revised) => misfit(revised, tool) ?? tool.validate(revised.arguments)[0],
  );
  const considered = { state, tool, args, argumentHash, request, editedBy: edited?.by, inside };
  const weigh = (judgement: Judgement<Questions['before:tool.invoke']>): MaybePromise<Ready | Settled> => {
    const whole = withOwnWord(work, action.id, tool, judgement);
    if (!isPromise(whole)) return decide(work, turn, considered, whole);
    return answered(work, whole).then((all) => decide(work, turn, considered, all));
  };
  return isPromise(asked) ? answered(work, asked).then(weigh) : weigh(asked);
}

interface Considered {
  readonly state: ActionState;
  readonly tool: Tool;
  readonly args: Json;
  readonly argumentHash: string;
  readonly request: HeldRequest | undefined;
  readonly editedBy: string | undefined;
  readonly inside: Inside | undefined;
}

function decide(
  work: Work,
  turn: Turn,
  considered: Considered,
  judged: Judgement<Questions['before:tool.invoke']>,
): MaybePromise<Ready | Settled> {
  const { state, tool, request, editedBy } = considered;
  const id = state.action.id;
  const verdicts = verdictDrafts(turn, 'before:tool.invoke', judged.verdicts, id);
  if (judged.denial !== undefined) {
    const refusal = observation('refused', judged.denial.code ?? 'gate_denied', judged.denial.reason);
    return { type: 'settled', drafts: [...verdicts, inTurn(turn, 'tool.result', { action: id, ...refusal })] };
  }
  const args = judged.payload.arguments;
  const argumentHash = args === considered.args ? considered.argumentHash : digest(args);
  const gates = judged.holds.map((one) => one.gate);
  const ready: Ready = {
    type: 'ready',
    state,
    tool,
    args,
    argumentHash,
    revisedBy: argumentHash === considered.argumentHash ? editedBy : (judged.revisedBy ?? editedBy),
    ...(judged.payload.timeoutMs !== deadlineOf(tool, turn) && { timeoutMs: judged.payload.timeoutMs }),
    verdicts,
    begun: false,
    reply: undefined,
    probe: false,
  };
  if (judged.outcome !== 'hold') return ready;
  if (consented(request, gates, argumentHash, editedBy)) {
    // Holds that were answered are on record already; only what is new is said again.
    const fresh = verdicts.filter((one) => one.type !== 'gate.verdict' || one.payload.verdict !== 'hold');
    return { ...ready, verdicts: fresh };
  }
  const offer = offerOf(work, tool.definition, judged.holds);
  const asks = (): MaybePromise<Settled> => {
    if (considered.inside?.mayWait === false) {
      const { drafts } = observed(turn, state, 'refused', 'needs_approval', needsPerson(state.action.name));
      return { type: 'settled', drafts: [...verdicts, ...drafts] };
    }
    return askPerson(work, turn, considered, judged, { verdicts, argumentHash, gates, offer });
  };
  if (offer === undefined) return asks();
  const allowed = (allowedBy: readonly string[] | undefined): MaybePromise<Ready | Settled> =>
    allowedBy === undefined ? asks() : { ...ready, allowedBy };
  const standing = allowedBefore(work, offer);
  return isPromise(standing) ? answered(work, standing).then(allowed) : allowed(standing);
}

function needsPerson(name: string): string {
  return `A person has to be asked before ${name} runs like this, and nobody can be asked from here: call ${name} by itself.`;
}

/** Whether a tool stood in no prompt so far: what the model was not shown it does not call. */
function isHidden({ recorder }: Work, { agent }: Turn, name: string): boolean {
  if (agent.deferral !== 'own' || recorder.conversation.loaded.includes(name)) return false;
  return agent.tools.some((tool) => tool.name === name && tool.deferred === true);
}

/** The turn was given the tool, and there are no hands for it now. */
function gone({ ports }: Work, turn: Turn, state: ActionState): Settled {
  const { name } = state.action;
  const definition = turn.agent.tools.find((one) => one.name === name);
  if (definition === undefined || ports.isTakenOut?.(turn.agent.id, definition) !== true)
    return observed(turn, state, 'failed', 'unavailable', `The tool ${name} is not available at the moment.`);
  const why = `The tool ${name} was taken out of the bundle since it was asked for, so it did not run. Do without it.`;
  return observed(turn, state, 'failed', 'taken_out', why);
}

function whyInactive({ agent }: Turn, name: string): string {
  const inactive = agent.inactive.find((one) => one.name === name);
  return inactive === undefined ? '' : `, ${inactive.why}`;
}

/** The tools of this request: what the turn has, less what a gate masked for this call. One set for showing and for running. */
export function allowedNames(turn: Turn): ReadonlySet<string> {
  const masked = turn.current?.attempts.at(-1)?.request.allowed;
  if (turn.current?.attempts.at(-1)?.request.purpose === 'wrap_up') return new Set();
  let names = namesOf.get(turn.agent.tools);
  if (names === undefined) namesOf.set(turn.agent.tools, (names = new Set(turn.agent.tools.map((tool) => tool.name))));
  return masked === undefined ? names : new Set([...names].filter((name) => masked.includes(name)));
}

/** Collected once for a catalogue, which many actions of many turns share. */
const namesOf = new WeakMap<Turn['agent']['tools'], ReadonlySet<string>>();

function isLoop(turn: Turn, tool: Tool, argumentHash: string): boolean {
  const { maxRepeats } = turn.agent.limits;
  if (maxRepeats === 0 || tool.definition.repeatable === true) return false;
  return turn.repeats.some(
    (one) => one.name === tool.definition.name && one.argumentHash === argumentHash && one.count >= maxRepeats,
  );
}

function misfit({ tool: named, timeoutMs }: Questions['before:tool.invoke'], tool: Tool): string | undefined {
  if (named.name !== tool.definition.name) return 'a gate may change the arguments of an action and not its tool';
  return Number.isSafeInteger(timeoutMs) && timeoutMs >= 0 ? undefined : 'timeoutMs is not a number of milliseconds';
}

/** Milliseconds until a tool is given up. */
export function deadlineOf({ definition }: Tool, { agent }: Turn): number {
  return definition.timeoutMs ?? agent.limits.toolTimeoutMs;
}

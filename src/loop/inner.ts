import { shortDigest } from '../base/digest.ts';
import { deepFreeze } from '../base/freeze.ts';
import { canonicalJson, type JsonObject } from '../base/json.ts';
import { isPromise } from '../base/promise.ts';
import { openRequests, requestFor, type ActionState, type Inner, type Turn } from '../domain/conversation.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import type { Observation } from '../domain/tool.ts';
import type { ToolContext } from '../kernel/running-tool.ts';
import { asking } from './asking.ts';
import { prepare } from './prepare.ts';
import { observation, type Ready } from './prepared.ts';
import { replaying } from './replaying.ts';
import { runTool, type Ran } from './run-tool.ts';
import { checked, heard } from './withheld.ts';
import { answered, inTurn, isInterrupted, openTurn, verdictDrafts, wantsToStop, type Work } from './work.ts';

/** Actions that one action may ask for while it runs. */
const MOST = 200;

export interface InnerCalls extends Pick<ToolContext, 'call' | 'program'> {
  /** What the end of the run counts as: a program that did not do again what it had done has failed. */
  readonly counts: (ran: Ran) => Ran;
}

/**
 * Lets a tool call others while it runs: each call is an action under its own, validated, asked of the gates, and on record
 * with its intent and its result.
 *
 * A person answers in days, and what runs cannot be put away for as long. So what somebody would have to be asked about is
 * refused, but to a tool that `replays`: that one ends where it waits, and is run again from its start with what is on
 * record of its calls.
 */
export function innerCalls(work: Work, parent: Ready): InnerCalls {
  const { id: turnId, current } = openTurn(work);
  const state = current?.actions.find((one) => one.action.id === parent.state.action.id) ?? parent.state;
  const mayWait = state.begun?.replays === true;
  const known: Inner = state.inner ?? { actions: [], told: [] };
  const record = replaying(known);
  const isOver = (): boolean => work.recorder.conversation.turn?.id !== turnId || isInterrupted(work);
  /** The worker lets go, and the next one runs the program again. */
  const isLeft = (): boolean => mayWait && isOver() && !wantsToStop(work.recorder.conversation);
  /** What went wrong with the log itself: nothing that a program may catch. */
  let broken: { readonly error: unknown } | undefined;
  let count = 0;
  const call = async (name: string, args: JsonObject): Promise<Observation | 'parked'> => {
    if (isOver()) return isLeft() ? 'parked' : STOPPED;
    if (count >= MOST) return observation('refused', 'too_many', `At most ${MOST} tools are called from one action.`);
    const id = `${state.action.id}.${++count}`;
    const asked = shortDigest(canonicalJson([name, args]));
    const before = await record.again({ id, call: asked, name });
    if (before !== 'new') return before;
    if (isOver()) return isLeft() ? 'parked' : STOPPED;
    try {
      return await callInside(work, parent, { id, name, args, call: asked, mayWait, isLeft });
    } catch (error) {
      if (!mayWait) throw error;
      broken ??= { error };
      return 'parked';
    }
  };
  return {
    call: async (name, args) => {
      const told = await call(name, args);
      return told === 'parked' ? STOPPED : told; // only a program is parked
    },
    program: mayWait
      ? { begunAt: state.begun.at, isReplaying: record.isReplaying, call, onIdle: record.onIdle }
      : undefined,
    counts(ran) {
      if (broken !== undefined) throw broken.error;
      return record.counts(ran);
    },
  };
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly call: string;
  readonly mayWait: boolean;
  readonly isLeft: () => boolean;
}

const STOPPED: Observation = observation('cancelled', 'cancelled', 'The turn was stopped before this was called.');

async function callInside(work: Work, parent: Ready, asked: Call): Promise<Observation | 'parked'> {
  const { id, name, args, mayWait, isLeft } = asked;
  const turn = openTurn(work);
  const parentId = parent.state.action.id;
  const request = requestFor(turn, id);
  if (request !== undefined && openRequests(turn).includes(request)) return 'parked';
  const known = stateOf(turn, parentId)?.inner?.actions.find((one) => one.id === id);
  const state: ActionState = {
    action: { id, name, arguments: deepFreeze(args) },
    ...(known?.begun && { begun: known.begun }),
  };
  const mark = marking(parentId, asked);
  const prepared = prepare(work, state, { tool: parent.tool.definition.name, mayWait });
  const done = isPromise(prepared) ? await prepared : prepared;
  if (isInterrupted(work)) return isLeft() ? 'parked' : STOPPED;
  if (done.type === 'settled') return conclude(work, turn, done.drafts.map(mark));
  if (!done.begun) await record(work, [...done.verdicts, inTurn(turn, 'tool.invoke', intentOf(done))].map(mark));
  const ran = await runTool(work, done);
  if (ran.type === 'ask' && mayWait) return conclude(work, turn, [mark(asking(openTurn(work), id, name, ran))]);
  const told = ran.type === 'observed' ? ran.observation : cannotWait(name);
  const question = { action: id, tool: done.tool.definition, arguments: done.args, observation: deepFreeze(told) };
  const shown = { conversation: work.recorder.conversation, agent: turn.agent };
  const answer = work.ports.bus.ask('before:tool.result', question, shown);
  const said = isPromise(answer) ? await answered(work, answer) : answer;
  const counted = said.revisedBy === undefined ? heard(said) : await checked(heard(said), said.revisedBy);
  return conclude(work, turn, [
    ...verdictDrafts(turn, 'before:tool.result', said.verdicts, id),
    mark(inTurn(turn, 'tool.result', { action: id, ...counted })),
  ]);
}

/**
 * States how a call ended, and tells it. Every call ends here: the program is told in the order of the log, so that a
 * later run of it can be told the same.
 */
async function conclude(work: Work, turn: Turn, drafts: readonly Draft[]): Promise<Observation | 'parked'> {
  const result = drafts.find((one) => one.type === 'tool.result');
  if (work.recorder.conversation.turn?.id === turn.id) await record(work, drafts); // else the turn has ended without it
  if (result === undefined) return 'parked';
  const { action: _, parent: __, call: ___, ...told } = result.payload;
  return told;
}

function intentOf({
  state,
  tool,
  args,
  argumentHash,
  revisedBy,
  allowedBy,
  timeoutMs,
}: Ready): FactPayload<'tool.invoke'> {
  return {
    ...{ action: state.action.id, name: tool.definition.name, arguments: args, argumentHash },
    effect: tool.definition.effect,
    ...(revisedBy !== undefined && { revisedBy }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(allowedBy !== undefined && { allowedBy: [...allowedBy] }),
  };
}

/** Says of what an action states about itself whose it is, and what the program asked for. */
function marking(parent: string, { name, call }: Pick<Call, 'name' | 'call'>): (draft: Draft) => Draft {
  return (draft) => {
    switch (draft.type) {
      case 'tool.invoke':
        return { ...draft, payload: { ...draft.payload, parent, call } };
      case 'tool.result':
        return { ...draft, payload: { ...draft.payload, parent, call } };
      case 'hitl.requested':
        return { ...draft, payload: { ...draft.payload, parent, name, call } };
      default:
        return draft;
    }
  };
}

/** The results of what a program had asked for and will not be told: its questions are taken back. */
export function closeInner(turn: Turn, parent: string, code: string): Draft[] {
  const drafts: Draft[] = openRequests(turn)
    .filter((one) => one.parent === parent)
    .map(({ request }) => inTurn(turn, 'hitl.cancel', { request, reason: code }));
  for (const { id, begun, call, observation: known } of stateOf(turn, parent)?.inner?.actions ?? []) {
    if (known !== undefined) continue;
    const told =
      begun?.effect === 'once'
        ? observation('unknown', code, 'This action was begun and given up: it may or may not have happened.')
        : observation('cancelled', code, 'The program that asked for it ended before it ran.');
    drafts.push(inTurn(turn, 'tool.result', { action: id, parent, ...(call !== undefined && { call }), ...told }));
  }
  return drafts;
}

function stateOf(turn: Turn, action: string): ActionState | undefined {
  return turn.current?.actions.find((one) => one.action.id === action);
}

function cannotWait(name: string): Observation {
  const why = `${name} waits for somebody else, which a call from another tool cannot: use it by itself.`;
  return observation('refused', 'cannot_wait', why);
}

async function record(work: Work, drafts: readonly Draft[]): Promise<void> {
  const stated = work.recorder.record(drafts);
  if (isPromise(stated)) await stated;
}

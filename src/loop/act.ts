import { assert } from '../base/assert.ts';
import { deepFreeze } from '../base/freeze.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { ActionState } from '../domain/conversation.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import type { Observation } from '../domain/tool.ts';
import { openRequests, requestFor, type Turn } from '../domain/conversation.ts';
import { prepare } from './prepare.ts';
import { observation, type Ready } from './prepared.ts';
import { delegate } from './delegate.ts';
import { asking } from './asking.ts';
import { closeInner, innerCalls } from './inner.ts';
import { runTool, type Ran } from './run-tool.ts';
import { checked, heard } from './withheld.ts';
import { fit } from './size.ts';
import { answered, inTurn, isInterrupted, openTurn, tell, verdictDrafts, type Work } from './work.ts';

/**
 * Carry out actions: prepare each in the order asked, then run what is ready, so many at a time.
 *
 * A result is committed when it arrives, the last one together with the next model call. The order in which they arrive never reaches the prompt.
 */
export async function act(work: Work, actions: readonly ActionState[]): Promise<void> {
  const ready: Ready[] = [];
  for (const state of actions) {
    if (isInterrupted(work)) return;
    const prepared = prepare(work, state);
    const done = isPromise(prepared) ? await prepared : prepared;
    if (done.type === 'ready') ready.push(done);
    else {
      const stated = work.recorder.keep(done.drafts);
      if (isPromise(stated)) await stated;
    }
  }
  const turn = openTurn(work);
  if (ready.length === 0) {
    if (openRequests(turn).length > 0) tell(work, 'io.status', { state: 'waiting' });
    return;
  }
  const width = Math.min(turn.agent.limits.maxConcurrent, ready.length);
  if (!(await begin(work, ready.slice(0, width)))) return;
  let following = width;
  const lane = async (first: Ready): Promise<void> => {
    await finish(work, first);
    while (!isInterrupted(work)) {
      const one = ready[following++];
      if (one === undefined || !(await begin(work, [one]))) return;
      await finish(work, one);
    }
  };
  if (width === 1 && ready[0] !== undefined) await lane(ready[0]);
  else await Promise.all(ready.slice(0, width).map(lane));
}

/** States the intents. False when the turn was interrupted first: nothing was begun then. */
async function begin(work: Work, actions: readonly Ready[]): Promise<boolean> {
  const turn = openTurn(work);
  const drafts: Draft[] = [];
  for (const { state, tool, args, argumentHash, revisedBy, allowedBy, timeoutMs, verdicts, begun } of actions) {
    drafts.push(...verdicts);
    if (begun) continue; // its intent is on record from before the crash or the question
    const payload: FactPayload<'tool.invoke'> = {
      action: state.action.id,
      name: tool.definition.name,
      arguments: args,
      argumentHash,
      effect: tool.definition.effect,
    };
    if (revisedBy !== undefined) payload.revisedBy = revisedBy;
    if (timeoutMs !== undefined) payload.timeoutMs = timeoutMs;
    if (allowedBy !== undefined) payload.allowedBy = [...allowedBy];
    if (tool.replays === true) payload.replays = true;
    drafts.push(inTurn(turn, 'tool.invoke', payload));
  }
  const stated = work.recorder.record(drafts, { unless: () => isInterrupted(work) });
  return (isPromise(stated) ? await stated : stated) !== undefined;
}

/** Runs one action and states its result, or what it waits for. */
async function finish(work: Work, ready: Ready): Promise<void> {
  const { state, tool, args } = ready;
  const ran = ready.delivered === undefined ? run(work, ready) : fitted(work, ready.delivered);
  const given = isPromise(ran) ? await ran : ran;
  const action = state.action.id;
  const returned = given.type === 'delegate' ? await delegate(work, state, given) : given;
  // The child works, or the program waits, and what for is on record.
  if (returned === undefined || returned.type === 'parked') return;
  const turn = openTurn(work);
  if (returned.type !== 'observed') {
    const draft =
      returned.type === 'ask' ? asking(turn, action, tool.definition.name, returned) : waiting(work, action, returned);
    const asked = work.recorder.record([draft]);
    if (isPromise(asked)) await asked;
    return;
  }
  const question = { action, tool: tool.definition, arguments: args, observation: deepFreeze(returned.observation) };
  const asked = work.ports.bus.ask('before:tool.result', question, {
    conversation: work.recorder.conversation,
    agent: turn.agent,
  });
  const judged = isPromise(asked) ? await answered(work, asked) : asked;
  const counted = judged.revisedBy === undefined ? heard(judged) : await checked(heard(judged), judged.revisedBy);
  assert(
    requestFor(turn, action)?.kind !== 'action' || requestFor(turn, action)?.answer !== undefined,
    'an action ran while its approval was open',
  );
  const drafts = [
    ...verdictDrafts(turn, 'before:tool.result', judged.verdicts, action),
    ...closeInner(openTurn(work), action, 'ended'),
    inTurn(turn, 'tool.result', { action, ...counted }),
    ...(counted.outcome === 'ok' ? entered(turn, returned) : []),
  ];
  // The last result goes with the next model call; one that others are still out beside must not wait for them.
  const stated = othersRun(openTurn(work), action) ? work.recorder.record(drafts) : work.recorder.keep(drafts);
  if (isPromise(stated)) await stated;
}

/** What enters the conversation with a result. */
function entered(turn: Turn, { skill, loads = [] }: Extract<Ran, { type: 'observed' }>): Draft[] {
  return [
    ...(skill === undefined ? [] : [inTurn(turn, 'skill.loaded', skill)]),
    ...(loads.length === 0 ? [] : [inTurn(turn, 'tool.loaded', { tools: [...loads] })]),
  ];
}

function run(work: Work, ready: Ready): MaybePromise<Ran> {
  tell(work, 'io.status', { state: 'tool_running', detail: ready.tool.definition.name });
  const inner = innerCalls(work, ready);
  const ran = runTool(work, ready, inner);
  return isPromise(ran) ? ran.then(inner.counts) : inner.counts(ran);
}

/** What was handed in from outside is under the one size policy, too. */
function fitted(work: Work, delivered: Observation): MaybePromise<Ran> {
  const { log } = work.ports;
  const most = openTurn(work).agent.limits.maxResultBytes;
  const cut = fit(delivered, most, (body) => log.writeBody(work.meta.id, body));
  return isPromise(cut)
    ? cut.then((observation) => ({ type: 'observed', observation }))
    : { type: 'observed', observation: cut };
}

function waiting(work: Work, action: string, { ticket, note, expiresInMs }: Extract<Ran, { type: 'wait' }>): Draft {
  const turn = openTurn(work);
  if (isTaken(work, ticket, action)) {
    const message = `The ticket ${JSON.stringify(ticket)} is another action's.`;
    return inTurn(turn, 'tool.result', { action, ...observation('failed', 'ticket_taken', message) });
  }
  return inTurn(turn, 'computation.started', {
    action,
    ticket,
    ...(note !== undefined && { note }),
    ...(expiresInMs !== undefined && { deadline: work.ports.clock.now() + expiresInMs }),
  });
}

/** A ticket names one piece of work for the whole conversation: its result is on record under it, once. */
function isTaken({ recorder }: Work, ticket: string, action: string): boolean {
  const { turn, turns } = recorder.conversation;
  for (const { waits } of turn === undefined ? turns : [...turns, turn])
    if (waits.some((one) => one.kind === 'computation' && one.ticket === ticket && one.action !== action)) return true;
  return false;
}

function othersRun(turn: Turn, action: string): boolean {
  return (
    turn.current?.actions.some(
      (one) => one.begun !== undefined && one.observation === undefined && one.action.id !== action,
    ) ?? false
  );
}

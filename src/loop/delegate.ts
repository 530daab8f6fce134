import { isPromise } from '../base/promise.ts';
import { openWaits, type ActionState, type Conversation, type Turn } from '../domain/conversation.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import type { RunLimits } from '../domain/run-limits.ts';
import type { ConversationMeta } from '../kernel/log.ts';
import { observation } from './prepared.ts';
import type { Ran } from './run-tool.ts';
import { inTurn, openTurn, type Work } from './work.ts';

/** Agents from the root down, the root included: deeper is a loop more often than a plan. */
const DEEPEST = 5;

/** The id of the run that an action delegates to: the same for every attempt. */
export function childIdOf(parent: string, action: string): string {
  return `${parent}.${action}`;
}

/**
 * Begins a child run for an action and states that the action waits for it. What comes back is why there is none.
 *
 * The child is made before the wait is on record, under an id that follows from the action: after a crash in between the
 * action runs again and finds it. It is bound to what its parent may not do, and gets a part of what its parent may use.
 */
export async function delegate(
  work: Work,
  { action }: ActionState,
  { agent, task }: Extract<Ran, { type: 'delegate' }>,
): Promise<Extract<Ran, { type: 'observed' }> | undefined> {
  const { ports, meta, recorder } = work;
  const turn = openTurn(work);
  const refused = refusal(turn, action.id, meta);
  if (refused !== undefined) return { type: 'observed', observation: refused };
  const id = childIdOf(meta.id, action.id);
  const limits = sliceOf(recorder.conversation, turn, action.name);
  await ports.log.create({
    ...{ id, agent, bundle: meta.bundle, userId: meta.userId, tenant: meta.tenant },
    agentPath: `${meta.agentPath}/${agent}`,
    createdAt: ports.clock.now(),
    parent: { id: meta.id, action: action.id },
    root: meta.root ?? meta.id,
    ...(limits !== undefined && { limits }),
  });
  const ceiling = ceilingOf(recorder.conversation, turn, meta.id);
  if (ceiling.denied.length + ceiling.ask.length > 0)
    await ports.log.post(id, { type: 'ceiling.set', payload: ceiling, key: 'ceiling' });
  const said = { text: task, mode: 'message', userId: meta.userId } as const;
  await ports.log.post(id, { type: 'io.input', payload: said, key: 'task' });
  const started = { conversation: id, agent, action: action.id, ...(limits !== undefined && { limits }) };
  const stated = await recorder.record([{ ...inTurn(turn, 'subagent.started', started), key: id }], {
    unless: (now) => now.turn === undefined || now.turn.cancel !== 'none' || isObserved(now.turn, action.id),
  });
  if (stated === undefined) await stopChild(work, id);
  return undefined;
}

function refusal(turn: Turn, action: string, meta: ConversationMeta): ReturnType<typeof observation> | undefined {
  const most = turn.agent.limits.maxSubagents ?? 0;
  if (most === 0) return observation('refused', 'subagents_off', 'This agent may not delegate.');
  if (meta.agentPath.split('/').length >= DEEPEST)
    return observation(
      'refused',
      'too_deep',
      `Tasks are delegated at most ${DEEPEST - 1} times over: do this one yourself.`,
    );
  if (placeOf(turn, action) < most) return undefined;
  const message = `At most ${most} tasks are worked on at the same time. Delegate this one again once others are done.`;
  return observation('refused', 'too_many_subagents', message);
}

/** Which of the decision's delegations this is, from 0: the same however fast the others were. */
function placeOf(turn: Turn, id: string): number {
  const actions = turn.current?.actions ?? [];
  const name = actions.find((one) => one.action.id === id)?.action.name;
  return actions.filter((one) => one.action.name === name).findIndex((one) => one.action.id === id);
}

function isObserved(turn: Turn, id: string): boolean {
  return turn.current?.actions.find((one) => one.action.id === id)?.observation !== undefined;
}

/**
 * What a child may use of what is left: an equal part for each delegation of the decision that has not begun, after what
 * its siblings hold. Undefined when the run has no limits.
 */
function sliceOf({ limits, spent }: Conversation, turn: Turn, name: string): RunLimits | undefined {
  if (Object.keys(limits).length === 0) return undefined;
  const held = openWaits(turn).flatMap((one) =>
    one.kind === 'subagent' && one.limits !== undefined ? [one.limits] : [],
  );
  const begun = new Set(turn.waits.map((one) => one.action));
  const most = turn.agent.limits.maxSubagents ?? 1;
  const fresh = (turn.current?.actions ?? []).filter(
    ({ action, observation: done }) => action.name === name && done === undefined && !begun.has(action.id),
  );
  const parts = Math.max(1, Math.min(fresh.length, most));
  const share = (most: number, used: number, key: 'maxTokens' | 'maxActions', least: number): number => {
    const reserved = held.reduce((sum, one) => sum + (one[key] ?? 0), 0);
    return Math.max(least, Math.floor((most - used - reserved) / parts));
  };
  const { maxTokens, maxActions, ...rest } = limits;
  return {
    ...rest,
    ...(maxTokens !== undefined && { maxTokens: share(maxTokens, spent.tokens, 'maxTokens', 1) }),
    ...(maxActions !== undefined && { maxActions: share(maxActions, spent.actions, 'maxActions', 0) }),
  };
}

/** What the child may not have and what it has to ask for: as its parent now, and as its parent was told itself. */
function ceilingOf({ ceiling }: Conversation, { agent }: Turn, by: string): FactPayload<'ceiling.set'> {
  const asked = agent.tools.filter((one) => one.approval === 'ask').map((one) => one.name);
  return {
    denied: [...new Set([...agent.inactive.map((one) => one.name), ...(ceiling?.denied ?? [])])].sort(),
    ask: [...new Set([...asked, ...(ceiling?.ask ?? [])])].sort(),
    by,
  };
}

/** A child whose turn is over tells its parent, once. The parent may be gone, or no longer wait. */
export async function reportToParent({ ports, meta, recorder }: Work): Promise<void> {
  const { turn, turns, inbox, spent } = recorder.conversation;
  const last = turns.at(-1);
  if (meta.parent === undefined || turn !== undefined || inbox.length > 0 || last?.end === undefined) return;
  const { status, error } = last.end;
  const payload: FactPayload<'subagent.ended'> = {
    conversation: meta.id,
    status,
    ...(last.output !== undefined && { answer: last.output }),
    ...(error !== undefined && { error }),
    tokens: spent.tokens,
    actions: spent.actions,
  };
  if ((await ports.log.find(meta.parent.id)) === undefined) return;
  await ports.log.post(meta.parent.id, { type: 'subagent.ended', payload, key: meta.id });
}

/** Stops the runs that open actions have begun, before those actions are settled: a crash in between stops them again. */
export async function stopChildren(work: Work): Promise<void> {
  const turn = openTurn(work);
  if (turn.agent.limits.maxSubagents === undefined) return;
  for (const { action, begun, observation: done } of turn.current?.actions ?? [])
    if (begun !== undefined && done === undefined) await stopChild(work, childIdOf(work.meta.id, action.id));
}

async function stopChild({ ports, meta }: Work, id: string): Promise<void> {
  const found = ports.log.find(id);
  if ((isPromise(found) ? await found : found) === undefined) return;
  const request: Draft = { type: 'cancel.request', payload: { by: meta.id }, key: 'parent' };
  await ports.log.post(id, request);
}

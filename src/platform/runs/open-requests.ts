import { isoTime } from '../../base/clock.ts';
import { digest } from '../../base/digest.ts';
import { toJson, type Json } from '../../base/json.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import { openRequests, type HeldRequest } from '../../domain/conversation.ts';
import type { Asked, Entry } from '../../domain/entry.ts';
import { keepsPlan, stepsAfter } from '../../domain/plan.ts';
import { entryAt, lengthOf, type Timeline } from '../../domain/timeline.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { RunFold } from './folds.ts';
import type { OpenRequest } from './snapshot.ts';

/** A request as it stands in the timeline, where it stays when it is long settled. */
export interface FoundRequest {
  readonly asked: Asked;
  readonly entry: Entry;
}

/** The decisions that people owe this run, in the order in which they were asked. */
export function openRequestsOf(meta: ConversationMeta, { conversation, timeline }: RunFold): readonly OpenRequest[] {
  const { turn } = conversation;
  if (turn === undefined) return [];
  const open = openRequests(turn);
  if (open.length === 0) return [];
  return open.map((request) => openRequest(meta, turn.agent, request, timeline));
}

/** The newest request of this id, open or not. */
export function findRequest(timeline: Timeline, id: string): FoundRequest | undefined {
  for (let position = lengthOf(timeline); position > 0; position--) {
    const entry = entryAt(timeline, position);
    const asked = entry === undefined ? undefined : askedIn(entry).findLast((one) => one.request === id);
    if (entry !== undefined && asked !== undefined) return { asked, entry };
  }
  return undefined;
}

export function askedIn(entry: Entry): readonly Asked[] {
  switch (entry.role) {
    case 'action':
    case 'plan':
      return entry.data.requests;
    case 'notice':
      return entry.data.requests ?? [];
    default:
      return [];
  }
}

/** What an answer is bound to: the very arguments, the steps of the plan, or the question with its choices. */
export function requestDigest(request: HeldRequest, entry: Entry | undefined): string {
  if (request.argumentHash !== undefined) return request.argumentHash;
  const steps = entry?.role === 'plan' ? entry.data.steps : undefined;
  const { kind, question, choices } = request;
  return digest(toJson({ kind, question, choices, steps }));
}

const DECISIONS: Readonly<Record<OpenRequest['kind'], OpenRequest['decisions']>> = {
  action: ['allow', 'reject', 'edit'],
  plan: ['allow', 'reject', 'edit'],
  input: ['reply', 'reject'],
};

function openRequest(
  meta: ConversationMeta,
  agent: EffectiveAgent,
  request: HeldRequest,
  timeline: Timeline,
): OpenRequest {
  const {
    kind,
    question,
    action,
    parent,
    arguments: given,
    preview,
    choices,
    consent,
    deadline,
    gate,
    allowance,
  } = request;
  const found = findRequest(timeline, request.request);
  const entry = found?.entry;
  const name = request.name ?? (entry?.role === 'action' ? entry.data.name : undefined);
  const tool = agent.tools.find((one) => one.name === name);
  return {
    id: request.request,
    kind,
    question,
    run: meta.id,
    agentPath: meta.agentPath,
    digest: requestDigest(request, entry),
    askedAt: isoTime(found?.asked.at ?? meta.createdAt),
    ...(action !== undefined && { action }),
    ...(parent !== undefined && { parent }),
    ...(name !== undefined && { name }),
    ...(given !== undefined && { arguments: given }),
    ...(kind === 'action' && tool !== undefined && { inputSchema: tool.inputSchema }),
    ...(preview !== undefined && { preview }),
    ...planOf(entry, name, given, timeline),
    ...(choices !== undefined && { choices }),
    ...(consent !== undefined && { consent }),
    ...(deadline !== undefined && { expiresAt: isoTime(deadline) }),
    ...(gate !== undefined && { gate }),
    ...(allowance !== undefined && { allowance: { scopes: allowance.scopes, about: allowance.about } }),
    decisions: DECISIONS[kind],
  };
}

type AskedPlan = Pick<OpenRequest, 'plan' | 'planBefore' | 'summary'>;

/** The plan that is asked about, or that an action would change. */
function planOf(
  entry: Entry | undefined,
  name: string | undefined,
  given: Json | undefined,
  timeline: Timeline,
): AskedPlan {
  if (entry?.role === 'plan') return { plan: entry.data.steps, ...(entry.text !== '' && { summary: entry.text }) };
  if (name === undefined || given === undefined || !keepsPlan(name)) return {};
  for (let position = lengthOf(timeline); position > 0; position--) {
    const one = entryAt(timeline, position);
    if (one?.role !== 'plan') continue;
    const after = stepsAfter(one.data.steps, name, given);
    return after === undefined ? {} : { plan: after, planBefore: one.data.steps };
  }
  return {};
}

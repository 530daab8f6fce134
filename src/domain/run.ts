import type { Instant } from '../base/clock.ts';
import { asName } from '../base/text.ts';
import {
  heldActions,
  openActions,
  openRequests,
  openWaits,
  type ActionState,
  type Conversation,
  type HeldRequest,
} from './conversation.ts';
import type { RunStatus } from './status.ts';

export type { RunLimits } from './run-limits.ts';

/** What a run says of itself from outside: a fold, so that it cannot disagree with the log. */
export function statusOf(conversation: Conversation): RunStatus {
  const { turn } = conversation;
  if (turn === undefined) {
    if (conversation.inbox.length > 0) return 'initializing';
    return conversation.turns.at(-1)?.end?.status ?? 'initializing';
  }
  if (turn.denied?.retryAt !== undefined) return 'waiting_for_computation';
  const actions = openActions(turn);
  const open = openRequests(turn);
  const waits = openWaits(turn);
  const held = heldActions(turn);
  const isFree = (one: ActionState): boolean => !held.has(one.action.id);
  // One after another: an action that is held holds up those after it.
  const movable = turn.agent.limits.maxConcurrent > 1 ? actions.some(isFree) : actions.slice(0, 1).some(isFree);
  if (open.length > 0 && !movable) {
    if (open.some((one) => one.kind === 'plan')) return 'pending_plan_approval';
    return open.some((one) => one.kind === 'action') ? 'pending_action_approval' : 'awaiting_user_input';
  }
  if (waits.length > 0 && !movable)
    return waits.some((one) => one.kind === 'subagent') ? 'waiting_for_subagents' : 'waiting_for_computation';
  if (actions.length > 0 && turn.requests.some(isApproved)) return 'action_approved';
  if (turn.current === undefined) {
    return turn.requests.some((one) => one.kind === 'plan' && isYes(one)) ? 'plan_approved' : 'initializing';
  }
  return 'running';
}

/** A refused action is answered too, and nobody approved it. */
function isApproved(request: HeldRequest): boolean {
  return request.kind === 'action' && isYes(request);
}

function isYes({ answer }: HeldRequest): boolean {
  return answer?.decision === 'allow' || answer?.decision === 'edit';
}

/** What a conversation is called until somebody calls it something else: the first words said, on one line. */
export function titleOf(said: string): string {
  const line = asName(said);
  return line.length <= 80 ? line : `${line.slice(0, 79).toWellFormed()}…`;
}

/** When a run that rests has work without anybody saying anything: the first of its questions and tickets to expire, or a model call that a gate has put off. */
export function wakeAt({ turn }: Conversation): Instant | undefined {
  if (turn === undefined) return undefined;
  let first = turn.denied?.retryAt;
  const tickets = openWaits(turn).filter((one) => one.kind === 'computation');
  for (const { deadline } of [...openRequests(turn), ...tickets])
    if (deadline !== undefined) first = Math.min(first ?? deadline, deadline);
  return first;
}

import { unreachable } from '../base/assert.ts';
import { isCold } from '../assembly/cache.ts';
import { clearable } from '../assembly/clearing.ts';
import {
  CRASH_LOOP,
  heldActions,
  iterationsAllowed,
  openActions,
  openRequests,
  type ActionState,
  type Conversation,
  type Iteration,
  type Turn,
} from '../domain/conversation.ts';
import { WINDOW_CODE } from '../domain/limits.ts';
import type { StopKind } from '../domain/status.ts';
import { again } from './again.ts';
import { broken, limited, type Command } from './command.ts';

/**
 * What happens next depends on the log and on nothing else.
 *
 * Pure and total: any fold, also one of a log that a crash cut short, has exactly one next command.
 */
export function next(conversation: Conversation): Command {
  const { turn } = conversation;
  if (turn === undefined) return conversation.inbox.length > 0 ? { type: 'start_turn' } : { type: 'rest' };
  const open = openActions(turn);
  const unsettled = open.length > 0 || openRequests(turn).length > 0;

  if (turn.cancel !== 'none')
    return unsettled ? { type: 'settle', why: 'cancelled' } : { type: 'end', status: 'stopped', stop: 'cancelled' };
  if (unsettled && turn.pending.some((one) => one.mode === 'steer')) return { type: 'settle', why: 'steered' };

  if (turn.stalls >= CRASH_LOOP) return unsettled ? { type: 'settle', why: 'crashed' } : crashLoop();

  const command = within(conversation, turn, open);
  return command.type === 'end' && unsettled ? { type: 'settle', why: 'ended' } : command;
}

function within(conversation: Conversation, turn: Turn, open: readonly ActionState[]): Command {
  if (turn.denied !== undefined && turn.compaction !== 'requested') return refusedCall(turn, turn.denied);
  const planned = plan(turn);
  if (planned !== undefined) return planned;
  if (turn.output !== undefined) return finished(conversation, turn);
  if (turn.compaction === 'requested') return { type: 'compact', why: turn.compactionWhy ?? 'size' };
  const { current } = turn;
  if (current === undefined) return callNext(conversation, turn);
  if (current.response === undefined) return again(turn, current.attempts) ?? callNext(conversation, turn);
  return afterResponse(conversation, turn, current, current.response.stop, open);
}

function afterResponse(
  conversation: Conversation,
  turn: Turn,
  { decision, refused: correction }: Iteration,
  stop: StopKind,
  open: readonly ActionState[],
): Command {
  switch (decision?.type) {
    case undefined:
    case 'empty':
      if (stop === 'paused')
        return turn.pauses > turn.agent.limits.maxPauses
          ? broken('paused', 'the provider kept asking to be called again')
          : callNext(conversation, turn);
      if (stop !== 'finished' && stop !== 'actions') return unfinished(stop);
      return turn.empties > 1
        ? broken('empty_reply', 'the model answered with nothing, twice')
        : callNext(conversation, turn);
    case 'invalid':
      return tooManyFaults(turn) ?? callNext(conversation, turn);
    case 'answer':
      if (correction !== undefined) return callNext(conversation, turn);
      if (stop === 'paused')
        return turn.pauses > turn.agent.limits.maxPauses
          ? broken('paused', 'the provider kept asking to be called again')
          : callNext(conversation, turn);
      return stop === 'finished' || stop === 'actions' ? { type: 'answer', text: decision.text } : unfinished(stop);
    case 'actions':
      if (stop !== 'actions' && stop !== 'finished' && stop !== 'length' && stop !== 'paused') return unfinished(stop);
      return open.length > 0
        ? act(conversation, turn, open)
        : (actionsUsedUp(conversation, turn) ?? tooManyFaults(turn) ?? callNext(conversation, turn));
    default:
      return unreachable(decision);
  }
}

function act(conversation: Conversation, turn: Turn, open: readonly ActionState[]): Command {
  const waiting = heldActions(turn);
  const ready = open.filter((one) => !waiting.has(one.action.id));
  if (ready.length === 0) return { type: 'rest' };
  // One after another: the next action's gates see what came of this one. And a held action holds up those after it.
  const now = turn.agent.limits.maxConcurrent > 1 ? ready : ready[0] === open[0] ? ready.slice(0, 1) : [];
  return now.length === 0 ? { type: 'rest' } : affordable(conversation, now);
}

/** The actions that the run may still begin, the first ones first. One that was begun has been counted. */
function affordable({ limits, spent }: Conversation, actions: readonly ActionState[]): Command {
  const { maxActions } = limits;
  if (maxActions === undefined) return { type: 'act', actions };
  let left = maxActions - spent.actions;
  const now = actions.filter((one) => one.begun !== undefined || left-- > 0);
  return now.length > 0 ? { type: 'act', actions: now } : outOfActions(maxActions);
}

/** The actions that were too many have been settled: the turn ends, and goes on here once the run may do more. */
function actionsUsedUp({ limits, spent }: Conversation, { current }: Turn): Command | undefined {
  const { maxActions } = limits;
  if (maxActions === undefined || spent.actions < maxActions) return undefined;
  const wasCut = current?.actions.some(
    ({ begun, observation }) => begun === undefined && observation?.error?.code === 'ended',
  );
  return wasCut === true ? outOfActions(maxActions) : undefined;
}

function outOfActions(maxActions: number): Command {
  return limited('error', 'max_actions', `the limit of ${maxActions} actions of this run is reached`);
}

function plan(turn: Turn): Command | undefined {
  if (turn.agent.planning === undefined) return undefined;
  if (typeof turn.plan === 'string') return { type: 'plan' };
  if (turn.plan.error !== undefined)
    return { type: 'end', status: 'error', stop: 'error', error: { code: 'plan_failed', message: turn.plan.error } };
  const asked = turn.requests.findLast((one) => one.kind === 'plan');
  if (asked === undefined) return undefined;
  if (asked.cancelled !== undefined || asked.answer?.decision === 'reject')
    return { type: 'end', status: 'plan_rejected', stop: 'rejected' };
  return asked.answer === undefined ? { type: 'rest' } : undefined;
}

function callNext(conversation: Conversation, turn: Turn): Command {
  const { models, onLimit } = turn.agent;
  const [model] = models;
  if (model === undefined) return broken('no_model', 'the agent has no model');
  const wrapped = turn.current?.attempts.at(-1)?.request.purpose === 'wrap_up';
  const most = iterationsAllowed(conversation, turn);
  if (turn.calls >= most || wrapped) {
    if (onLimit === 'wrap_up' && !wrapped) return { type: 'call_model', attempt: 1, model, wrapUp: true };
    return overLimit(onLimit, most);
  }
  const spent = spentUp(conversation, turn);
  if (spent !== undefined) return spent;
  const full = filled(conversation, turn);
  if (full !== undefined) return full;
  const why = wantsCompaction(conversation, turn);
  if (why !== undefined) return { type: 'compact', why };
  const actions = clearable(conversation, turn);
  if (actions.length > 0) return { type: 'clear', actions };
  return { type: 'call_model', attempt: 1, model, wrapUp: false };
}

/** A limit of the run that forbids another model call. */
function spentUp({ limits, spent, at }: Conversation, turn: Turn): Command | undefined {
  const { maxTokens, wallMs } = limits;
  if (maxTokens !== undefined && spent.tokens >= maxTokens)
    return limited('error', 'max_tokens', `the limit of ${maxTokens} tokens of this run is reached`);
  if (wallMs !== undefined && at - turn.at - turn.restedMs >= wallMs)
    return limited('error', 'max_wall_ms', `the limit of ${wallMs} ms of work on a turn of this run is reached`);
  return undefined;
}

function overLimit(onLimit: 'end' | 'error' | 'wrap_up', most: number): Command {
  const status = onLimit === 'error' ? 'error' : 'max_iterations_reached';
  return limited(status, 'max_iterations', `the limit of ${most} model calls a turn is reached`);
}

/**
 * Whether a summary should stand for older turns: the next prompt would not fit, there are more turns than are shown, or it
 * is large and has to be paid for anew in any case, since no cache holds it. While one does, what it holds is left alone.
 */
function wantsCompaction(
  conversation: Conversation,
  { agent, compaction, current }: Turn,
): 'size' | 'turns' | 'cold' | undefined {
  const { contextTokens, turns, summary, at } = conversation;
  const shown = turns.length - (summary?.through ?? 0);
  if (compaction !== 'none' || shown <= 0) return undefined;
  const { contextMaxTokens = Infinity, contextColdTokens = Infinity, contextMaxTurns = Infinity } = agent.limits;
  if (contextTokens >= contextMaxTokens) return 'size';
  if (current === undefined && shown > contextMaxTurns) return 'turns';
  return current === undefined && contextTokens >= contextColdTokens && isCold(conversation, at) ? 'cold' : undefined;
}

/** The prompt has reached its limit, and nobody is there who could make it shorter. */
function filled({ contextTokens }: Conversation, { agent }: Turn): Command | undefined {
  const { contextMaxTokens = Infinity, contextEnds } = agent.limits;
  if (contextEnds !== true || contextTokens < contextMaxTokens) return undefined;
  const message = `the prompt has ${contextTokens} tokens, context_max_tokens is ${contextMaxTokens}, and no memory plugin is active that could shorten it: begin another conversation`;
  return limited('error', 'context_full', message);
}

function tooManyFaults(turn: Turn): Command | undefined {
  if (turn.faults <= turn.agent.limits.maxFaults) return undefined;
  return {
    type: 'end',
    status: 'error',
    stop: 'error',
    error: { code: turn.lastFault?.code ?? 'fault', message: turn.lastFault?.message ?? 'too many faults in a row' },
  };
}

/** What a gate may say of a limit of the run, its user or its tenant: the turn goes on once it is raised. */
const LIMIT = /^((user|tenant)_)?max_(calls|actions|tokens|money|wall_ms)$|^price_unknown$/;

/** A prompt that a gate finds too long is made shorter, once for each turn, before that ends the turn. */
function refusedCall({ compaction, compactionWhy }: Turn, denied: NonNullable<Turn['denied']>): Command {
  if (denied.retryAt !== undefined) return { type: 'rest' };
  const isTried = compaction !== 'none' && compactionWhy === 'window';
  return denied.code === WINDOW_CODE && !isTried ? { type: 'compact', why: 'window' } : refused(denied);
}

/** A gate refused a model call or the answer. */
function refused({ gate, reason = 'refused', code = 'gate_denied' }: NonNullable<Turn['denied']>): Command {
  if (code === 'max_iterations')
    return { type: 'end', status: 'max_iterations_reached', stop: 'limit', error: { code, message: reason } };
  if (LIMIT.test(code)) return { type: 'end', status: 'error', stop: 'limit', error: { code, message: reason } };
  return { type: 'end', status: 'error', stop: 'gate', error: { code, message: `${gate}: ${reason}` } };
}

function finished(conversation: Conversation, turn: Turn): Command {
  const wrapped = turn.current?.attempts.at(-1)?.request.purpose === 'wrap_up';
  return wrapped
    ? overLimit('end', iterationsAllowed(conversation, turn))
    : { type: 'end', status: 'completed', stop: 'finished' };
}

/** The model stopped without finishing: visible, and not success. */
function unfinished(stop: StopKind): Command {
  const messages: Partial<Record<StopKind, string>> = {
    length: 'the answer was cut at the output limit',
    refused: 'the model refused to answer',
    filtered: "the provider's content filter stopped the answer",
  };
  return {
    type: 'end',
    status: 'error',
    stop,
    error: {
      code: `stop_${stop}`,
      message: messages[stop] ?? `the model stopped for a reason that is not known (${stop})`,
    },
  };
}

function crashLoop(): Command {
  const message = `the program stopped ${CRASH_LOOP} times in a row at the same point of this turn`;
  return { type: 'end', status: 'error', stop: 'error', error: { code: 'crash_loop', message } };
}

import { unreachable } from '../base/assert.ts';
import { isCold } from '../assembly/cache.ts';
import { clearable } from '../assembly/clearing.ts';
import type { ModelRef } from '../domain/agent.ts';
import {
  CRASH_LOOP,
  iterationsAllowed,
  openActions,
  openRequests,
  openWaits,
  type ActionState,
  type Attempt,
  type Conversation,
  type Iteration,
  type Turn,
} from '../domain/conversation.ts';
import type { FactPayload } from '../domain/event.ts';
import { WINDOW_CODE } from '../domain/limits.ts';
import type { ModelFailure } from '../domain/model.ts';
import type { EndStatus, StopKind } from '../domain/status.ts';

/** What a worker is to do next. `rest`: nothing, until somebody else states a fact. */
export type Command =
  | { readonly type: 'start_turn' }
  | { readonly type: 'plan' }
  /** These results leave the prompt. */
  | { readonly type: 'clear'; readonly actions: readonly string[] }
  | { readonly type: 'compact'; readonly why: FactPayload<'memory.compact.request'>['why'] }
  /** Attempt `attempt` (from 1) at the next model call, or at the current one when it failed or was lost. */
  | {
      readonly type: 'call_model';
      readonly attempt: number;
      readonly model: ModelRef;
      readonly backoff?: Backoff;
      readonly wrapUp: boolean;
    }
  /** These actions have no observation and wait for nobody. */
  | { readonly type: 'act'; readonly actions: readonly ActionState[] }
  /** Every open action gets an observation without being run. */
  | { readonly type: 'settle'; readonly why: 'cancelled' | 'steered' | 'ended' | 'crashed' }
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'end'; readonly status: EndStatus; readonly stop: StopKind; readonly error?: TurnError }
  | { readonly type: 'rest' };

export interface TurnError {
  readonly code: string;
  readonly message: string;
}

/** How long to wait before an attempt: what the provider asked for, or `step` doublings of a second, with jitter. */
export interface Backoff {
  readonly step: number;
  readonly retryAfterMs: number | undefined;
}

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
  if (current.response === undefined) return again(conversation, turn, current.attempts);
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
  const waiting = new Set([...openRequests(turn), ...openWaits(turn)].map((one) => one.action));
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

function limited(status: EndStatus, code: string, message: string): Command {
  return { type: 'end', status, stop: 'limit', error: { code, message } };
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

/** The same call again, or the next model of the chain, or the end: which depends on why it failed. */
function again(conversation: Conversation, turn: Turn, attempts: readonly Attempt[]): Command {
  const { models, limits } = turn.agent;
  const last = attempts.at(-1);
  const index = Math.max(
    0,
    models.findIndex((one) => one.provider === last?.request.model.provider && one.model === last.request.model.model),
  );
  const model = models[index];
  if (model === undefined || last === undefined) return callNext(conversation, turn);
  const wrapUp = last.request.purpose === 'wrap_up';
  const attempt = last.request.attempt + 1;
  const { failure } = last;
  // A call without an answer was lost in a crash, or given up for a message that came in between.
  if (failure === undefined || failure.class === 'aborted') {
    return attempt > limits.maxAttempts + attempts.length
      ? broken('crash_loop', 'the model call was lost again and again')
      : { type: 'call_model', attempt, model, wrapUp };
  }
  if (failure.class === 'context_length') {
    if (last.compaction === 'done') return { type: 'call_model', attempt, model, wrapUp }; // it is shorter now
    if (attempts.every((one) => one.compaction === undefined)) return { type: 'compact', why: 'size' };
  }
  const failed = attempts.filter((one) => one.failure !== undefined && one.failure.class !== 'aborted').length;
  if (failed >= limits.maxAttempts) return unanswered(failure);
  const tries = attempts.filter(
    (one) => one.request.model.provider === model.provider && one.request.model.model === model.model,
  ).length;
  const onward = models[index + 1];
  switch (remedy(failure)) {
    case 'retry':
      if (tries < TRIES_PER_MODEL || onward === undefined)
        return {
          type: 'call_model',
          attempt,
          model,
          wrapUp,
          backoff: { step: tries, retryAfterMs: failure.retryAfterMs },
        };
      return { type: 'call_model', attempt, model: onward, wrapUp };
    case 'other_model':
      return onward === undefined ? unanswered(failure) : { type: 'call_model', attempt, model: onward, wrapUp };
    case 'none':
      return unanswered(failure);
  }
}

/** Attempts at one model before the next of its chain is tried. */
const TRIES_PER_MODEL = 2;

function remedy(failure: ModelFailure): 'retry' | 'other_model' | 'none' {
  switch (failure.class) {
    case 'rate_limit':
    case 'overloaded':
    case 'server':
    case 'network':
    case 'timeout':
    case 'incomplete':
    case 'protocol':
      return 'retry';
    case 'auth':
    case 'not_found':
      return 'other_model';
    case 'bad_request':
    case 'context_length':
    case 'aborted':
    case 'unknown':
      return 'none';
    default:
      return unreachable(failure.class);
  }
}

function unanswered({ class: kind, message }: ModelFailure): Command {
  return {
    type: 'end',
    status: 'error',
    stop: kind === 'incomplete' || kind === 'protocol' ? 'protocol' : 'error',
    error: { code: `model_${kind}`, message },
  };
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

function broken(code: string, message: string): Command {
  return { type: 'end', status: 'error', stop: 'protocol', error: { code, message } };
}

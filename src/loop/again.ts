import { unreachable } from '../base/assert.ts';
import type { Attempt, Turn } from '../domain/conversation.ts';
import type { ModelFailure } from '../domain/model.ts';
import { broken, type Command } from './command.ts';

/** The same call again, or the next model of the chain, or the end: which depends on why it failed. Undefined where there is no call to repeat. */
export function again({ agent }: Turn, attempts: readonly Attempt[]): Command | undefined {
  const { models, limits } = agent;
  const last = attempts.at(-1);
  const index = Math.max(
    0,
    models.findIndex((one) => one.provider === last?.request.model.provider && one.model === last.request.model.model),
  );
  const model = models[index];
  if (model === undefined || last === undefined) return undefined;
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

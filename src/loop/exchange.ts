import { TreadleError } from '../base/errors.ts';
import { LazyAbort } from '../base/lazy-abort.ts';
import { isPromise } from '../base/promise.ts';
import type { ModelFailure, ModelRequest } from '../domain/model.ts';
import { listen, type Heard, type Piece } from './listen.ts';
import { type onInterrupt, openTurn, type Work } from './work.ts';

export interface Exchange {
  readonly iteration: number;
  readonly onDelta: ((piece: Piece) => void) | undefined;
  /** What ends it early. */
  readonly watch: typeof onInterrupt;
}

/** One call, heard to its end. Whatever goes wrong is a failure in words, never an exception. */
export async function converse(
  work: Work,
  request: ModelRequest,
  { iteration, onDelta, watch }: Exchange,
): Promise<Heard> {
  const abort = new LazyAbort();
  const turn = openTurn(work);
  const { clock, models } = work.ports;
  try {
    const opened = models.open(request.model);
    const model = isPromise(opened) ? await opened : opened;
    const called = model.call(request, new CallContext(work.meta.id, abort));
    const stream = isPromise(called) ? await called : called;
    return await listen(stream, {
      turnId: turn.id,
      iteration,
      clock,
      idleMs: turn.agent.limits.modelIdleMs,
      onDelta,
      onInterrupt: (callback) =>
        watch(work, () => {
          callback();
          abort.abort();
        }),
    });
  } catch (error) {
    return {
      content: [],
      thoughts: [],
      stop: 'error',
      raw: undefined,
      usage: {},
      served: undefined,
      providerId: undefined,
      opaque: undefined,
      failure: failureOf(error),
    };
  } finally {
    abort.abort();
  }
}

/** What a model is told besides the request. */
class CallContext {
  readonly conversationId: string;
  readonly #abort: LazyAbort;

  constructor(conversationId: string, abort: LazyAbort) {
    this.conversationId = conversationId;
    this.#abort = abort;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}

function failureOf(error: unknown): ModelFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (!TreadleError.is(error)) return { class: 'unknown', message };
  if (error.code === 'model_no_key') return { class: 'auth', message };
  if (error.code === 'model_unreachable') return { class: 'network', message };
  return { class: error.code === 'model_unknown_provider' ? 'not_found' : 'bad_request', message };
}

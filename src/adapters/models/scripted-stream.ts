import type { Clock } from '../../base/clock.ts';
import type { MaybePromise } from '../../base/promise.ts';
import type { ModelFailure, ModelPart } from '../../domain/model.ts';
import type { ModelStream } from '../../kernel/model.ts';

export interface StreamTiming {
  readonly delayMs: number;
  readonly paceMs: number;
  /** The signal is read when there is something to wait for and not before: asking for it makes it. */
  readonly context: { readonly signal: AbortSignal };
  readonly clock: Clock;
}

/** Hands out parts that are already there; makes a promise only where there is something to wait for. */
export class ScriptedStream implements ModelStream {
  readonly #parts: readonly ModelPart[];
  #end: ModelPart | 'cut' | 'hang' | ModelFailure;
  #position = 0;
  #waitMs: number;
  readonly #paceMs: number;
  readonly #context: { readonly signal: AbortSignal };
  #signal: AbortSignal | undefined;
  readonly #clock: Clock;
  #wake: (() => void) | undefined;

  constructor(
    parts: readonly ModelPart[],
    end: ModelPart | 'cut' | 'hang' | ModelFailure,
    { delayMs, paceMs, context, clock }: StreamTiming,
  ) {
    this.#parts = parts;
    this.#end = end;
    this.#waitMs = delayMs;
    this.#paceMs = paceMs;
    this.#context = context;
    this.#clock = clock;
  }

  next(): MaybePromise<ModelPart | undefined> {
    if (this.#signal?.aborted === true) return this.#abort();
    if (this.#waitMs > 0) return this.#pause(this.#waitMs).then(() => this.next());
    const part = this.#parts[this.#position];
    if (part === undefined) return this.#last();
    this.#position += 1;
    if (this.#paceMs > 0 && this.#parts[this.#position]?.type === 'delta') this.#waitMs = this.#paceMs;
    return part;
  }

  close(): void {
    this.#position = this.#parts.length;
    this.#end = 'cut';
    this.#waitMs = 0;
    this.#wake?.();
  }

  #last(): MaybePromise<ModelPart | undefined> {
    const end = this.#end;
    if (end === 'hang') return this.#pause(undefined).then(() => this.next());
    this.#end = 'cut';
    if (end === 'cut') return undefined;
    return 'type' in end ? end : { type: 'failure', failure: end };
  }

  #abort(): ModelPart | undefined {
    const over = this.#position >= this.#parts.length && this.#end === 'cut';
    this.close();
    return over ? undefined : { type: 'failure', failure: { class: 'aborted', message: 'The call was aborted.' } };
  }

  /** Resolves after `ms` of the clock, or for ever without `ms`, and in any case when the call ends. */
  #pause(ms: number | undefined): Promise<void> {
    const signal = (this.#signal ??= this.#context.signal);
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = ms === undefined ? undefined : this.#clock.after(ms, () => this.#wake?.());
      const wake = (): void => {
        cancel?.();
        signal.removeEventListener('abort', wake);
        this.#wake = undefined;
        this.#waitMs = 0;
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake);
    });
  }
}

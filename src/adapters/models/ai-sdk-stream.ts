import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { MaybePromise } from '../../base/promise.ts';
import type { ModelFailure, ModelPart } from '../../domain/model.ts';
import type { ModelStream } from '../../kernel/model.ts';
import type { Parts } from './parts.ts';

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>;

/** A connection whose answer is complete is given this long to end by itself, so that it can be used again. */
const DRAIN_MS = 1_000;

/** Reads an AI SDK stream part by part, from the request on. Never throws: what goes wrong is its last part. */
export class AiSdkStream implements ModelStream {
  readonly #parts: Parts;
  readonly #failureOf: (error: unknown) => ModelFailure;
  readonly #signal: AbortSignal;
  /** Ours, so that giving the call up ends the request too. */
  readonly #abort = new AbortController();
  readonly #opening: Promise<Reader>;
  #reader: Reader | undefined;
  #queue: ModelPart[] = [];
  #position = 0;
  #over = false;
  /** Answers a pull that waits, when the call is given up. */
  #wake: (() => void) | undefined;

  constructor(
    open: (signal: AbortSignal) => Promise<Reader>,
    parts: Parts,
    failureOf: (error: unknown) => ModelFailure,
    signal: AbortSignal,
  ) {
    this.#parts = parts;
    this.#failureOf = failureOf;
    this.#signal = signal;
    this.#opening = open(this.#abort.signal);
    this.#opening.catch(() => undefined); // told by the pull that waits for it, if any does
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  next(): MaybePromise<ModelPart | undefined> {
    if (this.#position < this.#queue.length) return this.#queue[this.#position++];
    if (this.#over) return undefined;
    return new Promise((resolve) => {
      let settled = false;
      const settle = (): void => {
        if (settled) return;
        settled = true;
        this.#wake = undefined;
        resolve(this.#queue[this.#position++]);
      };
      this.#wake = settle;
      void this.#pull().then(settle);
    });
  }

  close(): void {
    if (this.#over) return;
    this.#end([]);
    this.#giveUp();
  }

  /** Reads until there is a part to hand out or nothing more comes. */
  async #pull(): Promise<void> {
    const out: ModelPart[] = [];
    try {
      const reader = (this.#reader ??= await this.#opening);
      while (out.length === 0 && !this.#parts.done && !this.#over) {
        const { value, done } = await reader.read();
        if (done) break;
        this.#parts.take(value, out);
      }
      if (this.#over) return;
      if (out.length > 0 && !this.#parts.done) {
        this.#fill(out);
        return;
      }
      if (this.#parts.done) void this.#drain(reader);
      this.#end(out);
    } catch (error) {
      if (!this.#over) this.#end([{ type: 'failure', failure: this.#failureOf(error) }]);
    }
  }

  #fill(parts: ModelPart[]): void {
    this.#queue = parts;
    this.#position = 0;
  }

  #end(parts: ModelPart[]): void {
    this.#over = true;
    this.#fill(parts);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    if (this.#over) return;
    this.#end([{ type: 'failure', failure: { class: 'aborted', message: 'The call was aborted.' } }]);
    this.#giveUp();
  };

  #giveUp(): void {
    this.#abort.abort();
    void this.#opening.then((reader) => reader.cancel()).catch(() => undefined);
    this.#wake?.();
  }

  async #drain(reader: Reader): Promise<void> {
    const stop = (): void => {
      this.#abort.abort();
      reader.cancel().catch(() => undefined);
    };
    const limit = AbortSignal.timeout(DRAIN_MS);
    limit.addEventListener('abort', stop, { once: true });
    try {
      while (!(await reader.read()).done);
    } catch {
      // The answer is complete; what the connection does after it is nobody's concern.
    } finally {
      limit.removeEventListener('abort', stop);
    }
  }
}

import type { MaybePromise } from '../base/promise.ts';
import type { ModelRef } from '../domain/agent.ts';
import type { ModelPart, ModelRequest } from '../domain/model.ts';

/** A pull of plain parts. `next` answers without a promise where the part is already here; undefined is the end. */
export interface ModelStream {
  next(): MaybePromise<ModelPart | undefined>;
  /** Gives the call up. May be called at any time, also twice. */
  close(): void;
}

/**
 * A model that can be called. Provider trouble is data: a `failure` part. A stream that ends with neither `finish` nor
 * `failure` was cut. Aborting the signal ends the stream soon, with or without a `failure`.
 */
export interface Model {
  call(
    request: ModelRequest,
    context: { readonly conversationId: string; readonly signal: AbortSignal },
  ): MaybePromise<ModelStream>;
}

/** Finds the adapter of a model. Throws `model_unknown_provider` or `model_no_key`. */
export interface ModelSource {
  open(ref: ModelRef): MaybePromise<Model>;
}

import type { Json } from '../../base/json.ts';
import type { FactType } from '../../domain/event.ts';

/** Turns a payload of one version into one of the next. */
export type Upcaster = (payload: Json) => Json;

/** By type, then by the version it reads. */
export type Upcasters = { readonly [T in FactType]?: { readonly [version: number]: Upcaster } };

/**
 * Payloads of past versions, one step at a time. Raise a version in `domain/event.ts` and add the step here in the same
 * change; the logs in `test/histories` prove that old ones still read.
 */
export const upcasters: Upcasters = {};

/** The payload as version `to`, or undefined when a step is missing. */
export function upcast(
  type: FactType,
  payload: Json,
  from: number,
  to: number,
  steps: Upcasters = upcasters,
): Json | undefined {
  let current: Json = payload;
  for (let version = from; version < to; version++) {
    const step = steps[type]?.[version];
    if (step === undefined) return undefined;
    current = step(current);
  }
  return current;
}

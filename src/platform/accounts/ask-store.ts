import type { Clock } from '../../base/clock.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';

/** What a store said, or in words why it said nothing. */
export type Asked<T = unknown> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string; readonly cause?: unknown };

/** Milliseconds that a store may take before a turn begins without it. */
export const STORE_TIMEOUT_MS = 2_000;

/** Asks a store that may throw, hang or answer nonsense. Never rejects. */
export function askStore<T>(ask: () => MaybePromise<T>, clock: Clock, timeoutMs: number): MaybePromise<Asked<T>> {
  const failed = (error: unknown): Asked<T> => ({
    ok: false,
    why: `failed (${error instanceof Error ? error.message : String(error)})`,
    cause: error,
  });
  let answer: MaybePromise<T>;
  try {
    answer = ask();
  } catch (error) {
    return failed(error);
  }
  if (!isPromise(answer)) return { ok: true, value: answer };
  const pending = answer;
  return new Promise((resolve) => {
    const stop = clock.after(timeoutMs, () => resolve({ ok: false, why: `did not answer in ${timeoutMs} ms` }));
    pending.then(
      (value) => {
        stop();
        resolve({ ok: true, value });
      },
      (error: unknown) => {
        stop();
        resolve(failed(error));
      },
    );
  });
}

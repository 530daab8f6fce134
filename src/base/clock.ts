/** Milliseconds since 1970-01-01 UTC. */
export type Instant = number;

/** Time as a dependency: tests and the simulation bring their own. */
export interface Clock {
  now(): Instant;
  /** Runs `callback` once after `ms` milliseconds. The returned function takes it back and may be called at any time. */
  after(ms: number, callback: () => void): () => void;
}

/** setTimeout overflows above 2^31 - 1 ms and would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Milliseconds from one instant to another: none where the clock was set back between them. */
export function msBetween(from: Instant, to: Instant): number {
  return Math.max(0, to - from);
}

/** An instant as ISO 8601 in UTC, with milliseconds. */
export function isoTime(at: Instant): string {
  return new Date(at).toISOString();
}

/** The day of an instant in UTC: `2026-11-30`. */
export function dayOf(at: Instant): string {
  return new Date(at).toISOString().slice(0, 10);
}

import type { Instant } from '../../base/clock.ts';

/** Milliseconds that a `Retry-After` asks for, in seconds or as a date. Undefined where it asks for nothing. */
export function retryAfterMs(header: string | null | undefined, now: Instant): number | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

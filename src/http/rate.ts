import type { Clock, Instant } from '../base/clock.ts';
import { Refusal } from './refusal.ts';

export interface RateOptions {
  /** Requests a second that are always fine. 0: no limit. */
  readonly perSecond: number;
  /** Requests that may come at once after a quiet time. */
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  at: Instant;
}

/** Beyond this many callers, the full buckets are forgotten: a new one would be as full. */
const KEPT = 10_000;

/** A bucket of tokens for each caller. Throws `rate_limit_exceeded` when it is empty. */
export function createRateLimit(clock: Clock, { perSecond, burst }: RateOptions): (caller: string) => void {
  const buckets = new Map<string, Bucket>();
  const filled = (bucket: Bucket, now: Instant): number =>
    Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
  return (caller) => {
    if (perSecond <= 0) return;
    const now = clock.now();
    let bucket = buckets.get(caller);
    if (bucket === undefined) {
      if (buckets.size >= KEPT) for (const [name, one] of buckets) if (filled(one, now) >= burst) buckets.delete(name);
      buckets.set(caller, (bucket = { tokens: burst, at: now }));
    }
    bucket.tokens = filled(bucket, now);
    bucket.at = now;
    if (bucket.tokens < 1)
      throw new Refusal('rate_limit_exceeded', undefined, { retryAfter: Math.ceil((1 - bucket.tokens) / perSecond) });
    bucket.tokens -= 1;
  };
}

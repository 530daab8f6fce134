import { z } from 'zod';
import type { Instant } from '../../base/clock.ts';
import { key, requiredKey } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { defer, deny, type Deny } from '../../kernel/verdict.ts';

const config = z.strictObject({
  calls: requiredKey(
    z.int().min(1).max(1_000_000),
    'Model calls that may begin within `per_ms`. Each process counts its own: several that share a store begin as many each.',
  ),
  per_ms: key(z.int().min(100).max(86_400_000), 'Milliseconds of the window, which moves with time.', {
    default: 60_000,
  }),
  mode: key(z.enum(['queue', 'reject']), '`queue`: a call beyond that waits its turn. `reject`: it ends the turn.', {
    default: 'queue',
  }),
  max_pending: key(z.int().min(1).max(1_000_000), 'Calls that may wait at a time; one more is rejected.', {
    default: 1_000,
  }),
  max_wait_ms: key(z.int().min(1), 'A call that would wait for longer is rejected.', { default: 600_000 }),
});

/** After the gates that refuse: a call that does not happen takes nobody's place. */
const LATE = 900;
/** A place in the queue whose run does not come to take it is given up. */
const GRACE_MS = 30_000;

/**
 * Limits how many model calls begin within a time, of all runs that this process drives with the bundle.
 *
 * A call that waits has its time in the log: its run rests until then, holds no worker, and goes on wherever a process takes
 * it up. Who came first is admitted first. Places are this process's own: a run that another one takes up is counted there as
 * if it had just come.
 */
export const rateLimiter = definePlugin({
  id: 'gate.rate_limiter',
  about: 'Limits how many model calls begin within a time: what is beyond waits its turn, or is refused.',
  config,
  example: { calls: 60, per_ms: 60_000, mode: 'queue', max_wait_ms: 120_000 },
  setup(host, { calls, per_ms = 60_000, mode = 'queue', max_pending = 1_000, max_wait_ms = 600_000 }) {
    const { clock } = host;
    /** When calls began, and will begin, in order: at most so many within any window. */
    let slots: Instant[] = [];
    /** By call, the slot that is kept for it. */
    const kept = new Map<string, Instant>();

    function forget(now: Instant): void {
      slots = slots.filter((at) => at > now - per_ms);
      for (const [id, at] of kept) {
        if (at + GRACE_MS > now) continue;
        kept.delete(id);
      }
    }

    /** The earliest time at which one more call fits. */
    function nextSlot(now: Instant): Instant {
      const before = slots.at(-calls);
      return before === undefined ? now : Math.max(now, before + per_ms);
    }

    host.before(
      'before:llm.request',
      ({ iteration, purpose = '' }, { conversation }): Deny | undefined => {
        const now = clock.now();
        forget(now);
        // Attempts and repetitions of one call are asked about under one name, so a place is taken up again.
        const id = `${conversation.id}/${conversation.turn?.id ?? ''}/${iteration}/${purpose}`;
        const own = kept.get(id);
        if (own !== undefined && own > now) return defer(waiting(own - now), own, 'rate_limited');
        if (own !== undefined) {
          kept.delete(id);
          return undefined; // its slot is counted since it was given
        }
        const at = nextSlot(now);
        if (at > now && mode === 'reject')
          return deny(
            `${calls} model calls in ${per_ms} ms are reached; the next may begin in ${at - now} ms`,
            'rate_limited',
          );
        if (at > now && (kept.size >= max_pending || at - now > max_wait_ms))
          return deny(
            `${kept.size} model calls wait already, and this one would wait for ${at - now} ms`,
            'rate_limited',
          );
        slots.push(at);
        if (at === now) return undefined;
        kept.set(id, at);
        return defer(waiting(at - now), at, 'rate_limited');
      },
      { priority: LATE },
    );
  },
});

function waiting(ms: number): string {
  return `too many model calls at a time: this one may begin in ${ms} ms`;
}

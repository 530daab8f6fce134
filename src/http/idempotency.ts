import { sha256 } from '../base/digest.ts';
import type { Claim, IdempotencyStore, StoredReply } from '../kernel/stores.ts';
import type { Logger } from '../kernel/logger.ts';
import { Refusal } from './refusal.ts';

const KEY = /^[A-Za-z0-9._:-]{1,160}$/;

/** How long a holder has. A handler states a fact or two and is done; after a crash, a repetition waits so long. */
const LEASE_MS = 10_000;
const KEEP_MS = 25 * 3_600_000;

/** Throws `invalid_idempotency_key`. */
export function checkedKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (!KEY.test(header)) throw new Refusal('invalid_idempotency_key', undefined, { field: 'Idempotency-Key' });
  return header;
}

/** What the effect itself is known by, so that it comes about once also where its reply was never kept. */
export function effectKey({ scope, key }: Claim): string {
  return sha256(`${scope}\n${key}`);
}

export interface Replied {
  readonly reply: StoredReply;
  /** It had happened before. */
  readonly repeated: boolean;
}

export interface Once {
  /**
   * Runs `work` for the first request with this claim and keeps its reply; whoever repeats it gets that reply. Throws
   * `idempotency_conflict` and `idempotency_in_progress`. What `work` throws is not kept: nothing came of it.
   */
  run(claim: Claim, work: () => Promise<Replied>): Promise<Replied>;
}

export function createOnce(store: IdempotencyStore, owner: string, logger: Logger): Once {
  return {
    async run(claim, work) {
      const outcome = await store.begin(claim, owner, LEASE_MS);
      switch (outcome.state) {
        case 'done':
          return { reply: outcome.reply, repeated: true };
        case 'conflict':
          throw new Refusal('idempotency_conflict', undefined, { field: 'Idempotency-Key' });
        case 'busy':
          throw new Refusal('idempotency_in_progress', undefined, { field: 'Idempotency-Key', retryAfter: 1 });
        case 'yours':
          break;
      }
      let replied: Replied;
      try {
        replied = await work();
      } catch (problem) {
        await settleQuietly(async () => store.abandon(claim, owner), logger);
        throw problem;
      }
      // It has happened, and is told, whether or not it can be remembered: a repetition would do it by the same key.
      await settleQuietly(async () => store.settle(claim, owner, replied.reply, KEEP_MS), logger);
      return replied;
    },
  };
}

async function settleQuietly(work: () => Promise<void>, logger: Logger): Promise<void> {
  try {
    await work();
  } catch (error) {
    logger.warn('a reply could not be kept', { error });
  }
}

import { createHmac } from 'node:crypto';
import type { Webhook, WebhookOptions } from '../../kernel/webhook.ts';
import type { GuardedRequests } from './guarded-requests.ts';
import { retryAfterMs } from './retry-after.ts';

/** What an endpoint answers is of no interest beyond its status. */
const MOST_REPLY_BYTES = 65_536;

/** Posts as the Standard Webhooks specification says: https://www.standardwebhooks.com. */
export function createWebhook({ url, secret, allowHosts, timeoutMs, clock }: WebhookOptions): Webhook {
  let requests: Promise<GuardedRequests> | undefined;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const over = new AbortController();
  return {
    async post(id, body) {
      const timestamp = String(Math.floor(clock.now() / 1000));
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
      try {
        requests ??= import('./guarded-requests.ts').then((net) => net.createGuardedRequests({ allowHosts }));
        const { status, headers } = await (
          await requests
        ).send({
          url: new URL(url),
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'webhook-id': id,
            'webhook-timestamp': timestamp,
            'webhook-signature': `v1,${signature}`,
          },
          body,
          signal: AbortSignal.any([over.signal, AbortSignal.timeout(timeoutMs)]),
          mostBytes: MOST_REPLY_BYTES,
        });
        if (status >= 200 && status < 300) return { state: 'taken', status };
        if (status === 410) return { state: 'gone', status };
        const waitMs = retryAfterMs(headers.get('retry-after'), clock.now());
        return {
          state: 'failed',
          why: `it answered ${status}`,
          status,
          ...(waitMs !== undefined && { retryAfterMs: waitMs }),
        };
      } catch (error) {
        return { state: 'failed', why: reason(error) };
      }
    },
    async close() {
      over.abort();
      await (await requests)?.close();
    },
  };
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}

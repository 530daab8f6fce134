import { z } from 'zod';
import { isoTime } from '../../base/clock.ts';
import { digest, shortDigest } from '../../base/digest.ts';
import { randomIds } from '../../base/ids.ts';
import { key, refuse, requiredKey } from '../../domain/bundle-key.ts';
import type { Fact, FactType } from '../../domain/event.ts';
import { FACT_VERSIONS } from '../../domain/event-types.ts';
import { definePlugin, type Host, type Plugin } from '../../kernel/plugin.ts';
import type { Sent, Webhook, WebhookOptions } from '../../kernel/webhook.ts';
import { turnRef } from './turn-ref.ts';
import { followLog, type Cursors } from './log-follower.ts';

const FACT_TYPES = Object.keys(FACT_VERSIONS) as readonly FactType[]; // its own keys
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

const url = z.string().superRefine((value, context) => {
  const parsed = URL.parse(value);
  const isHttp = parsed?.protocol === 'https:' || parsed?.protocol === 'http:';
  if (parsed !== null && isHttp && parsed.username === '' && parsed.password === '') return;
  refuse(context, { found: 'another text', wanted: 'an address with https: or http:, and no password in it' });
});

const secret = z.string().superRefine((value, context) => {
  const digits = SECRET.exec(value)?.[1];
  const bytes = digits === undefined ? 0 : (digits.replaceAll('=', '').length * 3) >> 2;
  if (bytes >= 24 && bytes <= 64) return;
  // What was found is not told: it may be a secret all the same.
  refuse(context, { found: 'another text', wanted: '`whsec_` and 24 to 64 bytes in base64' });
});

const pattern = z.string().superRefine((value, context) => {
  if (matching([value]).length > 0) return;
  refuse(context, { wanted: 'a type of fact, a prefix such as hitl.*, or *', hint: 'see docs/events.md' });
});

const config = z.strictObject({
  url: requiredKey(url, 'Where facts are posted to.'),
  secret: requiredKey(
    secret,
    'What messages are signed with: `whsec_` and 24 to 64 bytes in base64. Best a variable: `${WEBHOOK_SECRET}`.',
  ),
  types: key(z.array(pattern).min(1), 'Types of facts that are posted, or prefixes such as `hitl.*`.', {
    otherwise: 'every fact',
  }),
  allow_hosts: key(z.array(z.string().min(1)), 'Hosts, with or without a port, that may have private addresses.', {
    otherwise: 'none',
  }),
  timeout_ms: key(z.int().min(100).max(60_000), 'Milliseconds that the endpoint has for one message.', {
    default: 10_000,
  }),
  give_up_ms: key(
    z.int().min(1_000).max(604_800_000),
    'Milliseconds after it was stated until a fact that the endpoint does not take is given up.',
    { default: 86_400_000 },
  ),
  untold: key(
    z.string().min(1),
    'A folder of this process, where it is kept which conversations the endpoint has not heard to their end, so that the next process tells the rest. What was given up lies in `given-up` in it; a file that is moved back up is told anew by the next process.',
    {
      otherwise:
        'one in the data folder; with a database there is none, and a restart forgets what was untold of turns that had ended',
    },
  ),
});

/** The end of a process waits so long for what is on its way. */
const FINISH_MS = 3_000;

/** The hands of the plugin. */
export interface WebhookReach {
  readonly open: (options: WebhookOptions) => Webhook;
  readonly cursors: (...folder: readonly [string, ...string[]]) => Cursors;
}

/**
 * Posts facts to an endpoint, each at least once and in the order of its conversation. After a restart, and after a crash, a
 * conversation goes on with the turn under way or, where a folder keeps the places, with the first fact that may be untold.
 */
export function webhookObserver({ open, cursors }: WebhookReach): Plugin<z.infer<typeof config>> {
  return definePlugin({
    id: 'observer.webhook',
    about:
      'Posts facts to an endpoint, signed as Standard Webhooks, in the order of each conversation and at least once.',
    config,
    example: {
      url: 'https://hooks.example.com/treadle',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      types: ['agent.turn.end', 'hitl.requested'],
    },
    setup(host, { types = ['*'], allow_hosts: allowHosts = [], give_up_ms: giveUpMs = 86_400_000, ...given }) {
      const wanted = new Set<FactType>(matching(types));
      const { log, clock, logger } = host;
      if (log === undefined) {
        for (const type of wanted) host.on(type, () => undefined, { patient: true });
        return undefined;
      }
      const { timeout_ms: timeoutMs = 10_000, untold, ...where } = given;
      const webhook = open({ ...where, allowHosts, timeoutMs, clock });
      const own = host.folder === undefined ? undefined : cursors(host.folder, `webhook-${shortDigest(given.url)}`);
      const follower = followLog({
        ...{ log, clock, logger, giveUpMs, fraction: () => randomIds.fraction() },
        cursors: untold === undefined ? own : cursors(untold),
        wants: ({ type }) => wanted.has(type),
        send: (fact) => delivered(host, new URL(given.url), fact, () => webhook.post(messageId(fact), bodyOf(fact))),
      });
      for (const type of wanted)
        host.on(type, ({ conversationId, seq }) => follower.heard(conversationId, seq), { patient: true });
      host.finish(async () => {
        await new Promise<void>((resolve) => {
          const cancel = clock.after(FINISH_MS, resolve);
          void follower.quiet().then(() => {
            cancel();
            resolve();
          });
        });
        await follower.keep();
      });
      return () => {
        follower.stop();
        webhook.close().catch((error: unknown) => logger.warn('a webhook could not be closed', { error }));
      };
    },
  });
}

/** One attempt, with a span in the trace of the turn that the fact is of, where anybody takes spans. */
async function delivered(
  { telemetry, clock }: Pick<Host, 'telemetry' | 'clock'>,
  { hostname, port, protocol }: URL,
  { conversationId, turnId, type }: Fact,
  post: () => Promise<Sent>,
): Promise<Sent> {
  if (telemetry === undefined || turnId === undefined) return post();
  const span = telemetry.start({
    name: 'POST',
    kind: 'client',
    at: clock.now(),
    labels: {
      'http.request.method': 'POST',
      'server.address': hostname,
      'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
      'gen_ai.conversation.id': conversationId,
      'treadle.fact.type': type,
    },
    parent: turnRef(conversationId, turnId),
  });
  const sent = await post();
  span.set({ 'http.response.status_code': sent.status });
  const failure =
    sent.state === 'failed' ? { type: String(sent.status ?? 'unreachable'), message: sent.why } : undefined;
  span.end(clock.now(), failure);
  return sent;
}

function matching(patterns: readonly string[]): readonly FactType[] {
  return FACT_TYPES.filter((type) =>
    patterns.some((one) => one === '*' || one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1)))),
  );
}

/** The same from whichever process, and without the full stop that parts a signature's text. */
function messageId({ id }: Fact): string {
  return `msg_${digest(id).slice(0, 32)}`;
}

function bodyOf(fact: Fact): string {
  return JSON.stringify({ type: fact.type, timestamp: isoTime(fact.at), data: fact });
}

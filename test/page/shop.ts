// A shop that runs agents every day: runs of every kind, three weeks of spending, budgets that are nearly gone.
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createMemoryLedger } from '../../src/adapters/stores/ledger/memory.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Reply, ScriptFunction } from '../../src/adapters/models/script.ts';
import { systemClock } from '../../src/base/clock.ts';
import { isPromise } from '../../src/base/promise.ts';
import type { WireRun } from '../../src/http/wire.ts';
import type { ModelSource } from '../../src/kernel/model.ts';
import { createMeter } from '../../src/platform/metering/meter.ts';
import { cachedModels } from '../support/cached-model.ts';
import type { Served, ServedOptions } from '../http/server.ts';
import { aPageServer } from './browser.ts';

export const SHOP = path.join(import.meta.dirname, 'fixtures/shop.yaml');
const DAY_MS = 86_400_000;

const act = (name: string, given: Readonly<Record<string, string | number>>) => ({ name, arguments: given });

/** What the model says, by what it is asked. */
function script(): ScriptFunction {
  let overloaded = 0;
  return ({ userText, step }): Reply => {
    if (userText.startsWith('Research')) return research(step);
    if (userText.includes('teapot')) return teapot(step, () => overloaded++ === 0);
    if (userText.includes('stock list')) return stockList(step);
    if (userText.includes('invoice')) return { fault: 'auth' };
    if (userText.includes('wait')) return { text: 'One moment, this takes a while.', delayMs: 3_600_000 };
    if (userText.includes('slowly'))
      return step < 50
        ? { actions: [act('search_articles', { words: `parcel ${step}` })], delayMs: 1_500 }
        : { text: 'Done.' };
    if (userText.includes('delete'))
      return step === 0
        ? {
            actions: [
              act('delete_order', { order: '1042' }),
              act('refund', { order: '1042', amount: 900, reason: 'gone' }),
            ],
            delayMs: 300,
          }
        : { text: 'I may not do that.' };
    if (userText.includes('1042'))
      return step === 0
        ? { actions: [act('find_order', { order: '1042' }), act('track_parcel', { order: '1042' })], delayMs: 700 }
        : { text: 'Order **1042** was handed over at your door at 14:05 today.', delayMs: 600 };
    return { text: 'You are welcome. Is there anything else?', delayMs: 400 };
  };
}

function teapot(step: number, isOverloaded: () => boolean): Reply {
  switch (step) {
    case 0:
      return {
        thinking: 'The order first, then the parcel, then whether there is another one.',
        text: 'I look at your order, at the parcel, and whether we have another teapot.',
        actions: [
          act('find_order', { order: '1037' }),
          act('track_parcel', { order: '1037' }),
          act('search_articles', { words: 'teapot' }),
        ],
        delayMs: 1_400,
      };
    case 1:
      return isOverloaded()
        ? { fault: 'overloaded', delayMs: 500, retryAfterMs: 300 }
        : {
            actions: [
              act('track_parcel', { order: '1099' }),
              act('delegate', {
                agent: 'researcher',
                task: 'Research whether teapots of this supplier were recalled.',
              }),
            ],
            delayMs: 900,
          };
    case 2:
      return {
        actions: [act('refund', { order: '1037', amount: 128, reason: 'The teapot arrived broken.' })],
        delayMs: 1_100,
      };
    default:
      return {
        text: 'I gave **$128** back for the teapot of order 1037. It is with you in two days; you may keep the pieces.',
        delayMs: 1_000,
      };
  }
}

function research(step: number): Reply {
  if (step === 0) return { actions: [act('search_articles', { words: 'recall' })], delayMs: 700 };
  if (step === 1) return { actions: [act('find_order', { order: '1037' })], delayMs: 500 };
  return { text: 'No teapot of this supplier was recalled.', delayMs: 600 };
}

/** Forty actions in fourteen calls. */
function stockList(step: number): Reply {
  if (step === 13) return { text: 'The list is done: 39 articles, two of them out of stock.', delayMs: 500 };
  return {
    actions: [0, 1, 2].map((at) =>
      act(
        at === 2 ? 'reserve_stock' : 'search_articles',
        at === 2 ? { article: `T-${step}`, pieces: 2 } : { words: `oolong ${step * 3 + at}` },
      ),
    ),
    delayMs: 150 + ((step * 90) % 400),
  };
}

/** As the cached models bill, with an output of some length. */
function talkative(inner: ModelSource): ModelSource {
  return {
    async open(...given) {
      const model = await inner.open(...given);
      return {
        call(request, context) {
          const called = model.call(request, context);
          if (isPromise(called)) throw new Error('the cached model answers at once');
          const output = 90 + ((request.messages.length * 53) % 260);
          const longer = (part: Awaited<ReturnType<typeof called.next>>) =>
            part?.type === 'finish' ? { ...part, usage: { ...part.usage, output } } : part;
          return {
            next() {
              const part = called.next();
              return isPromise(part) ? part.then(longer) : longer(part);
            },
            close: () => called.close(),
          };
        },
      };
    },
  };
}

export interface Shop extends Served {
  readonly runs: Readonly<
    Record<'refund' | 'asks' | 'long' | 'failed' | 'running' | 'cancelled' | 'denied' | 'short', string>
  >;
}

export async function aShop(t: Parameters<typeof aPageServer>[0], more: ServedOptions = {}): Promise<Shop> {
  const log = createMemoryLog({ clock: systemClock });
  const ledger = createMemoryLedger({ clock: systemClock });
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const meter = createMeter({ ledger, log, clock: systemClock, logger });
  const budgets = {
    user: { day: { money: '5', tokens: 2_000_000 } },
    users: { bo: { day: { money: '0.08' } }, chidi: { day: { money: '0.90', tokens: 1_000_000 } } },
    tenant: { month: { money: '250' } },
  };
  spend(ledger);
  const served = await aPageServer(t, {
    bundles: [SHOP],
    log,
    environment: { ANTHROPIC_API_KEY: 'none', PATH: process.env['PATH'] },
    models: talkative(cachedModels(script(), systemClock)),
    measures: { metering: { meter, owner: 'test', budgets } },
    ...more,
  });
  const { begin, call } = served;
  const snapshot = async (id: string) => (await call('GET', `/api/v1/runs/${id}`)).body as unknown as WireRun; // as the wire says
  /** Looks rarely: whoever looks often is told to wait. */
  const until = async (id: string, is: (run: WireRun) => boolean): Promise<WireRun> => {
    for (;;) {
      const run = await snapshot(id);
      if (is(run)) return run;
      await wait(150);
    }
  };
  const asked = (id: string) => until(id, (run) => run.requests.length > 0);
  const rest = (id: string) => until(id, (run) => run.terminal);
  const refund = await begin('The teapot of order 1037 arrived broken. Can I have my money back?');
  const answers = (await asked(refund)).requests.map((one) => ({
    request: one.id,
    digest: one.digest,
    decision: 'allow',
  }));
  await call('POST', `/api/v1/runs/${refund}/answers`, { body: answers });
  await rest(refund);
  const model = { provider: 'anthropic', model: 'claude-haiku-4-5' };
  await call('PATCH', '/api/v1/agents/main/selection', { body: { conversation: refund, model, decision: 'accept' } });
  await call('POST', `/api/v1/runs/${refund}/messages`, { body: { content: 'Thank you! And where is order 1042?' } });
  await rest(refund);
  const short = await begin('Where is order 1042?');
  const long = await begin('Go through the stock list and set two of each aside');
  const failed = await begin('Correct the invoice of B-204');
  const denied = await begin('Please delete order 1042 and give me 900 back');
  const cancelled = await begin('Please wait for the carrier to call back');
  const asks = await begin('My teapot of order 1037 has a crack. What can you do?');
  await asked(asks);
  await call('POST', `/api/v1/runs/${cancelled}/stop`, { body: {} });
  for (const one of [short, long, failed, denied, cancelled]) await rest(one);
  const running = await begin('Watch the parcel of order 1042, slowly');
  return { ...served, runs: { refund, asks, long, failed, running, cancelled, denied, short } };
}

/** Four weeks of five users, three agents and two models, less at weekends, and the same each time. */
function spend(ledger: ReturnType<typeof createMemoryLedger>): void {
  const now = systemClock.now();
  const users = ['local', 'ana', 'bo', 'chidi', 'dana'];
  const agents = ['main', 'main', 'researcher', 'main', 'bookkeeper'];
  for (let day = 0; day < 28; day++) {
    const at = now - day * DAY_MS;
    const weekday = new Date(at).getUTCDay();
    for (const [user, name] of users.entries()) {
      const size = (2 + ((day * 7 + user * 5) % 9)) * (weekday === 0 || weekday === 6 ? 0.25 : 1) * (1.4 - day * 0.02);
      const id = `past-${day}-${name}`;
      const agent = agents[(day + user) % agents.length] ?? 'main';
      const model = agent === 'researcher' ? 'claude-haiku-4-5' : 'claude-sonnet-4-6';
      const whole = (count: number): number => Math.round(count * size);
      const usage = { input: whole(1_900), cacheRead: whole(29_000), cacheWrite: whole(3_500), output: whole(1_400) };
      const cost = (0.071 * size * (agent === 'researcher' ? 0.3 : 1)).toFixed(6);
      const one = { provider: 'anthropic', model, usage, cost, failed: false };
      const spender = { conversationId: id, tenant: 'local', userId: name, agent, bundle: 'shop@7', runs: [id] };
      ledger.add(spender, [{ seq: 1, at, call: one, charge: { tokens: whole(35_800), money: cost } }], { through: 1 });
    }
  }
}

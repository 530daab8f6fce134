// A served house with a history: runs that waited, failed and became cold, users who spent, budgets that bind.
import path from 'node:path';
import { createMemoryLedger } from '../../src/adapters/stores/ledger/memory.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Reply, ScriptFunction } from '../../src/adapters/models/script.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createMeter, type Meter } from '../../src/platform/metering/meter.ts';
import { cachedModels } from '../support/cached-model.ts';
import type { Served, ServedOptions } from '../http/server.ts';
import { aPageServer } from './browser.ts';

export const OBSERVATORY = path.join(import.meta.dirname, 'fixtures/observatory.yaml');
const DAY_MS = 86_400_000;

const observe = (instrument: string, ms = 0) => ({ name: 'observe', arguments: { instrument, ms } });

/** A survey in five calls: three instruments, one that fails and a colleague, a line in the log book, and a word on it. */
function script(): ScriptFunction {
  let overloaded = 0;
  return ({ userText, step }): Reply => {
    if (userText.startsWith('read '))
      return step === 0 ? { actions: [observe('sextant', 60)], delayMs: 60 } : { text: 'It reads 41°.' };
    if (!userText.startsWith('survey')) return { text: `You said: ${userText}`, delayMs: 40 };
    switch (step) {
      case 0:
        return {
          thinking: 'Three instruments first.',
          text: 'I look at three instruments.',
          actions: [observe('telescope', 180), observe('thermometer', 60), observe('hygrometer', 120)],
          delayMs: 120,
        };
      case 1:
        return overloaded++ % 2 === 0
          ? { fault: 'overloaded', retryAfterMs: 40 }
          : {
              actions: [
                observe('barometer'),
                { name: 'delegate', arguments: { agent: 'clerk', task: 'read the sextant' } },
              ],
              delayMs: 80,
            };
      case 2:
        return {
          actions: [{ name: 'log_book', arguments: { line: 'Clear; 41° by sextant.', page: 12 } }],
          delayMs: 60,
        };
      default:
        return { text: 'It is **clear**. The barometer does not answer; all else is in the book.', delayMs: 60 };
    }
  };
}

export interface Observatory extends Served {
  readonly ledger: Meter['ledger'];
  /** A survey that waits for a yes. */
  readonly survey: () => Promise<string>;
  /** The same with a yes, and a second turn under another model: its prompt is cold. */
  readonly surveyed: () => Promise<string>;
}

export async function anObservatory(
  t: Parameters<typeof aPageServer>[0],
  more: ServedOptions = {},
): Promise<Observatory> {
  const log = more.log ?? createMemoryLog({ clock: systemClock });
  const ledger = createMemoryLedger({ clock: systemClock });
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const meter = createMeter({ ledger, log, clock: systemClock, logger });
  const budgets = {
    user: { day: { money: '1', tokens: 200_000 } },
    users: { bo: { day: { money: '0.5' } } },
    tenant: { month: { money: '40' } },
  };
  spend(ledger);
  const served = await aPageServer(t, {
    bundles: [OBSERVATORY],
    log,
    environment: { ANTHROPIC_API_KEY: 'none', PATH: process.env['PATH'] },
    models: cachedModels(script(), systemClock),
    measures: { metering: { meter, owner: 'test', budgets } },
    ...more,
  });
  const survey = async (): Promise<string> => {
    const id = await served.begin('survey the sky');
    // It rests once before, while it waits for the run below.
    for (;;) if (((await served.rest(id))['requests'] as unknown[]).length > 0) return id;
  };
  return {
    ...served,
    ledger,
    survey,
    async surveyed() {
      const id = await survey();
      const { requests } = (await served.rest(id)) as { requests: { id: string; digest: string }[] };
      const answers = requests.map((one) => ({ request: one.id, digest: one.digest, decision: 'allow' }));
      await served.call('POST', `/api/v1/runs/${id}/answers`, { body: answers });
      await served.rest(id);
      const model = { provider: 'anthropic', model: 'claude-haiku-4-5' };
      const change = { conversation: id, model, decision: 'accept' };
      await served.call('PATCH', '/api/v1/agents/main/selection', { body: change });
      await served.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'and now?' } });
      await served.rest(id);
      return id;
    },
  };
}

/** Three weeks of three users, two agents and two models, the same each time. */
function spend(ledger: ReturnType<typeof createMemoryLedger>): void {
  const now = systemClock.now();
  for (let day = 0; day < 21; day++)
    for (const [user, name] of ['local', 'ana', 'bo'].entries()) {
      const size = 1 + ((day * 7 + user * 5) % 9);
      const id = `past-${day}-${name}`;
      const agent = (day + user) % 3 === 0 ? 'clerk' : 'main';
      const model = user === 2 ? 'claude-haiku-4-5' : 'claude-sonnet-4-6';
      const usage = { input: 900 * size, cacheRead: 9_000 * size, cacheWrite: 1_500 * size, output: 400 * size };
      const cost = (0.021 * size * (user === 2 ? 0.3 : 1)).toFixed(6);
      const call = { provider: 'anthropic', model, usage, cost, failed: false };
      const spender = { conversationId: id, tenant: 'local', userId: name, agent, bundle: 'observatory@1', runs: [id] };
      const at = now - day * DAY_MS;
      ledger.add(spender, [{ seq: 1, at, call, charge: { tokens: 11_800 * size, money: cost } }], { through: 1 });
    }
}

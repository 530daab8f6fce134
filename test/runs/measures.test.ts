// A host that is measured: cost in snapshots, usage in sums, budgets that end a run and can be raised, figures of all of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import { systemClock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import { budgets as declaredBudgets, type Budgets } from '../../src/platform/metering/budgets.ts';
import { startMeasures, type StartedMeasures } from '../../src/platform/hosting/start-measures.ts';
import { aBundle, ana, withHost, type HostFixture } from './a-host.ts';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const ask: Script = { replies: [{ text: 'Done.', usage: { input: 600, output: 400 } }], repeat: true };
const look: Script = {
  replies: [{ actions: [{ name: 'look', arguments: {} }], usage: { input: 600, output: 400 } }],
  repeat: true,
};
/** A dollar for a thousand tokens, and answers of at most a thousand. */
const bundle = aBundle('prices: { "scripted/*": { input: 1000, output: 1000 } }').replace(
  'model: scripted }',
  'model: scripted, max_tokens: 1000 }',
);

async function measured(
  script: Script,
  body: (fixture: HostFixture & { readonly started: StartedMeasures }) => Promise<void>,
  budgets?: Budgets,
): Promise<void> {
  const log = createMemoryLog({ clock: systemClock });
  const common = { log, logger, clock: systemClock, ids: randomIds, version: '1' };
  const started = await startMeasures({ ...common, environment: {}, budgets });
  const { measures } = started;
  await withHost({ script, bundle, log, measures }, async (fixture) => {
    await started.watch(fixture.host);
    await body({ ...fixture, started });
  });
  await started.stop();
}

const ended = ({ terminal }: { readonly terminal: boolean }): boolean => terminal;

test('a run says what it cost, and usage is summed with what it cost', () =>
  measured(ask, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    assert.deepEqual((await until(run.id, ended)).cost, { amount: '1', currency: 'USD' });
    const cost = { amount: '1', currency: 'USD' } as const;
    assert.deepEqual(await host.runs.usage(ana, { by: 'model' }), [
      {
        key: 'scripted/scripted',
        calls: 1,
        usage: { input: 600, output: 400 },
        cost,
        knownCost: cost,
        unpriced: 0,
        unreported: 0,
      },
    ]);
  }));

test('a run that has reached its budget says which, and goes on once it is raised', () =>
  measured(look, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.', limits: { maxMoney: '4' } });
    const limited = await until(run.id, ended);
    assert.deepEqual([limited.status, limited.stopReason, limited.error?.code], ['error', 'limit', 'max_money']);
    const spent = Number(limited.cost?.amount);
    assert.ok(spent > 0 && spent <= 4, String(spent));
    await host.runs.resume(ana, run.id, { limits: { maxMoney: '8' } });
    const again = await until(run.id, (now) => now.terminal && Number(now.cost?.amount) > spent);
    assert.deepEqual([again.limits, again.error?.code, again.turns], [{ maxMoney: '8' }, 'max_money', 1]);
    assert.ok(Number(again.cost?.amount) <= 8);
  }));

test('a fork has not spent what the first run has', () =>
  measured(ask, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    await until(run.id, ended);
    const { run: copy } = await host.runs.fork(ana, run.id, {});
    await host.runs.say(ana, copy.id, { content: 'Again.' });
    const now = await until(copy.id, ({ terminal, turns }) => terminal && turns === 2);
    assert.equal(now.cost?.amount, '1');
    assert.equal((await host.runs.usage(ana, { by: 'user' }))[0]?.cost?.amount, '2');
  }));

test("a tenant's budget ends the runs of all of its users", () =>
  measured(
    ask,
    async ({ host, until }) => {
      const first = await host.runs.create(ana, { prompt: 'Go.' });
      await until(first.run.id, ended);
      const second = await host.runs.create({ ...ana, userId: 'bo' }, { prompt: 'Go.' });
      const limited = await until(second.run.id, ended);
      assert.deepEqual([limited.status, limited.error?.code], ['error', 'tenant_max_calls']);
    },
    declaredBudgets.parse({ tenant: { day: { calls: 1 } } }),
  ));

test('figures tell of the runs that there are', () =>
  measured(ask, async ({ host, until, started }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    await until(run.id, ended);
    const { text } = await started.figures.read();
    assert.match(text, /^treadle_runs\{status="completed"\} 1$/m);
    assert.match(text, /^treadle_model_tokens_total\{provider="scripted",model="scripted",kind="input"\} 600$/m);
    assert.match(text, /^treadle_queue_waiting 0$/m);
  }));

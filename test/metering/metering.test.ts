// What runs spend, counted and held to budgets: the real loop, gates and ledger, with a model that says what it used.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLedger, type SyncLedger } from '../../src/adapters/stores/ledger/memory.ts';
import { openSqliteLedger } from '../../src/adapters/stores/ledger/sqlite.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Reply, Script } from '../../src/adapters/models/script.ts';
import type { ModelRef } from '../../src/domain/agent.ts';
import type { Conversation } from '../../src/domain/conversation.ts';
import type { RunLimits } from '../../src/domain/run-limits.ts';
import { accountOfRun } from '../../src/kernel/ledger.ts';
import type { ConversationMeta, Log } from '../../src/kernel/log.ts';
import { drive } from '../../src/loop/drive.ts';
import { budgets as declaredBudgets, type Budgets } from '../../src/platform/metering/budgets.ts';
import { installMetering } from '../../src/platform/metering/install.ts';
import { createMeter, type Meter } from '../../src/platform/metering/meter.ts';
import { dyingLog } from '../support/crash-log.ts';
import { aHouse, aTool, lastOf, type House, type HouseOptions } from '../support/house.ts';
import { aClock, type SimulatedClock } from '../support/sim-clock.ts';
import { temporaryFolder } from '../stores/temporary.ts';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const NOON = Date.parse('2026-11-30T12:00:00Z');

/** A dollar for a thousand tokens, in or out. */
const prices = { 'scripted/*': { input: 1_000, output: 1_000 } };
const look: Reply = { actions: [{ name: 'look', arguments: {} }], usage: { input: 100, output: 20 } };
const done: Reply = { text: 'done', usage: { input: 150, cacheRead: 30, output: 10, reasoning: 10 } };

interface Shop {
  readonly house: House;
  readonly ledger: SyncLedger;
  readonly meter: Meter;
  readonly log: Log;
  readonly clock: SimulatedClock;
  /** Says it, and drives until the turn has ended. */
  ask(text: string): Promise<Conversation>;
}

interface ShopOptions extends Omit<HouseOptions, 'log' | 'clock'> {
  readonly clock?: SimulatedClock;
  readonly limits1?: RunLimits;
  readonly budgets?: Budgets;
  readonly ledger?: SyncLedger;
  readonly log?: Log;
  readonly prices?: Parameters<typeof installMetering>[0]['bundle']['prices'];
  readonly owner?: string;
  readonly model?: Partial<ModelRef>;
}

function aShop(options: ShopOptions = {}): Shop {
  const clock = options.clock ?? aClock(NOON);
  const { owner = 'w1', budgets, model } = options;
  const log = options.log ?? createMemoryLog({ clock });
  const ledger = options.ledger ?? createMemoryLedger({ clock });
  const meter = createMeter({ ledger, log, clock, logger });
  void log.create(aMeta('c1'));
  if (options.limits1 !== undefined) {
    void log.post('c1', { type: 'limits.changed', payload: { limits: options.limits1, by: 'ana' } });
  }
  const house = aHouse({
    script: [look, done],
    tools: [aTool('look', () => 'seen', { repeatable: true })],
    agent: { models: [{ provider: 'scripted', model: 'scripted', maxTokens: 100, ...model }] },
    ...options,
    clock,
    log,
    plugins(bus) {
      installMetering({ meter, budgets, owner, bus, bundle: { prices: options.prices ?? prices }, clock, logger });
      options.plugins?.(bus);
    },
  });
  return { house, ledger, meter, log, clock, ask: (text) => clock.until(house.ask(text)) };
}

function aMeta(id: string, more: Partial<ConversationMeta> = {}): ConversationMeta {
  const rest = { agent: 'main', bundle: 'test', userId: 'ana', tenant: 'local', agentPath: 'main', createdAt: 0 };
  return { id, ...rest, ...more };
}

const endOf = async (house: House) => {
  const { turns } = await house.fold();
  const end = turns.at(-1)?.end;
  return [end?.status, end?.stop, end?.error?.code];
};

const today = { by: 'day', tenant: 'local' } as const;

test('every answer and every action is counted, with what it cost', async () => {
  const shop = aShop();
  const { ledger } = shop;
  await shop.ask('go');
  const [row] = ledger.sum(today);
  assert.deepEqual(row, {
    ...{ key: '2026-11-30', calls: 2, failed: 0, actions: 1, unpriced: 0, unreported: 0 },
    usage: { input: 250, cacheRead: 30, output: 30, reasoning: 10 },
    ...{ cost: { amount: '0.32', currency: 'USD' }, knownCost: { amount: '0.32', currency: 'USD' } },
  });
  assert.deepEqual(ledger.costOf('c1'), { amount: '0.32', currency: 'USD' });
  assert.equal(ledger.sum({ by: 'model', tenant: 'local' })[0]?.key, 'scripted/scripted');
});

test('attempts that were billed are counted, and those that were refused cost nothing', async () => {
  const script: Script = [{ fault: 'overloaded' }, { fault: 'cut', text: 'hal' }, done];
  const shop = aShop({ script });
  const { ledger } = shop;
  await shop.ask('go');
  const [row] = ledger.sum(today);
  assert.deepEqual([row?.calls, row?.failed, row?.unreported, row?.cost], [3, 2, 1, undefined]);
  assert.equal(row?.knownCost.amount, '0.2');
});

test('a model without a price leaves the cost unknown, and its tokens known', async () => {
  const shop = aShop({ prices: {}, agent: { models: [{ provider: 'acme', model: 'm' }] } });
  const { ledger } = shop;
  await shop.ask('go');
  const [row] = ledger.sum(today);
  assert.deepEqual([row?.calls, row?.unpriced, row?.cost, row?.usage.input], [2, 2, undefined, 250]);
  assert.equal(ledger.costOf('c1'), undefined);
});

test('wherever a process dies, everything is counted once', async () => {
  const whole = aShop();
  await whole.ask('go');
  const wanted = whole.ledger.sum(today);
  const head = (await whole.house.facts()).length;
  const points = Array.from({ length: head }, (_, at) => at + 1).flatMap((at) =>
    (['before', 'after'] as const).map((when) => ({ at, when })),
  );
  for (const point of points) {
    const clock = aClock(NOON);
    const log = createMemoryLog({ clock });
    const ledger = createMemoryLedger({ clock });
    const dying = dyingLog(log, point);
    const first = aShop({ clock, ledger, log: dying });
    await first.ask('go').catch(() => undefined);
    if (!dying.died) continue;
    // The next process has a meter and a model of its own, and the same ledger and log.
    clock.advance(120_000);
    const second = aShop({ clock, ledger, log, owner: 'w2' });
    await clock.until(second.house.drive({ owner: 'w2' }));
    await second.meter.catchUp();
    const facts = await second.house.facts();
    const calls = facts.filter(({ type }) => type === 'llm.response').length;
    const actions = facts.filter(({ type }) => type === 'tool.invoke').length;
    const [row] = ledger.sum(today);
    assert.deepEqual([row?.calls, row?.actions], [calls, actions], JSON.stringify(point));
    if (calls === 2) assert.deepEqual(ledger.sum(today), wanted, JSON.stringify(point));
  }
});

test('what a dead process left uncounted is found in the log', async () => {
  const shop = aShop();
  const { ledger, log } = shop;
  const deaf = createMeter({ ledger, log, clock: aClock(), logger });
  const other = aHouse({
    log,
    script: [look, done],
    tools: [aTool('look', () => 'seen')],
    agent: { models: [{ provider: 'scripted', model: 's' }] },
  });
  await other.ask('go');
  assert.deepEqual(ledger.sum(today), []);
  await deaf.catchUp();
  await deaf.catchUp();
  assert.equal(ledger.sum({ by: 'model', tenant: 'local' })[0]?.calls, 2);
});

test('a run ends at its budget of tokens, says so, and goes on once it is raised', async () => {
  const limits1 = { maxTokens: 5_000 };
  const shop = aShop({
    limits1,
    script: { replies: [{ ...look, usage: { input: 1_500, output: 20 } }], repeat: true },
  });
  const { house, ledger } = shop;
  await shop.ask('go');
  assert.deepEqual(await endOf(house), ['error', 'limit', 'max_tokens']);
  const spent = ledger.spent(accountOfRun('c1'), '');
  assert.ok(spent.tokens <= 5_000, String(spent.tokens));
  assert.match(
    (await lastOf(house, 'gate.verdict'))?.reason ?? '',
    /^the run's budget is 5000 tokens: \d+ spent; the next call may need \d+$/,
  );
  await house.post({ type: 'limits.changed', payload: { limits: { maxTokens: 10_000 }, by: 'ana' } });
  await house.post({ type: 'cancel.resume', payload: { by: 'ana' } });
  const { turns } = await shop.clock.until(house.drive());
  assert.equal(turns.length, 1);
  assert.ok(ledger.spent(accountOfRun('c1'), '').tokens > 5_000);
});

test('money is a budget too, and a model without a price cannot be held to one', async () => {
  const script = { replies: [look], repeat: true } satisfies Script;
  const bounded = aShop({ limits1: { maxMoney: '1' }, script });
  await bounded.ask('go');
  assert.deepEqual(await endOf(bounded.house), ['error', 'limit', 'max_money']);
  const unknown = aShop({
    limits1: { maxMoney: '1' },
    script,
    prices: {},
    agent: { models: [{ provider: 'acme', model: 'm' }] },
  });
  await unknown.ask('go');
  assert.deepEqual(await endOf(unknown.house), ['error', 'limit', 'price_unknown']);
  assert.deepEqual(unknown.ledger.sum(today), []);
});

test('an answer that would not fit whole is asked for shorter, and stays within the budget', async () => {
  const shop = aShop({ limits1: { maxTokens: 10_000 }, model: { maxTokens: 64_000 }, script: [done] });
  const { house } = shop;
  await shop.ask('go');
  assert.deepEqual(await endOf(house), ['completed', 'finished', undefined]);
  const verdict = await lastOf(house, 'gate.verdict');
  assert.deepEqual([verdict?.gate, verdict?.verdict], ['gate.budget', 'revise']);
  assert.match(verdict?.reason ?? '', /^at most 8192 tokens of output/);
});

test('without a budget nothing is set aside, and no verdict is given', async () => {
  const shop = aShop();
  const { house, ledger } = shop;
  let reserved = 0;
  Object.assign(ledger, { reserve: () => (reserved++, { ok: true }) });
  await shop.ask('go');
  assert.deepEqual([reserved, await lastOf(house, 'gate.verdict')], [0, undefined]);
});

test("a user's and a tenant's budget are reached by all of their runs together, day by day", async () => {
  const clock = aClock(NOON);
  const options = {
    clock,
    budgets: declaredBudgets.parse({ user: { day: { calls: 3 } }, tenant: { month: { calls: 5 } } }),
  };
  const shop = aShop({ ...options, script: { replies: [look, done], repeat: true } });
  const { house, log } = shop;
  const ask = async (id: string, userId: string): Promise<string> => {
    await log.create(aMeta(id, { userId }));
    await log.post(id, { type: 'io.input', payload: { text: 'go', mode: 'message' } });
    const meta = aMeta(id, { userId });
    const lease = await log.take(id, 'w1', 60_000);
    const { turns } = await clock.until(drive(house.ports, meta, lease!));
    await log.release(lease!);
    return turns.at(-1)?.end?.error?.code ?? turns.at(-1)?.end?.status ?? '';
  };
  assert.equal(await ask('a1', 'ana'), 'completed');
  assert.equal(await ask('a2', 'ana'), 'user_max_calls');
  assert.equal(await ask('b1', 'bo'), 'completed');
  assert.equal(await ask('c1x', 'cy'), 'tenant_max_calls');
  clock.advance(24 * 60 * 60_000); // another day, and another month
  assert.equal(await ask('a3', 'ana'), 'completed');
});

test('a budget of actions refuses the action and not the turn', async () => {
  const budgets = declaredBudgets.parse({ user: { day: { actions: 1 } } });
  const shop = aShop({ budgets, script: [look, look, done] });
  const { house, ledger } = shop;
  await shop.ask('go');
  assert.deepEqual(await endOf(house), ['completed', 'finished', undefined]);
  const results = (await house.facts()).flatMap((fact) => (fact.type === 'tool.result' ? [fact.payload] : []));
  assert.deepEqual(
    results.map(({ outcome, error }) => [outcome, error?.code]),
    [
      ['ok', undefined],
      ['refused', 'user_max_actions'],
    ],
  );
  assert.equal(ledger.sum(today)[0]?.actions, 1);
});

test('runs below spend the budget of the run above', async () => {
  const shop = aShop({ limits1: { maxTokens: 1_000 }, script: { replies: [look], repeat: true } });
  const { house, log, ledger } = shop;
  const meta = aMeta('child', { parent: { id: 'c1', action: 'x' }, root: 'c1' });
  await log.create(meta);
  await log.post('child', { type: 'io.input', payload: { text: 'go', mode: 'message' } });
  const { turns } = await shop.clock.until(drive(house.ports, meta, (await log.take('child', 'w1', 60_000))!));
  assert.equal(turns.at(-1)?.end?.error?.code, 'max_tokens');
  const [child, root] = [ledger.spent(accountOfRun('child'), ''), ledger.spent(accountOfRun('c1'), '')];
  assert.deepEqual(child, root);
  await shop.ask('go');
  assert.deepEqual(await endOf(house), ['error', 'limit', 'max_tokens']);
});

test('what a fork begins with is not spent again', async () => {
  const shop = aShop();
  const { house, ledger, log, meter } = shop;
  await shop.ask('go');
  const head = (await house.facts()).length;
  ledger.skip('copy', head);
  await log.fork(aMeta('copy'), 'c1', head);
  await meter.catchUp();
  assert.equal(ledger.sum(today)[0]?.calls, 2);
});

async function race(
  ledger: SyncLedger,
  clock: SimulatedClock,
): Promise<{ readonly spent: number; readonly completed: number }> {
  const budgets = declaredBudgets.parse({ tenant: { day: { tokens: 3_000 } } });
  const script = {
    replies: [{ text: 'x', usage: { input: 50, output: 50 }, delayMs: 1 }],
    repeat: true,
  } satisfies Script;
  const shop = aShop({ ledger, clock, budgets, script });
  const { house, log } = shop;
  const ends = await shop.clock.until(
    Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const meta = aMeta(`r${index}`);
        await log.create(meta);
        await log.post(meta.id, { type: 'io.input', payload: { text: 'go', mode: 'message' } });
        const lease = await log.take(meta.id, 'w1', 60_000);
        const { turns } = await drive(house.ports, meta, lease!);
        return turns.at(-1)?.end?.status;
      }),
    ),
  );
  const [row] = ledger.sum(today);
  const { input = 0, output = 0 } = row?.usage ?? {};
  return { spent: input + output, completed: ends.filter((status) => status === 'completed').length };
}

test('B135 of a hundred runs at once no more are let in than the budget has room for', async (t) => {
  const folder = temporaryFolder(t);
  const clock = aClock(NOON);
  for (const ledger of [createMemoryLedger({ clock }), await openSqliteLedger({ file: `${folder}/race.db`, clock })]) {
    const { spent, completed } = await race(ledger, clock);
    assert.ok(spent <= 3_000, `${spent} of 3000`);
    assert.ok(completed >= 3, `${completed} completed`);
    ledger.close();
  }
});

// `gate.token_budget` on the real ledger: what blocks is set aside with all other budgets, and what does not reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLedger, type SyncLedger } from '../../src/adapters/stores/ledger/memory.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Reply } from '../../src/adapters/models/script.ts';
import { accountOfUser } from '../../src/kernel/ledger.ts';
import { install } from '../../src/kernel/plugin.ts';
import { ceilingsOf } from '../../src/platform/metering/ceilings.ts';
import { installMetering } from '../../src/platform/metering/install.ts';
import { createMeter } from '../../src/platform/metering/meter.ts';
import { createSpending } from '../../src/platform/metering/spending.ts';
import { tokenBudget, type Ceiling } from '../../src/plugins/gates/token-budget.ts';
import { aHouse, aTool, lastOf, type House } from '../support/house.ts';
import { aClock, type SimulatedClock } from '../support/sim-clock.ts';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const DAY_MS = 24 * 60 * 60_000;

interface Shop {
  readonly house: House;
  readonly ledger: SyncLedger;
  readonly clock: SimulatedClock;
  /** Says it and drives; gives the code that the turn ended with. */
  readonly ask: () => Promise<string | undefined>;
}

/** Every answer is 200 tokens, and costs what a dollar for a thousand tokens comes to. */
function aShop(...ceilings: readonly Ceiling[]): Shop {
  const clock = aClock(Date.parse('2026-11-30T12:00:00Z'));
  const log = createMemoryLog({ clock });
  const ledger = createMemoryLedger({ clock });
  const meter = createMeter({ ledger, log, clock, logger });
  const answer: Reply = { text: 'done', usage: { input: 150, output: 50 } };
  const config = { ceilings };
  const house = aHouse({
    clock,
    log,
    tools: [aTool('look', () => 'seen')],
    agent: { models: [{ provider: 'scripted', model: 'large', maxTokens: 100 }] },
    script: { replies: [answer], repeat: true },
    plugins(bus) {
      const spending = createSpending(meter, clock);
      const modelsOf = () => [{ provider: 'scripted', model: 'small', maxTokens: 100 }];
      install(tokenBudget, config, { bus, clock, logger, spending, modelsOf });
      const bundle = { prices: { 'scripted/*': { input: 1_000, output: 1_000 } } };
      installMetering({
        meter,
        owner: 'w1',
        ceilings: ceilingsOf([{ id: tokenBudget.id, config }]),
        bus,
        bundle,
        clock,
        logger,
      });
    },
  });
  const ask = async (): Promise<string | undefined> =>
    (await clock.until(house.ask('go'))).turns.at(-1)?.end?.error?.code;
  return { house, ledger, clock, ask };
}

test('a ceiling of a user blocks before the call that would not fit, and is there again on the next day', async () => {
  const { ask, ledger, clock } = aShop({ of: 'user', per: 'day', tokens: 1_500 });
  const codes: (string | undefined)[] = [];
  for (let turn = 0; turn < 8; turn++) codes.push(await ask());
  assert.equal(codes[0], undefined);
  assert.equal(codes.at(-1), 'user_max_tokens');
  assert.ok(ledger.spent(accountOfUser('local', 'ana'), '2026-11-30').tokens <= 1_500);
  clock.advance(DAY_MS);
  assert.equal(await ask(), undefined);
});

test('a ceiling of a run blocks for all its time, in tokens and in money', async () => {
  for (const [ceiling, code] of [
    [{ of: 'run', tokens: 1_200 }, 'max_tokens'],
    [{ of: 'run', money: 1.2 }, 'max_money'],
  ] as const) {
    const { ask, clock } = aShop(ceiling);
    let last: string | undefined;
    for (let turn = 0; turn < 8; turn++) last = await ask();
    assert.equal(last, code);
    clock.advance(DAY_MS);
    assert.equal(await ask(), code);
  }
});

test('what a user has spent takes a smaller model once it reaches the ceiling, and no sooner', async () => {
  const { ask, house } = aShop({ of: 'user', per: 'day', tokens: 350, on_exceed: 'downgrade', role: 'quick' });
  const models: (string | undefined)[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await ask();
    models.push((await lastOf(house, 'llm.request'))?.model.model);
  }
  assert.deepEqual(models, ['large', 'large', 'small', 'small']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal } from 'decimal.js';
import { DEFAULT_MODELS } from '../../src/adapters/models/default-models.ts';
import { createPriceList } from '../../src/adapters/prices/price-list.ts';
import { LIST_PRICES, PRICES_REVISED } from '../../src/adapters/prices/list-prices.ts';
import { prices as declaredPrices } from '../../src/domain/price.ts';
import type { Usage } from '../../src/domain/usage.ts';

const prices = createPriceList();
const AT = Date.parse('2026-11-30T12:00:00Z');
const sonnet = { provider: 'anthropic', model: 'claude-sonnet-5-5' };

test('a call costs the sum of its parts, exactly', () => {
  const usage: Usage = { input: 1, cacheRead: 3, cacheWrite: 7, cacheWriteLong: 11, output: 13, reasoning: 17 };
  // (1*2 + 3*0.10 + 7*2.50 + 11*4 + 30*10) / 1e6
  assert.equal(prices.cost(sonnet, usage, AT), '0.0003638');
  assert.equal(prices.cost({ provider: 'deepseek', model: 'deepseek-v4-pro' }, { cacheRead: 1 }, AT), '0.000000003625');
});

test('the price of a day is the one that holds on that day', () => {
  const argon = { provider: 'google', model: 'gemini-4-argon' };
  const million: Usage = { output: 1_000_000 };
  assert.equal(prices.cost(argon, million, Date.parse('2026-11-30T23:59:59.999Z')), '10');
  assert.equal(prices.cost(argon, million, Date.parse('2026-12-01T00:00:00Z')), '20');
});

test('a prompt beyond the threshold makes the whole call dearer, cached input counted in', () => {
  const haiku = { provider: 'anthropic', model: 'claude-haiku-5-5' };
  assert.equal(prices.cost(haiku, { input: 100_000, output: 1_000_000 }, AT), '0.51');
  assert.equal(prices.cost(haiku, { input: 1, cacheRead: 100_000, output: 1_000_000 }, AT), '2.5050005');
});

test('an unknown price is unknown, and so is a call of which nothing was reported', () => {
  assert.equal(prices.cost({ provider: 'anthropic', model: 'claude-next' }, { input: 1 }, AT), undefined);
  assert.equal(prices.cost({ provider: 'toString', model: 'x' }, { input: 1 }, AT), undefined);
  assert.equal(prices.cost(sonnet, {}, AT), undefined);
  assert.equal(prices.worstCost({ provider: 'a', model: 'b' }, { input: 1, output: 1 }, AT), undefined);
});

test('a part without a price of its own costs what input costs, but a long cache write is unknown', () => {
  const gpt = { provider: 'openai', model: 'gpt-5.5' };
  assert.equal(prices.cost(gpt, { cacheWrite: 1_000_000 }, AT), '10');
  assert.equal(prices.cost(gpt, { cacheWriteLong: 1 }, AT), undefined);
  assert.equal(prices.cost(gpt, { cacheWriteLong: 0, input: 0 }, AT), '0');
});

test('a snapshot has the price of its model, and what runs at home costs nothing', () => {
  const at = AT;
  const dated = (provider: string, model: string) => prices.cost({ provider, model }, { input: 1_000_000 }, at);
  assert.equal(dated('anthropic', 'claude-haiku-4-5-20251001'), '1');
  assert.equal(dated('anthropic', 'claude-sonnet-4-20250514'), '3');
  assert.equal(dated('openai', 'gpt-4o-2024-08-06'), '2.5');
  assert.equal(dated('ollama', 'qwen3:4b'), '0');
  assert.equal(dated('scripted', 'scripted'), '0');
});

test("a bundle's prices stand over the list, also for all of a provider", () => {
  const own = createPriceList(
    declaredPrices.parse({
      'openai/gpt-5.5': { input: 1, output: '2' },
      'acme/*': { input: 0.1, output: 0.2, long: { above: 10, input: 1, output: 2 } },
    }),
  );
  assert.equal(own.cost({ provider: 'openai', model: 'gpt-5.5' }, { input: 1_000_000, output: 1_000_000 }, AT), '3');
  assert.equal(own.cost({ provider: 'acme', model: 'any' }, { input: 10 }, AT), '0.000001');
  assert.equal(own.cost({ provider: 'acme', model: 'any' }, { input: 11 }, AT), '0.000011');
  assert.equal(own.cost(sonnet, { input: 1_000_000 }, AT), '2');
});

test('no call that stays within its tokens costs more than its worst case', () => {
  for (const [provider, models] of Object.entries(LIST_PRICES)) {
    for (const model of Object.keys(models)) {
      for (const input of [1_000, 500_000]) {
        const worst = new Decimal(prices.worstCost({ provider, model }, { input, output: 100 }, AT) ?? NaN);
        const third = Math.floor(input / 3);
        for (const usage of [
          { input, output: 100 },
          { cacheRead: input, reasoning: 100 },
          { cacheWrite: third, cacheRead: third, input: third, output: 50 },
        ]) {
          const cost = prices.cost({ provider, model }, usage, AT) ?? NaN;
          assert.ok(worst.gte(cost), `${provider}/${model} ${JSON.stringify(usage)}: ${cost} over ${worst.toFixed()}`);
        }
      }
    }
  }
});

test('the list knows the default models, and its days are in order', () => {
  for (const [provider, model] of Object.entries(DEFAULT_MODELS)) {
    assert.notEqual(prices.cost({ provider, model }, { input: 1 }, AT), undefined, model);
    assert.ok((prices.maxOutput({ provider, model }) ?? 0) > 0, model);
  }
  assert.match(PRICES_REVISED, /^\d{4}-\d\d-\d\d$/);
  for (const models of Object.values(LIST_PRICES)) {
    for (const [model, { rates }] of Object.entries(models)) {
      const days = rates.map(({ from }) => from ?? '');
      assert.deepEqual(days, [...days].sort(), model);
      assert.equal(days[0], '', model);
    }
  }
});

// What was spent, by whom, by which agent, and when.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMemoryLedger } from '../../src/adapters/stores/ledger/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { LedgerEntry, Spender } from '../../src/kernel/ledger.ts';
import type { UsageQuery } from '../../src/platform/runs/usage.ts';
import { aCaller, withHost } from './a-host.ts';

const DAY = Date.parse('2026-11-29T10:00:00Z');

function aCall(seq: number, at = DAY): LedgerEntry {
  const call = { provider: 'p', model: 'm', usage: { input: 10 }, cost: '0.1', failed: false };
  return { seq, at, call, charge: { tokens: 10, money: '0.1' } };
}

const aSpender = (id: string, more: Partial<Spender> = {}): Spender => ({
  conversationId: id,
  ...{ tenant: 'local', userId: 'ana', agent: 'main', bundle: 'post', runs: [id] },
  ...more,
});

function withSpending(
  test: (rows: (query: UsageQuery, admin?: boolean) => Promise<readonly string[]>) => Promise<void>,
) {
  const ledger = createMemoryLedger({ clock: systemClock });
  ledger.add(aSpender('c1'), [aCall(1)], { through: 1 });
  ledger.add(aSpender('c2', { userId: 'bo' }), [aCall(1, DAY + 86_400_000)], { through: 1 });
  ledger.add(aSpender('c3', { bundle: 'gone@2' }), [aCall(1), aCall(2)], { through: 2 });
  return withHost({ ledger, drives: false }, async ({ host }) => {
    const [file = ''] = host.bundles.map(({ loaded }) => loaded.file);
    ledger.add(aSpender('c4', { bundle: file }), [aCall(1), aCall(2), aCall(3)], { through: 3 });
    await test(async (query, admin = true) => {
      const rows = await host.runs.usage(aCaller({}, ...(admin ? (['admin'] as const) : (['read'] as const))), query);
      return rows.map(({ key, period, calls, cost }) =>
        `${period ?? ''} ${key} ${calls} ${cost?.amount ?? '?'}`.trim(),
      );
    });
  });
}

describe('usage', () => {
  it('is one row for an agent, by whichever of its names runs name the bundle, and another for its namesake', () =>
    withSpending(async (rows) => {
      assert.deepEqual(await rows({ by: 'agent' }), ['gone@2:main 2 0.2', 'main 5 0.5']);
    }));

  it('can be of one agent, also of one that is not served any more', () =>
    withSpending(async (rows) => {
      assert.deepEqual(await rows({ by: 'user', agent: 'main' }), ['ana 4 0.4', 'bo 1 0.1']);
      assert.deepEqual(await rows({ by: 'user', agent: 'gone@2:main' }), ['ana 2 0.2']);
      assert.deepEqual(await rows({ by: 'user', agent: 'nobody' }), []);
    }));

  it('can be told day by day', () =>
    withSpending(async (rows) => {
      assert.deepEqual(await rows({ by: 'user', per: 'day' }), ['2026-11-29 ana 6 0.6', '2026-11-30 bo 1 0.1']);
      assert.deepEqual(await rows({ by: 'model', per: 'month' }), ['2026-11 p/m 7 0.7']);
    }));

  it('is of another user for an admin alone', () =>
    withSpending(async (rows) => {
      assert.deepEqual(await rows({ by: 'day', user: 'bo' }), ['2026-11-30 1 0.1']);
      assert.deepEqual(await rows({ by: 'day', user: 'bo' }, false), []);
      assert.deepEqual(await rows({ by: 'user' }, false), ['ana 6 0.6']);
    }));

  it('is counted from the logs where there is no ledger', () =>
    withHost({}, async ({ host, until }) => {
      const { run } = await host.runs.create(aCaller(), { prompt: 'hello' });
      await until(run.id, ({ terminal }) => terminal);
      const [row, ...others] = await host.runs.usage(aCaller(), { by: 'agent', per: 'month', agent: 'main' });
      assert.deepEqual([row?.key, row?.calls, row?.cost, others.length], ['main', 1, undefined, 0]);
    }));
});

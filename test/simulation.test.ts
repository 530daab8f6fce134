import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../src/adapters/stores/memory.ts';
import type { Log } from '../src/kernel/log.ts';
import { brokenRules, type Ledger } from './support/invariants.ts';
import { live, world } from './support/life.ts';
import { aClock } from './support/sim-clock.ts';

const seeds = process.env['TREADLE_SEEDS'] === undefined ? 150 : Number(process.env['TREADLE_SEEDS']);
const first = process.env['TREADLE_SEED'] === undefined ? 1 : Number(process.env['TREADLE_SEED']);

test(`conversations of ${seeds} seeds keep every rule through crashes, late answers and meddling`, async () => {
  for (let seed = first; seed < first + seeds; seed++) {
    const { facts, ledger, open } = await live(seed);
    assert.deepEqual({ seed, broken: brokenRules(facts, ledger), open }, { seed, broken: [], open: false });
  }
});

test('a worker that slept past its lease cannot write', async () => {
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const ledger: Ledger = new Map();
  let wake: () => void = () => undefined;
  const asleep = new Promise<void>((resolve) => (wake = resolve));
  const sleeping: Log = { ...log, append: async (...given) => (await asleep, log.append(...given)) };
  const zombie = world(3, sleeping, clock, ledger);
  await zombie.say('go');
  const late = zombie.drive({ owner: 'zombie' });
  late.catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(120_000);
  await clock.until(world(3, log, clock, ledger).drive({ owner: 'heir' }));
  wake();
  await assert.rejects(late, { code: 'log_fenced' });
  assert.deepEqual(brokenRules(log.read('c1', 0, 10_000), ledger), []);
});

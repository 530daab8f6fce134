// What is kept of runs between two questions: little, shared, and never wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock.ts';
import { entriesOf, timelineOf } from '../../src/domain/timeline.ts';
import type { ConversationMeta } from '../../src/kernel/log.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { createFolds } from '../../src/platform/runs/folds.ts';
import { someLog } from './some-log.ts';

const aRun = (id: string, createdAt = 0): ConversationMeta => ({
  id,
  agent: 'main',
  bundle: 'post',
  userId: 'ana',
  tenant: 'local',
  agentPath: 'main',
  createdAt,
});

test('any version that a reader comes back to is the fold of the facts up to it', async () => {
  await fc.assert(
    fc.asyncProperty(someLog(60), fc.array(fc.nat(60), { maxLength: 20 }), async (facts, points) => {
      const log = createMemoryLog({ clock: systemClock });
      const folds = createFolds(log);
      const run = aRun('c1');
      log.create(run);
      for (const { type, payload, turnId, iteration } of facts)
        log.post('c1', { type, payload, turnId, iteration } as Parameters<typeof log.post>[1]); // as it was told
      await folds.read(run);
      const stored = log.read('c1', 0, 1_000);
      for (const point of points.filter((one) => one <= facts.length)) {
        const version = await folds.at(run, point);
        assert.deepEqual(entriesOf(version), entriesOf(timelineOf(stored.slice(0, point))));
      }
    }),
    { numRuns: 50 },
  );
});

test('runs that nobody asks about are let go of, and those that somebody watches are not', async () => {
  const log = createMemoryLog({ clock: systemClock });
  const folds = createFolds(log, { mostRuns: 10, mostEntries: 100 });
  const watched = aRun('watched');
  log.create(watched);
  log.post('watched', { type: 'io.input', payload: { text: 'here', mode: 'message' } });
  const unwatch = folds.watch(watched, () => undefined);
  const first = (await folds.read(watched)).timeline;
  for (let index = 0; index < 200; index++) {
    const run = aRun(`r${index}`);
    log.create(run);
    for (let said = 0; said < 5; said++)
      log.post(run.id, { type: 'io.input', payload: { text: `${said}`, mode: 'message' } });
    await folds.read(run);
    assert.ok(folds.kept <= 100);
  }
  assert.equal((await folds.latest(watched)).timeline, first);
  unwatch();
});

test('a run that was removed and made anew under the same id is another run', async () => {
  const log = createMemoryLog({ clock: systemClock });
  const folds = createFolds(log);
  log.create(aRun('c1', 1));
  log.post('c1', { type: 'io.input', payload: { text: 'old', mode: 'message' } });
  await folds.read(aRun('c1', 1));
  log.remove('c1');
  log.create(aRun('c1', 2));
  log.post('c1', { type: 'io.input', payload: { text: 'new', mode: 'message' } });
  const { timeline } = await folds.read(aRun('c1', 2));
  assert.deepEqual(
    entriesOf(timeline).map(({ text }) => text),
    ['new'],
  );
});

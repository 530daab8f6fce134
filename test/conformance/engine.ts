// What every engine must do, whatever it is made of. An engine's own test is one call of `engineConformance` and its oddities.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import type { MaybePromise } from '../../src/base/promise.ts';
import type { RunStatus } from '../../src/domain/status.ts';
import type { Engine, Slice, SliceControl } from '../../src/kernel/engine.ts';
import type { Log } from '../../src/kernel/log.ts';
import { settle as settleHere } from '../support/house.ts';
import { aClock, type SimulatedClock } from '../support/sim-clock.ts';
import { aConversation, added, say } from './log-samples.ts';

export interface EngineOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly bundles?: readonly string[];
  readonly concurrency?: number;
}

export interface EngineUnderTest {
  readonly openLog: (clock: Clock) => MaybePromise<Log>;
  readonly create: (options: EngineOptions) => Engine;
  /** Conversations that wait in the test of what waiting costs. */
  readonly crowd: number;
  /** Gives everything that is ready its turn, also what comes from elsewhere. */
  readonly settle?: () => Promise<void>;
  /** Told when time has been moved, of an engine that counts it elsewhere too. */
  readonly moved?: (ms: number) => MaybePromise<void>;
  /** How often everything is given its turn after time has moved. */
  readonly steps?: number;
}

/** A clock that says how many alarms are set, and a log that says how often it was asked for work. */
function counted(log: Log, clock: SimulatedClock) {
  const alarms = new Set<object>();
  const counts = { asked: 0 };
  return {
    alarms,
    counts,
    clock: {
      now: () => clock.now(),
      after(ms: number, ring: () => void) {
        const alarm = {};
        alarms.add(alarm);
        const cancel = clock.after(ms, () => {
          alarms.delete(alarm);
          ring();
        });
        return () => {
          alarms.delete(alarm);
          cancel();
        };
      },
    },
    log: { ...log, ready: (...given: Parameters<Log['ready']>) => (counts.asked++, log.ready(...given)) },
  };
}

interface Step {
  readonly status?: RunStatus;
  readonly continueAt?: number;
}

/** The work of a slice without a loop: takes the lease, does what it is told, lets go. */
function slices(
  log: Log,
  owner: string,
  work: (id: string, control: SliceControl) => MaybePromise<Step>,
): { readonly slice: Slice; readonly begun: string[]; readonly under: { now: number; most: number } } {
  const begun: string[] = [];
  const under = { now: 0, most: 0 };
  const slice: Slice = async (id, control) => {
    const lease = await log.take(id, owner, 15_000);
    if (lease === undefined) return 'idle';
    begun.push(id);
    under.most = Math.max(under.most, ++under.now);
    try {
      const head = (await log.find(id))?.head ?? 0;
      const { status = 'completed', continueAt } = await work(id, control);
      added(await log.append(lease, head, [], { status }));
      await log.release(lease, { continueAt });
      return continueAt === undefined ? 'idle' : { continueAt };
    } catch (error) {
      await log.release(lease, { continueAt: 0 });
      throw error;
    } finally {
      under.now--;
    }
  };
  return { slice, begun, under };
}

export function engineConformance(
  name: string,
  { openLog, create: make, crowd, settle = settleHere, moved = () => undefined, steps = 100 }: EngineUnderTest,
): void {
  const engines: Engine[] = [];
  const create: EngineUnderTest['create'] = (options) => {
    const engine = make(options);
    engines.push(engine);
    return engine;
  };

  function fact(title: string, body: (log: Log, clock: SimulatedClock) => Promise<void>): void {
    test(title, async () => {
      const clock = aClock();
      const log = await openLog(clock);
      engines.length = 0;
      try {
        await body(log, clock);
      } catch (broken) {
        // A fact that does not hold leaves its engines running, and they would keep the whole run of tests from its end.
        for (const one of engines) one.stop({ drainMs: 0 }).catch(() => undefined);
        throw broken;
      } finally {
        await log.close();
      }
    });
  }

  const spoken = async (log: Log, ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      await log.create(aConversation(id));
      await log.post(id, say('hello'));
    }
  };

  /** Lets everything happen that would happen within `ms`. */
  const pass = async (clock: SimulatedClock, ms = 0): Promise<void> => {
    await settle();
    for (let step = 0; step < steps; step++) await advance(clock, step === 0 ? ms : 1);
  };

  const advance = async (clock: SimulatedClock, ms: number): Promise<void> => {
    clock.advance(ms);
    await moved(ms);
    await settle();
  };

  describe(`${name}: who gets a slice`, () => {
    fact('a conversation that somebody spoke in, before and after the start, and no other', async (log, clock) => {
      const engine = create({ log, clock });
      const { slice, begun } = slices(log, 'w1', () => ({}));
      await spoken(log, ['before']);
      await log.create(aConversation('silent'));
      await engine.start(slice);
      await pass(clock);
      await spoken(log, ['after']);
      await engine.wake('after');
      await engine.wake('silent');
      await pass(clock);
      assert.deepEqual(begun, ['before', 'after']);
      await engine.stop({ drainMs: 0 });
    });

    fact('every one of many, a few at a time', async (log, clock) => {
      const ids = Array.from({ length: 60 }, (_, index) => `c${index}`);
      await spoken(log, ids);
      const engine = create({ log, clock, concurrency: 5 });
      const { slice, begun, under } = slices(log, 'w1', () => settle().then(() => ({})));
      await engine.start(slice);
      for (let round = 0; round < 20; round++) await pass(clock);
      assert.deepEqual(new Set(begun), new Set(ids));
      assert.equal(begun.length, 60);
      assert.equal(under.most <= 5, true);
      await engine.stop({ drainMs: 0 });
    });

    fact('one that was spoken to during its slice, once more', async (log, clock) => {
      await spoken(log, ['c1']);
      const engine = create({ log, clock });
      let said = false;
      const { slice, begun, under } = slices(log, 'w1', async () => {
        if (!said) await log.post('c1', { type: 'io.input', payload: { text: 'more', mode: 'message' }, key: 'more' });
        await settle();
        if (said) return {};
        said = true;
        throw new Error('the slice did not see it');
      });
      await engine.start(slice);
      await pass(clock); // the slice comes to its end at its own pace, and only then is it tried again
      await pass(clock, 2_000);
      assert.deepEqual(begun, ['c1', 'c1']);
      assert.equal(under.most, 1);
      await engine.stop({ drainMs: 0 });
    });

    fact(
      'one that is spoken to while its slices come and go, until all is heard, a thousand times',
      async (log, clock) => {
        const ids = Array.from({ length: 20 }, (_, index) => `c${index}`);
        for (const id of ids) await log.create(aConversation(id));
        const engine = create({ log, clock });
        const heard = new Map<string, number>();
        const turns = async (most: number): Promise<void> => {
          for (let left = Math.floor(Math.random() * most); left > 0; left--) await new Promise(setImmediate);
        };
        let under = 0;
        await engine.start(async (id) => {
          const lease = await log.take(id, 'w1', 15_000);
          if (lease === undefined) return 'idle';
          under++;
          heard.set(id, (await log.find(id))?.head ?? 0);
          await turns(10);
          await log.release(lease);
          under--;
          return 'idle';
        });
        for (let round = 0; round < 50; round++)
          for (const id of ids) {
            await log.post(id, say('again'));
            await engine.wake(id);
            clock.advance(1);
            await turns(3);
          }
        const isHeard = (): boolean => under === 0 && ids.every((id) => heard.get(id) === 50);
        // Sooner than a sweep would find what was missed.
        for (let round = 0; round < 100 && !isHeard(); round++) await pass(clock);
        assert.deepEqual(new Set(heard.values()), new Set([50]));
        await engine.stop({ drainMs: 0 });
      },
    );

    fact('one of its own bundles, and none of others', async (log, clock) => {
      await spoken(log, ['ours']);
      await log.create(aConversation('theirs', { bundle: 'other@1' }));
      await log.post('theirs', say('hello'));
      const engine = create({ log, clock, bundles: ['workspace@1'] });
      const { slice, begun } = slices(log, 'w1', () => ({}));
      await engine.start(slice);
      await pass(clock, 100_000);
      assert.deepEqual(begun, ['ours']);
      await engine.stop({ drainMs: 0 });
    });

    fact('one whose worker died, once its lease is over', async (log, clock) => {
      await spoken(log, ['c1']);
      await log.take('c1', 'dead', 15_000);
      const engine = create({ log, clock });
      const { slice, begun } = slices(log, 'w1', () => ({}));
      await engine.start(slice);
      await pass(clock, 14_000);
      assert.deepEqual([begun, (await engine.health()).overdueMs], [[], 0]);
      await pass(clock, 1_000);
      assert.deepEqual(begun, ['c1']);
      await engine.stop({ drainMs: 0 });
    });
  });

  describe(`${name}: time`, () => {
    fact('a conversation let go with a time gets its slice then, and not before', async (log, clock) => {
      await spoken(log, ['c1']);
      const engine = create({ log, clock });
      const until = clock.now() + 86_400_000;
      const { slice, begun } = slices(log, 'w1', () =>
        clock.now() < until ? { status: 'pending_action_approval', continueAt: until } : {},
      );
      await engine.start(slice);
      await pass(clock, 80_000_000);
      assert.equal(begun.length, 1);
      await pass(clock, 7_000_000);
      assert.equal(begun.length, 2);
      await engine.stop({ drainMs: 0 });
    });

    fact('a slice that fails is tried again later and later, and holds up nobody', async (log, clock) => {
      await spoken(log, ['bad', 'good']);
      const engine = create({ log, clock });
      const attempts: [number, number][] = [];
      const start = clock.now();
      const { slice, begun } = slices(log, 'w1', (id, { attempt }) => {
        if (id === 'good') return {};
        attempts.push([attempt, clock.now() - start]);
        if (attempt <= 3) throw new Error('no');
        return {};
      });
      await engine.start(slice);
      await pass(clock);
      assert.ok(begun.includes('good'));
      assert.equal((await engine.health()).failing, 1);
      for (let second = 0; second < 20; second++) await pass(clock, 1_000);
      assert.deepEqual(
        attempts.map(([attempt]) => attempt),
        [1, 2, 3, 4],
      );
      const gaps = attempts.slice(1).map(([, at], index) => at - (attempts[index]?.[1] ?? 0));
      assert.ok(
        gaps.every((gap, index) => gap >= 1_000 * 2 ** index),
        gaps.join(),
      );
      assert.equal((await engine.health()).failing, 0);
      await engine.stop({ drainMs: 0 });
    });

    fact(`${crowd} conversations that wait cost one timer and no look until one is due`, async (log, clock) => {
      const due = clock.now() + 86_400_000;
      for (let index = 0; index < crowd; index++) {
        await log.create(aConversation(`c${index}`));
        const lease = await log.take(`c${index}`, 'before', 1_000);
        if (lease === undefined) throw new Error('taken');
        added(await log.append(lease, 0, [], { status: 'pending_action_approval' }));
        await log.release(lease, index % 2 === 0 ? { continueAt: due + index } : {});
      }
      const watched = counted(log, clock);
      const engine = create({ log: watched.log, clock: watched.clock });
      const { slice, begun } = slices(log, 'w1', () => ({}));
      await engine.start(slice);
      await settle();
      assert.equal(watched.alarms.size <= 1, true);
      const before = watched.counts.asked;
      for (let minute = 0; minute < 10; minute++) await advance(clock, 60_000);
      assert.equal(watched.alarms.size <= 1, true);
      // A sweep twice a minute, and nothing that grows with the crowd.
      assert.ok(watched.counts.asked - before <= 20, `${watched.counts.asked - before} looks`);
      assert.deepEqual(begun, []);
      for (const ms of [due - clock.now(), 0, 0]) await advance(clock, ms);
      assert.deepEqual(begun, ['c0']);
      await engine.stop({ drainMs: 0 });
    });
  });

  describe(`${name}: stopping`, () => {
    fact('interrupts what is under way, waits for it, and begins nothing more', async (log, clock) => {
      await spoken(log, ['c1']);
      const engine = create({ log, clock });
      const { slice, begun, under } = slices(
        log,
        'w1',
        (_, { signal }) =>
          new Promise<Step>((resolve) => {
            signal.addEventListener('abort', () => resolve({ status: 'running' }));
          }),
      );
      await engine.start(slice);
      await pass(clock);
      assert.equal((await engine.health()).running, 1);
      await engine.stop({ drainMs: 10_000 });
      assert.equal(under.now, 0);
      await spoken(log, ['c2']);
      await pass(clock, 100_000);
      assert.deepEqual(begun, ['c1']);
      assert.deepEqual(await log.ready(10), ['c1', 'c2'], 'another process can go on');
    });

    fact('does not wait longer than it was told', async (log, clock) => {
      await spoken(log, ['c1']);
      const engine = create({ log, clock });
      const { slice } = slices(log, 'w1', () => new Promise<Step>(() => undefined));
      await engine.start(slice);
      await pass(clock);
      const stopped = engine.stop({ drainMs: 5_000 });
      await pass(clock, 5_000);
      await stopped; // and else the whole test is ended
    });

    fact('one conversation can be interrupted, and goes on afterwards', async (log, clock) => {
      await spoken(log, ['c1', 'c2']);
      const engine = create({ log, clock });
      let interrupted = 0;
      const { slice, begun } = slices(log, 'w1', (id, { signal }) => {
        if (id === 'c2' || interrupted > 0) return {};
        return new Promise<Step>((resolve) => {
          signal.addEventListener('abort', () => {
            interrupted++;
            resolve({ status: 'running' });
          });
        });
      });
      await engine.start(slice);
      await pass(clock);
      await engine.interrupt('c1');
      await engine.interrupt('nobody');
      await pass(clock);
      assert.equal(interrupted, 1);
      assert.deepEqual(begun.filter((id) => id === 'c1').length, 2);
      await engine.stop({ drainMs: 0 });
    });
  });

  describe(`${name}: two on one log`, () => {
    fact('drive each conversation, one writer at a time', async (log, clock) => {
      const ids = Array.from({ length: 40 }, (_, index) => `c${index}`);
      await spoken(log, ids);
      const engines = [create({ log, clock, concurrency: 4 }), create({ log, clock, concurrency: 4 })];
      const inside = new Set<string>();
      const twice: string[] = [];
      const workers = engines.map((_, index) =>
        slices(log, `w${index}`, async (id) => {
          if (inside.has(id)) twice.push(id);
          inside.add(id);
          await settle();
          inside.delete(id);
          return {};
        }),
      );
      await Promise.all(engines.map((engine, index) => engine.start(workers[index]!.slice)));
      for (let round = 0; round < 20; round++) await pass(clock);
      assert.deepEqual(new Set(workers.flatMap(({ begun }) => begun)), new Set(ids));
      assert.deepEqual(twice, []);
      assert.deepEqual(await log.ready(10), []);
      await Promise.all(engines.map((engine) => engine.stop({ drainMs: 0 })));
    });
  });
}

// Whatever people, workers, time and death do in whatever order: log and engines do as the model says.
import assert from 'node:assert/strict';
import path from 'node:path';
import process from 'node:process';
import { after, before, describe, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { createEmbeddedEngine, retryDelayMs } from '../../src/adapters/engines/embedded.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { openPostgresLog } from '../../src/adapters/stores/postgres.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { unreachable } from '../../src/base/assert.ts';
import type { Clock } from '../../src/base/clock.ts';
import { isPromise, type MaybePromise } from '../../src/base/promise.ts';
import type { RunStatus } from '../../src/domain/status.ts';
import type { Engine, SliceEnd } from '../../src/kernel/engine.ts';
import type { Lease, Log } from '../../src/kernel/log.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { aConversation, answer, say } from '../conformance/log-samples.ts';
import { temporaryFolder } from '../stores/temporary.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { aClock } from '../support/sim-clock.ts';
import { Model, type ModelLease } from './model.ts';

const IDS = ['c0', 'c1', 'c2'] as const;
const LEASE_MS = 15_000;
const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

type Order =
  | { readonly do: 'post'; readonly id: number; readonly key: number | undefined }
  | { readonly do: 'append'; readonly slice: number; readonly facts: number; readonly status: RunStatus }
  | { readonly do: 'renew' | 'fail'; readonly slice: number }
  | { readonly do: 'release'; readonly slice: number; readonly unfinished: boolean; readonly after: number | undefined }
  | { readonly do: 'wake'; readonly id: number; readonly worker: number }
  | { readonly do: 'crash' | 'stop'; readonly worker: number }
  | { readonly do: 'pass'; readonly ms: number };

const few = fc.nat(5);
const order: fc.Arbitrary<Order> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('post'), id: few, key: fc.option(fc.nat(2), { nil: undefined }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('append'),
      slice: few,
      facts: fc.nat(2),
      status: fc.constantFrom<RunStatus>('running', 'completed', 'pending_action_approval', 'waiting_for_computation'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('release'),
      slice: few,
      unfinished: fc.boolean(),
      after: fc.option(fc.constantFrom(0, 500, 40_000), { nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(1, 900, LEASE_MS, 60_000) }) },
  fc.record({ do: fc.constantFrom('renew', 'fail'), slice: few }),
  fc.record({ do: fc.constant('wake'), id: few, worker: few }),
  fc.record({ do: fc.constantFrom('crash', 'stop'), worker: few }),
);

/** A slice that was begun and waits to be told what becomes of it. Of a worker that died it writes on, as a zombie does. */
interface Held {
  readonly worker: string;
  readonly id: string;
  readonly attempt: number;
  readonly lease: Lease;
  model: ModelLease;
  readonly end: (how: SliceEnd | Error) => void;
}

interface Opened {
  readonly log: Log;
  /** Lets everything happen that would happen at this moment. */
  readonly settle: () => Promise<void>;
}

async function play(open: (clock: Clock) => Promise<Opened>, orders: readonly Order[]): Promise<void> {
  const clock = aClock();
  const { log, settle } = await open(clock);
  const models = new Map(IDS.map((id) => [id as string, new Model()]));
  const workers: { readonly name: string; readonly engine: Engine }[] = [];
  const begun: Omit<Held, 'model'>[] = [];
  const held: Held[] = [];
  /** Until when a worker leaves a conversation alone that failed there. */
  const rests = new Map<string, number>();
  let born = 0;

  async function hire(): Promise<void> {
    const name = `w${born++}`;
    const engine = createEmbeddedEngine({ log, clock, logger });
    workers.push({ name, engine });
    await engine.start(async (id, { attempt }) => {
      const lease = await log.take(id, name, LEASE_MS);
      if (lease === undefined) return 'idle';
      return new Promise((resolve, reject) => {
        const end: Held['end'] = (how) => (how instanceof Error ? reject(how) : resolve(how));
        begun.push({ worker: name, id, attempt, lease, end });
      });
    });
  }

  const modelOf = (id: string): Model => models.get(id)!;

  /** What was begun since the last look was allowed, and is known to the model from now on. */
  function admit(): void {
    for (const one of begun.splice(0)) {
      const model = modelOf(one.id);
      assert.ok(model.mayTake(one.worker, clock.now()), `${one.worker} took ${one.id}, which somebody holds`);
      assert.ok(model.isFree(clock.now()), `${one.worker} was given ${one.id}, which has no work`);
      assert.equal(one.lease.epoch, model.epoch + 1, `the epoch of ${one.id}`);
      held.push({ ...one, model: model.take(one.worker, one.lease.until) });
    }
  }

  async function agree(): Promise<void> {
    await settle();
    admit();
    clock.advance(1); // what is due at this very moment is looked at in the next
    await settle();
    admit();
    const rows = new Map((await log.list({ limit: 10 })).map((row) => [row.id, row]));
    for (const [id, model] of models) {
      const row = rows.get(id);
      assert.deepEqual([row?.head, row?.status], [model.head, model.status], id);
      if (!model.isFree(clock.now())) continue;
      const idle = workers.filter(
        ({ name }) =>
          !held.some((one) => one.worker === name && one.id === id) && (rests.get(`${name} ${id}`) ?? 0) < clock.now(),
      );
      assert.deepEqual(
        idle.map(({ name }) => name),
        [],
        `${id} has work, and nobody was given it`,
      );
    }
    const free = [...models].filter(([, model]) => model.isFree(clock.now())).map(([id]) => id);
    assert.deepEqual(new Set(await log.ready(10)), new Set(free));
  }

  /** What is left of a life: every fact once and in order, and how many have which status. */
  async function agreeAtLast(): Promise<void> {
    const counts: Partial<Record<RunStatus, number>> = {};
    for (const [id, model] of models) {
      counts[model.status] = (counts[model.status] ?? 0) + 1;
      const texts = (await log.read(id, 0, 1_000)).map(({ payload }) => (payload as { readonly text: string }).text);
      assert.deepEqual(texts, model.facts, id);
    }
    assert.deepEqual({ ...(await log.counts()) }, counts);
  }

  function drop(one: Held, how: SliceEnd | Error): void {
    held.splice(held.indexOf(one), 1);
    one.end(how);
  }

  async function append(one: Held, texts: readonly string[], status: RunStatus): Promise<void> {
    const model = modelOf(one.id);
    const expected = one.model.head;
    const told = await log.append(
      one.lease,
      expected,
      texts.map((text) => answer(text)),
      { status },
    );
    const ought = model.append(one.model, texts, status);
    assert.equal(told.ok ? 'ok' : told.reason, ought);
    if (ought === 'moved') one.model = { ...one.model, head: model.head }; // it reads on
    if (ought === 'fenced') drop(one, 'idle');
  }

  async function release(one: Held, options: { unfinished: boolean; continueAt?: number | undefined }): Promise<void> {
    await log.release(one.lease, options);
    modelOf(one.id).release(one.model, options);
  }

  async function carryOut(given: Order, index: number): Promise<void> {
    const one = 'slice' in given && held.length > 0 ? held[given.slice % held.length] : undefined;
    switch (given.do) {
      case 'post': {
        const id = IDS[given.id % IDS.length]!;
        const key = given.key === undefined ? undefined : `k${given.key}`;
        await log.post(id, say(`said ${index}`, key));
        modelOf(id).post(`said ${index}`, key);
        return;
      }
      case 'append': {
        const texts = Array.from({ length: given.facts }, (_, nth) => `stated ${index}.${nth}`);
        if (one !== undefined) await append(one, texts, given.status);
        return;
      }
      case 'renew': {
        if (one === undefined) return;
        const renewed = await log.renew(one.lease, LEASE_MS);
        assert.equal(renewed !== undefined, modelOf(one.id).renew(one.model, clock.now() + LEASE_MS));
        return;
      }
      case 'fail': {
        if (one === undefined) return;
        const continueAt = clock.now() + retryDelayMs(one.attempt);
        await release(one, { unfinished: false, continueAt });
        rests.set(`${one.worker} ${one.id}`, continueAt + 1);
        drop(one, new Error('the slice failed'));
        return;
      }
      case 'release': {
        if (one === undefined) return;
        const continueAt = given.after === undefined ? undefined : clock.now() + given.after;
        await release(one, { unfinished: given.unfinished, continueAt });
        drop(one, 'idle');
        return;
      }
      case 'wake':
        await workers[given.worker % workers.length]!.engine.wake(IDS[given.id % IDS.length]!);
        return;
      case 'crash':
      case 'stop': {
        const [gone] = workers.splice(given.worker % workers.length, 1);
        void gone?.engine.stop({ drainMs: 0 });
        // Who is told to end lets go of what it has; who dies does not, and what it had under way may still write.
        for (const mine of given.do === 'stop' ? held.filter(({ worker }) => worker === gone?.name) : []) {
          await release(mine, { unfinished: true });
          drop(mine, 'idle');
        }
        await hire();
        return;
      }
      case 'pass':
        clock.advance(given.ms);
        return;
      default:
        unreachable(given);
    }
  }

  try {
    for (const id of IDS) await log.create(aConversation(id));
    await hire();
    await hire();
    for (const [index, one] of orders.entries()) {
      await carryOut(one, index);
      await agree();
    }
    await agreeAtLast();
  } finally {
    for (const { engine } of workers) void engine.stop({ drainMs: 0 });
    for (const { end } of held) end('idle');
    clock.advance(1);
    await settle();
    await log.close();
  }
}

/** The seed is another one each time, and printed: TREADLE_SEED tries one again. */
async function compare(t: TestContext, numRuns: number, open: (clock: Clock) => Promise<Opened>): Promise<void> {
  const seed = Number(process.env['TREADLE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`seed ${seed}, ${numRuns} lives`);
  const orders = fc.array(order, { minLength: 20, maxLength: 50, size: 'max' });
  await fc.assert(
    fc.asyncProperty(orders, (given) => play(open, given)),
    { seed, numRuns },
  );
}

/** The log, with what it is asked counted until it is answered. */
function quietable(log: Log): Opened {
  let underWay = 0;
  const asked = Object.entries(log).map(([name, method]: [string, unknown]) => {
    if (typeof method !== 'function') return [name, method];
    const counted = (...given: unknown[]): MaybePromise<unknown> => {
      const answered: unknown = Reflect.apply(method, log, given);
      if (!isPromise(answered)) return answered;
      underWay++;
      return answered.finally(() => underWay--);
    };
    return [name, counted];
  });
  return {
    log: Object.fromEntries(asked) as Log, // the same methods
    async settle() {
      for (let idle = 0; idle < 4;) {
        await new Promise((resolve) => setImmediate(resolve));
        idle = underWay === 0 ? idle + 1 : 0;
      }
    },
  };
}

const still = () => () => undefined;

test('the memory does as the model says', (t) =>
  compare(t, 300, (clock) => Promise.resolve(quietable(createMemoryLog({ clock })))));

const folder = temporaryFolder({ after });
let files = 0;
test('SQLite does as the model says', (t) =>
  compare(t, 60, async (clock) => {
    const file = path.join(folder, `${files++}.db`);
    return quietable(await openSqliteLog({ file, clock, synchronous: 'normal', schedule: still }));
  }));

describe('PostgreSQL', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  let isMade = false;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.stop());

  test('does as the model says', (t) =>
    compare(t, 20, async (clock) => {
      const url = `${cluster.url}?schema=lives`;
      if (isMade) cluster.sql('TRUNCATE lives.conversations, lives.facts, lives.run_counts');
      isMade = true;
      return quietable(await openPostgresLog({ url, clock, origin: 'test', ownTime: true, schedule: still }));
    }));
});

// What DBOS leaves to whoever runs it, and what goes wrong where it is done wrongly: two engines over one database, as two
// processes would have them, and dead ones made by hand.
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createDbosEngine } from '../../src/adapters/engines/dbos.ts';
import { openDbosQueue } from '../../src/adapters/engines/dbos/queue.ts';
import { createPostgresLog, type PostgresLog } from '../../src/adapters/stores/postgres.ts';
import { openDatabase } from '../../src/adapters/stores/postgres/database.ts';
import { migrate } from '../../src/adapters/stores/postgres/migrate.ts';
import { readDatabaseUrl } from '../../src/adapters/stores/postgres/settings.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { Engine, Slice } from '../../src/kernel/engine.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { aConversation, say } from '../conformance/log-samples.ts';
import { aSignal } from '../support/house.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { aClock } from '../support/sim-clock.ts';
import { anotherSdk } from './dbos-sdk.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const BUNDLE = 'workspace@1';
const LEASE_MS = 400;

interface Scene {
  readonly log: PostgresLog;
  /** An engine as of another process. */
  readonly start: (slice: Slice, options?: { leaseMs?: number; clock?: Clock }) => Promise<Engine>;
  /** Takes the lease, does the work, lets go. */
  readonly slice: (owner: string, work: (id: string) => Promise<void> | void) => Slice;
  readonly sql: (text: string) => string;
  readonly until: (holds: () => boolean) => Promise<void>;
}

describe('the queues of DBOS', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  let schemas = 0;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.stop());

  async function scene(t: TestContext): Promise<Scene> {
    const schema = `s${++schemas}`;
    const database = await openDatabase(readDatabaseUrl(`${cluster.url}?schema=${schema}`));
    await migrate(database);
    const open = () => openDbosQueue({ database, clock: systemClock, logger, sdk: anotherSdk(), lookMs: 20 });
    const queue = await open();
    const log = createPostgresLog(database, { clock: systemClock, origin: 'test' }, queue.outbox);
    const engines: Engine[] = [];
    t.after(async () => {
      await Promise.all(engines.map((engine) => engine.stop({ drainMs: 1_000 })));
      await queue.close();
      await log.close();
    });
    return {
      log,
      async start(slice, { leaseMs = LEASE_MS, clock = systemClock } = {}) {
        const options = { queue: await open(), log, clock, ids: randomIds, logger, bundles: [BUNDLE], leaseMs };
        const engine = createDbosEngine(options);
        engines.push(engine);
        await engine.start(slice);
        return engine;
      },
      slice: (owner, work) => async (id) => {
        const lease = await log.take(id, owner, LEASE_MS);
        if (lease === undefined) return 'idle';
        await work(id);
        await log.release(lease);
        return 'idle';
      },
      sql: (text) => cluster.sql(text.replaceAll('dbos.', `${schema}_dbos.`).replaceAll('log.', `${schema}.`)),
      async until(holds) {
        while (!holds()) await pause(20);
      },
    };
  }

  const rowsOf = ({ sql }: Scene): string =>
    sql(`SELECT DISTINCT queue_name || ' ' || queue_partition_key || ' ' || status FROM dbos.workflow_status`);

  /** As a process leaves it that is killed between taking work up and its end. */
  const takenByTheDead = ({ sql }: Scene): string =>
    sql(`UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = 'dead', owner_xid = 'gone',
      started_at_epoch_ms = 1 WHERE status = 'ENQUEUED'`);

  test('what a dead process had taken up is handed over once, by whichever of two comes first', async (t) => {
    const here = await scene(t);
    await here.log.create(aConversation('c1'));
    await here.log.post('c1', say('hello'));
    takenByTheDead(here);
    const begun: string[] = [];
    const slice = (owner: string): Slice => here.slice(owner, (id) => void begun.push(id));
    await Promise.all([here.start(slice('w1')), here.start(slice('w2'))]);
    await here.until(() => begun.length > 0);
    await pause(LEASE_MS);
    assert.deepEqual([begun, rowsOf(here)], [['c1'], `${BUNDLE} c1 SUCCESS`]);
  });

  test('what is handed over stays in its queue and its partition, so that nothing of it begins beside it', async (t) => {
    const here = await scene(t);
    await here.log.create(aConversation('c1'));
    await here.log.post('c1', say('hello'));
    takenByTheDead(here);
    const go = aSignal();
    let inside = 0;
    let most = 0;
    await here.start(
      here.slice('w1', async () => {
        most = Math.max(most, ++inside);
        await go.promise;
        inside--;
      }),
      { leaseMs: LEASE_MS },
    );
    await here.until(() => inside === 1);
    here.sql(`INSERT INTO dbos.workflow_status (workflow_uuid, status, name, queue_name, queue_partition_key,
      application_version, authenticated_roles) VALUES ('c1/more', 'ENQUEUED', 'slice', '${BUNDLE}', 'c1', 'treadle-1', '[]')`);
    await pause(200);
    const second = here.sql(`SELECT status FROM dbos.workflow_status WHERE workflow_uuid = 'c1/more'`);
    go.resolve();
    assert.deepEqual([second, most], ['ENQUEUED', 1]);
  });

  test('a process that was taken for dead and is not: its slice goes on, and nobody writes beside it', async (t) => {
    const here = await scene(t);
    await here.log.create(aConversation('c1'));
    const go = aSignal();
    const begun: string[] = [];
    // It gives a sign of life each five seconds, and the other one waits for a tenth of that.
    await here.start(
      async (id) => {
        const lease = await here.log.take(id, 'alive', 60_000);
        if (lease === undefined) return 'idle';
        begun.push('alive');
        await go.promise;
        begun.push((await here.log.append(lease, 1, [])).ok ? 'wrote' : 'fenced');
        await here.log.release(lease);
        return 'idle';
      },
      { leaseMs: 60_000 },
    );
    await here.log.post('c1', say('hello'));
    await here.until(() => begun.length > 0);
    await here.start(here.slice('hasty', () => void begun.push('hasty')));
    await here.until(() => here.sql(`SELECT count(*) FROM dbos.workflow_status WHERE status = 'DELAYED'`) === '1');
    go.resolve();
    await here.until(() => begun.length > 1);
    assert.deepEqual(begun, ['alive', 'wrote']);
  });

  test('a claim that was written and never begun is given back by who claimed it', async (t) => {
    const here = await scene(t);
    const begun: string[] = [];
    await here.start(here.slice('w1', (id) => void begun.push(id)));
    const worker = here.sql('SELECT id FROM log.engine_workers');
    await here.log.create(aConversation('c0'));
    await here.log.post('c0', say('hello'));
    await here.until(() => begun.length > 0);
    await here.log.create(aConversation('c1', { bundle: 'elsewhere@1' }));
    await here.log.post('c1', say('hello'));
    here.sql(`UPDATE log.conversations SET bundle = '${BUNDLE}'`);
    here.sql(`UPDATE dbos.workflow_status SET queue_name = '${BUNDLE}', status = 'PENDING', executor_id = '${worker}',
      owner_xid = 'lost', started_at_epoch_ms = 1 WHERE queue_partition_key = 'c1'`);
    await here.until(() => begun.length > 1);
    assert.deepEqual(begun, ['c0', 'c1']);
  });

  test('what a process that knows nothing of DBOS has stated is found', async (t) => {
    const here = await scene(t);
    await here.log.create(aConversation('c1'));
    await here.log.post('c1', say('hello'));
    here.sql('DELETE FROM dbos.workflow_status');
    const begun: string[] = [];
    await here.start(here.slice('w1', (id) => void begun.push(id)));
    await here.until(() => begun.length > 0);
    assert.deepEqual(begun, ['c1']);
  });

  test('what does not come to its end before the drain is over is handed over at once', async (t) => {
    const here = await scene(t);
    await here.log.create(aConversation('c1'));
    await here.log.post('c1', say('hello'));
    const go = aSignal();
    let inside = false;
    const engine = await here.start(
      here.slice('w1', () => {
        inside = true;
        return go.promise;
      }),
    );
    await here.until(() => inside);
    await engine.stop({ drainMs: 50 });
    assert.deepEqual(
      [rowsOf(here), here.sql('SELECT count(*) FROM log.engine_workers')],
      [`${BUNDLE} c1 ENQUEUED`, '0'],
    );
    go.resolve();
    await pause(50);
  });

  test('rows that are finished are removed after an hour, and those that failed after a week', async (t) => {
    const here = await scene(t);
    const clock = aClock();
    await here.log.create(aConversation('c1'));
    await here.log.create(aConversation('c2'));
    const ended = (): string => here.sql(`SELECT count(*) FROM dbos.workflow_status WHERE completed_at IS NOT NULL`);
    await here.start(
      here.slice('w1', (id) => {
        if (id === 'c2') throw new Error('no');
      }),
      { clock, leaseMs: 20_000 },
    );
    for (const id of ['c1', 'c2']) await here.log.post(id, say('hello'));
    await here.until(() => ended() === '2');
    here.sql('UPDATE dbos.workflow_status SET completed_at = completed_at - 4000000 WHERE completed_at IS NOT NULL');
    clock.advance(600_000);
    await here.until(() => ended() === '1');
    assert.equal(here.sql(`SELECT status FROM dbos.workflow_status WHERE completed_at IS NOT NULL`), 'ERROR');
  });

  test('an engine whose database is away for longer than others wait says that it gives no slice', async (t) => {
    const own = await startPostgres();
    t.after(() => own.stop());
    const database = await openDatabase(readDatabaseUrl(own.url));
    await migrate(database);
    const queue = await openDbosQueue({ database, clock: systemClock, logger, sdk: anotherSdk() });
    const log = createPostgresLog(database, { clock: systemClock, origin: 'test' }, queue.outbox);
    const options = { queue, log, clock: systemClock, ids: randomIds, logger, bundles: [BUNDLE], leaseMs: 200 };
    const engine = createDbosEngine(options);
    await engine.start(() => Promise.resolve('idle'));
    engine.check?.();
    await own.kill();
    await pause(1_000);
    assert.throws(() => engine.check?.(), /no look after them/);
    await own.start();
    await pause(1_500);
    engine.check?.();
    await engine.stop({ drainMs: 0 });
    await log.close();
  });
});

import { after, before, describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { createDbosEngine } from '../../src/adapters/engines/dbos.ts';
import { openDbosQueue, type DbosQueue } from '../../src/adapters/engines/dbos/queue.ts';
import { createPostgresLog, type PostgresLog } from '../../src/adapters/stores/postgres.ts';
import { openDatabase, type Database } from '../../src/adapters/stores/postgres/database.ts';
import { migrate } from '../../src/adapters/stores/postgres/migrate.ts';
import { readDatabaseUrl } from '../../src/adapters/stores/postgres/settings.ts';
import type { Clock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { Engine } from '../../src/kernel/engine.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { engineConformance, type EngineOptions } from '../conformance/engine.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { anotherSdk } from './dbos-sdk.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const CONCURRENCY = 4;

describe('the engine on DBOS', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  let looker: Pool;
  let schemas = 0;
  let underWay = 0;
  /** Slices that were begun and have not ended. */
  let inside = 0;
  /** By running engine, the bundles that it drives. */
  const listened = new Map<object, readonly string[]>();
  let database: Database;
  let log: PostgresLog;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.stop());

  function openQueue(clock: Clock): Promise<DbosQueue> {
    return openDbosQueue({ database, clock, logger, sdk: anotherSdk(), concurrency: CONCURRENCY, lookMs: 10 });
  }

  /** The log, with what it is asked counted until it is answered. */
  async function openLog(clock: Clock): Promise<Log> {
    database = await openDatabase(readDatabaseUrl(`${cluster.url}?schema=s${++schemas}`));
    await migrate(database);
    const queue = await openQueue(clock);
    looker = database.ownPool('test') as Pool; // one of pg
    listened.clear();
    const schedule = () => () => undefined;
    log = createPostgresLog(database, { clock, origin: 'test', ownTime: true, schedule }, queue.outbox);
    const asked = Object.entries(log).map(([name, method]: [string, unknown]) => {
      if (typeof method !== 'function') return [name, method];
      return [
        name,
        (...given: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(method, log, given);
          if (!(answer instanceof Promise)) return answer;
          underWay++;
          return answer.finally(() => underWay--);
        },
      ];
    });
    const counted = Object.fromEntries(asked) as Log; // the same methods
    return {
      ...counted,
      async close() {
        await looker.end();
        await queue.close();
        await log.close();
      },
    };
  }

  function create({ clock, log: given, bundles = ['workspace@1'] }: EngineOptions): Engine {
    let engine: Engine | undefined;
    const options = { clock, ids: randomIds, logger, bundles, leaseMs: 15_000, ownTime: true };
    return {
      async start(slice) {
        const queue = await openQueue(clock);
        engine = createDbosEngine({ ...options, queue, log: { ...given, workOf: (id) => log.workOf(id) } });
        listened.set(engine, bundles);
        await engine.start((id, control) => {
          inside++;
          return slice(id, control).finally(() => inside--);
        });
      },
      wake: async (id) => engine?.wake(id),
      interrupt: async (id) => engine?.interrupt(id),
      async stop(how) {
        if (engine !== undefined) listened.delete(engine);
        await engine?.stop(how);
      },
      health: () => engine!.health(),
    };
  }

  /** Whether all that is going to happen without anything from outside has, of rows of DBOS: their times are real. */
  async function isQuiet(): Promise<boolean> {
    const { rows } = await looker.query<{ pending: string; free: string }>(
      `SELECT count(*) FILTER (WHERE w.status = 'PENDING') AS pending, count(*) FILTER (WHERE w.status <> 'PENDING'
        AND NOT EXISTS (SELECT 1 FROM s${schemas}_dbos.workflow_status p
          WHERE p.status = 'PENDING' AND p.queue_partition_key = w.queue_partition_key)) AS free
      FROM s${schemas}_dbos.workflow_status w
      WHERE w.queue_name = ANY ($1) AND (w.status IN ('PENDING', 'ENQUEUED') OR w.status = 'DELAYED'
          AND w.delay_until_epoch_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`,
      [[...listened.values()].flat()],
    );
    const hasRoom = inside < CONCURRENCY * listened.size;
    return Number(rows[0]?.pending) <= inside && (Number(rows[0]?.free) === 0 || !hasRoom);
  }

  engineConformance('dbos, postgres', {
    openLog,
    create,
    crowd: 200,
    steps: 12,
    async moved(ms) {
      await looker.query(
        `UPDATE s${schemas}_dbos.workflow_status SET delay_until_epoch_ms = delay_until_epoch_ms - $1 WHERE status = 'DELAYED'`,
        [ms],
      );
    },
    async settle() {
      // DBOS moves what was for later once a second.
      let quiet = 0;
      for (const late = performance.now() + 1_300; performance.now() < late;) {
        for (let idle = 0; idle < 3;) {
          await new Promise((resolve) => setImmediate(resolve));
          idle = underWay === 0 ? idle + 1 : 0;
        }
        // A look is as old as its answer, so it takes two.
        quiet = (await isQuiet()) ? quiet + 1 : 0;
        if (quiet === 2) return;
        if (quiet === 0) await pause(5);
      }
    },
  });
});

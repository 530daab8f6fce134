import type { DBOSClient } from '@dbos-inc/dbos-sdk';
import type { ClientBase, Pool } from 'pg';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../kernel/logger.ts';
import type { Database } from '../../stores/postgres/database.ts';
import type { Outbox } from '../../stores/postgres/outbox.ts';
import { storedName } from '../../stores/postgres/text.ts';
import { APPLICATION_VERSION, dbosConfig, dbosSchema, loadSdk, LOOK_MS, migrateDbos, type Sdk } from './sdk.ts';

/** What a workflow is called in DBOS. */
export const SLICE = 'slice';

export interface DbosQueueOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Slices of one bundle under way at a time in each process. */
  readonly concurrency?: number | undefined;
  readonly lookMs?: number | undefined;
  /** DBOS is one in a process; tests bring further copies. */
  readonly sdk?: Sdk | undefined;
}

/** The queues of DBOS, beside a log in the same database. A process that drives nothing has them too: it puts work in. */
export interface DbosQueue {
  readonly sdk: Sdk;
  readonly client: DBOSClient;
  readonly database: Database;
  readonly pool: Pool;
  readonly schema: string;
  /** For the log: its facts and the work that they give are written together. */
  readonly outbox: Outbox;
  /** Looks or works no more. What the log still states is put in all the same. */
  close(): Promise<void>;
}

const CONCURRENCY = 500;

/**
 * Opens the queues, and makes or alters the tables of DBOS where the role may.
 *
 * Each bundle has a queue of its own name, so that a process takes up only what it can drive; in it each conversation is a
 * partition, of which one slice runs at a time. Throws `package_missing`, and what the database says.
 */
export async function openDbosQueue(options: DbosQueueOptions): Promise<DbosQueue> {
  const { database, clock, logger, concurrency = CONCURRENCY, lookMs = LOOK_MS } = options;
  const sdk = options.sdk ?? (await loadSdk());
  await migrateDbos(sdk, database, logger);
  const pool = database.ownPool('treadle-dbos') as Pool; // one of pg
  const config = dbosConfig(database, pool, logger);
  const client = await sdk.DBOSClient.create({ ...config, applicationName: config.name });
  const known = new Map<string, Promise<unknown>>();

  /** Registered with the first work for it, in whichever process. */
  function register(queue: string): Promise<unknown> {
    const before = known.get(queue);
    if (before !== undefined) return before;
    const made = client.registerQueue(queue, {
      partitionConcurrency: 1,
      workerConcurrency: concurrency,
      minPollingIntervalMs: lookMs,
    });
    known.set(queue, made);
    made.catch(() => known.delete(queue));
    return made;
  }

  return {
    sdk,
    client,
    database,
    pool,
    schema: dbosSchema(database),
    async outbox({ client: transaction }, { conversationId, bundle, cause, at }) {
      const queueName = storedName(bundle);
      await register(queueName);
      const partition = storedName(conversationId);
      const delayMs = at === undefined ? 0 : at - clock.now();
      await client.enqueueInTransaction(
        transaction as ClientBase, // one of pg
        {
          queueName,
          workflowName: SLICE,
          workflowID: `${partition}/${cause}`,
          queuePartitionKey: partition,
          appVersion: APPLICATION_VERSION,
          ...(delayMs > 0 && { delaySeconds: delayMs / 1_000 }),
        },
        partition,
      );
    },
    async close() {
      await client.destroy();
      await pool.end();
    },
  };
}

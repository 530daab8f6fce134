import type * as Dbos from '@dbos-inc/dbos-sdk';
import type { Pool, PoolClient } from 'pg';
import { TreadleError } from '../../../base/errors.ts';
import type { Logger } from '../../../kernel/logger.ts';
import { optionalPackage } from '../../modules/optional-package.ts';
import type { Database } from '../../stores/postgres/database.ts';
import { postgresError } from '../../stores/postgres/errors.ts';
import { dbosLogger } from './logger.ts';

/** What is used of it. */
export type Sdk = Pick<typeof Dbos, 'DBOS' | 'DBOSClient'>;

/** Rows say which application wrote them, and what may be taken up by whom. */
const APPLICATION = 'treadle';
/**
 * The same across all changes of code: a slice goes on from what the log says, whoever wrote it. Another one would strand
 * what waits, since DBOS hands out work to the version that it was written for.
 */
export const APPLICATION_VERSION = 'treadle-1';
/** DBOS looks this often for work in one queue. */
export const LOOK_MS = 100;
/** It looks for schedules too, of which there are none. */
const SCHEDULES_MS = 3_600_000;

/** With the range of package.json: what is done here beside it, in its tables, is tried with that one. */
export const PACKAGE = '@dbos-inc/dbos-sdk@~5.3.0';

/** Throws `package_missing`. */
export function loadSdk(): Promise<Sdk> {
  return optionalPackage(() => import('@dbos-inc/dbos-sdk'), {
    purpose: 'handing out runs with DBOS',
    needs: [PACKAGE],
  });
}

/** The schema with the tables of DBOS, beside that of the log. */
export function dbosSchema({ settings }: Pick<Database, 'settings'>): string {
  return `${settings.schema.replaceAll('"', '')}_dbos`;
}

/** How the program presents itself to DBOS. */
export function dbosConfig(database: Database, pool: Pool, logger: Logger) {
  return {
    name: APPLICATION,
    applicationVersion: APPLICATION_VERSION,
    systemDatabaseUrl: database.settings.url,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: dbosSchema(database),
    // Nobody waits for messages or events of DBOS, so nothing has to be heard.
    useListenNotify: false,
    schedulerPollingIntervalMs: SCHEDULES_MS,
    logger: dbosLogger(logger),
  } as const;
}

export interface DbosMigrated {
  /** 0: there were no tables. */
  readonly from: number;
  readonly to: number;
}

/**
 * Looks whether the tables of DBOS are such as this version of it wants, and makes or alters them where they are older. Of
 * several processes that start at once, one does it and the others wait.
 *
 * Throws `log_unavailable` where the role may not, and what else the database says.
 */
export async function migrateDbos(sdk: Sdk, database: Database, logger: Logger): Promise<DbosMigrated> {
  const pool = database.ownPool('treadle-dbos', { isPatient: true }) as Pool; // one of pg
  /** Starting it for a moment is the one way to have it look at its tables, or bring them up to date. */
  const launch = async (runMigrations: boolean): Promise<void> => {
    sdk.DBOS.setConfig({
      ...dbosConfig(database, pool, logger),
      runMigrations,
      executorID: 'migrate',
      listenQueues: [],
    });
    try {
      await sdk.DBOS.launch();
    } finally {
      await sdk.DBOS.shutdown({ deregister: true });
    }
  };
  try {
    const from = await versionOf(pool, dbosSchema(database));
    if (from > 0 && (await fits(launch))) return { from, to: from };
    const client = await pool.connect();
    try {
      // Asked again and again: it makes indexes beside running work, which waits for all who wait in a statement.
      while (!(await isFree(client, dbosSchema(database)))) await new Promise((resolve) => setTimeout(resolve, 50));
      await launch(true);
    } finally {
      client.release(true); // and with it the lock
    }
    return { from, to: await versionOf(pool, dbosSchema(database)) };
  } catch (problem) {
    throw told(problem, database);
  } finally {
    await pool.end();
  }
}

async function fits(launch: (runMigrations: boolean) => Promise<void>): Promise<boolean> {
  try {
    await launch(false);
    return true;
  } catch (problem) {
    if (problem instanceof Error && /schema version/.test(problem.message)) return false;
    throw problem;
  }
}

async function isFree(client: PoolClient, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine',
    [`${schema} tables`],
  );
  return rows[0]?.mine === true;
}

async function versionOf(pool: Pool, schema: string): Promise<number> {
  const { rows } = await pool.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
    `"${schema}".dbos_migrations`,
  ]);
  if (rows[0]?.there !== true) return 0;
  const found = await pool.query<{ version: number }>(
    `SELECT max(version)::int AS version FROM "${schema}".dbos_migrations`,
  );
  return found.rows[0]?.version ?? 0;
}

/** DBOS wraps what the database said. */
function told(problem: unknown, database: Database): unknown {
  const { place } = database.settings;
  // Its own errors have what they came of as `error`.
  for (let one: unknown = problem; one instanceof Error; one = 'error' in one ? one.error : one.cause) {
    const known = postgresError(one, place);
    if (!TreadleError.is(known)) continue;
    return new TreadleError(known.code, {
      ...known.detail,
      hint:
        'code' in one && one.code === '42501'
          ? `make the tables of DBOS in the schema ${dbosSchema(database)} with \`treadle migrate --engine dbos\` and a role that may, see “DBOS” in docs/operations.md`
          : known.detail.hint,
      cause: problem,
    });
  }
  return problem;
}

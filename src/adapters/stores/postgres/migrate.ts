import { TreadleError } from '../../../base/errors.ts';
import type { Database, Transaction } from './database.ts';
import { postgresError } from './errors.ts';
import { MIGRATIONS } from './tables.ts';

/** The oldest server that is taken: older ones get no more mending by their makers. */
const OLDEST_SERVER = 140_000;

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * Looks whether server and tables are such as this version wants, and makes or alters the tables where they are older.
 * Of several processes that start at once, one does it and the others wait.
 *
 * Throws `log_version`, `log_unavailable` where the role may not, and what else the database says.
 */
export async function migrate(database: Database): Promise<Migrated> {
  const { schema, place } = database.settings;
  const version = await refuseUnfit(database);
  if (version === MIGRATIONS.length) return { from: version, to: version };
  return database.together(async (transaction) => {
    await transaction.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`treadle ${schema}`]);
    const from = await versionIn(transaction, schema);
    try {
      if (from === 0) await transaction.run(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      if (from === 0) await transaction.run(`CREATE TABLE ${schema}.schema_version (version integer NOT NULL)`);
      for (const step of MIGRATIONS.slice(from)) await transaction.run(step(schema));
      await transaction.run(`DELETE FROM ${schema}.schema_version`);
      await transaction.run(`INSERT INTO ${schema}.schema_version VALUES ($1)`, [MIGRATIONS.length]);
    } catch (problem) {
      const told = postgresError(problem, place);
      throw TreadleError.is(told) ? mayNot(told, database, from) : told;
    }
    return { from, to: MIGRATIONS.length };
  });
}

/** The version of the tables; 0 where there are none. */
async function refuseUnfit(database: Database): Promise<number> {
  const { schema, place } = database.settings;
  const [server] = await database.run<{ version: number; encoding: string }>(
    {
      name: 'server',
      text: `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding`,
    },
    [],
    'some',
  );
  if (server === undefined || server.version < OLDEST_SERVER)
    throw new TreadleError('log_version', {
      place,
      found: `PostgreSQL ${Math.floor((server?.version ?? 0) / 10_000)}`,
      wanted: 'PostgreSQL 14 or newer',
      hint: 'upgrade the server',
    });
  if (server.encoding !== 'UTF8')
    throw new TreadleError('log_unavailable', {
      place,
      found: `a database in ${server.encoding}`,
      wanted: 'one in UTF8',
      hint: 'make it with createdb --encoding=UTF8 --template=template0',
    });
  const version = await database.together((transaction) => versionIn(transaction, schema));
  if (version > MIGRATIONS.length)
    throw new TreadleError('log_version', {
      place,
      found: `version ${version}`,
      wanted: `version ${MIGRATIONS.length} or older`,
      hint: 'update Treadle',
    });
  return version;
}

async function versionIn(transaction: Transaction, schema: string): Promise<number> {
  // From the tables of tables, which are read as of now; what a session remembers of names may be older than a lock.
  const found = await transaction.run(
    `SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = 'schema_version'`,
    [schema.replaceAll('"', '')],
  );
  if (found.length === 0) return 0;
  const [row] = await transaction.run<{ version: number }>(`SELECT version FROM ${schema}.schema_version`);
  return row?.version ?? 0;
}

function mayNot(told: TreadleError, { settings }: Database, from: number): TreadleError {
  if (told.code !== 'log_unavailable') return told;
  return new TreadleError('log_unavailable', {
    place: settings.place,
    found: `${from === 0 ? 'no tables' : `tables of version ${from}`}, and a role that may not make them (${told.detail.found ?? ''})`,
    wanted: `tables of version ${MIGRATIONS.length} in the schema ${settings.schema}`,
    hint: 'run `treadle migrate` with a role that may, see “A role without DDL” in docs/operations.md',
    cause: told,
  });
}

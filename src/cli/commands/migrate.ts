import { openDatabase } from '../../adapters/stores/postgres/database.ts';
import { migrate } from '../../adapters/stores/postgres/migrate.ts';
import { readDatabaseUrl } from '../../adapters/stores/postgres/settings.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { engineName } from '../../platform/hosting/engine.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';

export interface MigrateOptions {
  readonly engine?: string;
}

/** Makes the tables of the database, or brings them up to date: for servers whose own role may not. */
export async function migrateDatabase(
  { terminal, environment }: Context,
  options: MigrateOptions = {},
): Promise<Outcome> {
  const engine = engineName(options.engine, environment);
  const url = environment['DATABASE_URL'] ?? '';
  if (url === '')
    throw new TreadleError('usage', {
      place: 'DATABASE_URL',
      found: 'nothing',
      wanted: 'an address such as postgres://user:password@host:5432/database',
      hint: 'files are brought up to date when they are opened',
    });
  const database = await openDatabase(readDatabaseUrl(url));
  try {
    const { place } = database.settings;
    terminal.out.write(`The tables in ${place} ${told(await migrate(database))}.\n`);
    if (engine === 'dbos') {
      const { dbosSchema, loadSdk, migrateDbos } = await import('../../adapters/engines/dbos/sdk.ts');
      const migrated = await migrateDbos(await loadSdk(), database, silent);
      terminal.out.write(`The tables of DBOS in its schema ${dbosSchema(database)} ${told(migrated)}.\n`);
    }
    return 'completed';
  } finally {
    await database.close();
  }
}

function told({ from, to }: { readonly from: number; readonly to: number }): string {
  return from === to ? `are up to date: version ${to}` : `were brought from version ${from} to ${to}`;
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

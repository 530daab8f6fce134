import { openDatabase } from '../../adapters/stores/postgres/database.ts';
import { migrate } from '../../adapters/stores/postgres/migrate.ts';
import { readDatabaseUrl } from '../../adapters/stores/postgres/settings.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';

/** Makes the tables of the database, or brings them up to date: for servers whose own role may not. */
export async function migrateDatabase({ terminal, environment }: Context): Promise<Outcome> {
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
    const { from, to } = await migrate(database);
    const told = from === to ? `are up to date: version ${to}` : `were brought from version ${from} to ${to}`;
    terminal.out.write(`The tables in ${database.settings.place} ${told}.\n`);
    return 'completed';
  } finally {
    await database.close();
  }
}

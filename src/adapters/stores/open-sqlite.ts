import type { Log } from '../../kernel/log.ts';
import type { SqliteLogOptions } from './sqlite.ts';

/** A log in one SQLite file, for any number of processes of one machine. What it needs is loaded with the first one. */
export async function openSqliteLog(options: SqliteLogOptions): Promise<Log> {
  const sqlite = await import('./sqlite.ts');
  return sqlite.openSqliteLog(options);
}

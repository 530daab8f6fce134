import type { PostgresLog, PostgresLogOptions } from './postgres.ts';

/** A log in a PostgreSQL database, for any number of processes. What it needs is loaded with the first one. */
export async function openPostgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const postgres = await import('./postgres.ts');
  return postgres.openPostgresLog(options);
}

import { TreadleError } from '../../../base/errors.ts';

/** Where a database is and how it is used, from its address. */
export interface DatabaseSettings {
  /** For the driver. */
  readonly url: string;
  /** For people: without the password. */
  readonly place: string;
  /** As it stands in statements: quoted, so that it may be any word. */
  readonly schema: string;
  /** The most connections that one process has. */
  readonly pool: number;
}

const POOL = 10;
const POOL_MAX = 500;

/** Whether an address names a PostgreSQL database. */
function isPostgres(address: string): boolean {
  return /^postgres(ql)?:/i.test(address);
}

/**
 * Reads `postgres://user:password@host:port/database?schema=treadle&pool=10`. `schema` and `pool` are ours, and what else
 * is there, such as `sslmode` or a socket as `host`, is the driver's.
 */
export function readDatabaseUrl(address: string, hint?: string): DatabaseSettings {
  // A socket's folder stands where a host would: postgres:///database?host=/run/postgresql.
  const url = isPostgres(address) ? URL.parse(address) : null;
  if (url === null) {
    throw new TreadleError('usage', {
      place: 'DATABASE_URL',
      found: JSON.stringify(address.replace(/:[^:@/]*@/, ':…@')),
      wanted: 'an address such as postgres://user:password@host:5432/database',
      hint,
    });
  }
  const schema = url.searchParams.get('schema') ?? 'treadle';
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema))
    throw new TreadleError('usage', {
      place: 'DATABASE_URL, schema',
      found: JSON.stringify(schema),
      wanted: 'small letters, digits and _',
    });
  const given = url.searchParams.get('pool');
  const pool = given === null ? POOL : /^\d{1,3}$/.test(given) ? Number(given) : 0;
  if (pool < 2 || pool > POOL_MAX)
    throw new TreadleError('usage', {
      place: 'DATABASE_URL, pool',
      found: JSON.stringify(given),
      wanted: `a number from 2 to ${POOL_MAX}`,
    });
  url.searchParams.delete('schema');
  url.searchParams.delete('pool');
  const shown = new URL(url);
  shown.password = '';
  return { url: url.href, place: shown.href, schema: `"${schema}"`, pool };
}

import type { Pool, PoolClient, PoolConfig, QueryResultRow } from 'pg';
import { TreadleError } from '../../../base/errors.ts';
import { optionalPackage } from '../../modules/optional-package.ts';
import { isLost, isPoolBusy, isRace, postgresError } from './errors.ts';
import type { DatabaseSettings } from './settings.ts';

/** One value of a statement. */
export type Value = string | number | boolean | Buffer | null | readonly (string | number | Buffer | null)[];

/** A statement with a name, so that the server parses and plans it once a connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** What becomes of a statement whose connection is lost, so that nobody knows whether it was carried out. */
export type Patience =
  /** The caller hears of it: carried out twice it would say something else. */
  | 'none'
  /** It is asked again for some seconds: somebody waits for the answer. */
  | 'some'
  /** It is asked again for as long as a restart of the server takes: work that was done would be lost. */
  | 'long';

/** A connection that hears: what we use of the driver's, in words of our own. */
export interface Ear {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'error', listener: (problem: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (heard: { channel: string; payload?: string | undefined }) => void): unknown;
}

/** A thing of `pg`, whose types whoever compiles against us may not have: who uses it says which it is. */
export type DriversOwn = object;

/** One connection inside a transaction. */
export interface Transaction {
  run<R extends object>(text: string, values?: readonly Value[]): Promise<R[]>;
  /** The driver's own, for a library that writes something of its own in this transaction. */
  readonly client: DriversOwn;
}

/** The connections of one process to one database. */
export interface Database {
  readonly settings: DatabaseSettings;
  run<R extends object>(statement: Statement, values: readonly Value[], patience: Patience): Promise<R[]>;
  /** Statements that are carried out together or not at all; all of them again where another process was in the way. */
  together<T>(work: (transaction: Transaction) => Promise<T>, patience?: Patience): Promise<T>;
  /** A connection of its own, for what is heard. Not connected yet. */
  ownClient(): Ear;
  /** Connections for a library that speaks to this database by itself, under a name of its own. Whoever asks ends them. */
  ownPool(name: string, options?: { readonly isPatient?: boolean }): DriversOwn;
  readonly isOpen: boolean;
  close(): Promise<void>;
}

const PATIENCE_MS: Readonly<Record<Patience, number>> = { none: 0, some: 4_000, long: 30_000 };
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
const RACES_MAX = 8;
/** For a connection out of the pool, and for a new one. */
const CONNECT_MS = 5_000;
/** Longer than any statement of ours takes, so that a line that went dead is noticed. */
const STATEMENT_MS = 20_000;

const INT8 = 20;

/** Connects nothing yet. Throws `package_missing`. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const { default: pg } = await optionalPackage(() => import('pg'), {
    purpose: 'keeping runs in PostgreSQL',
    needs: ['pg'],
  });
  // Numbers of ours are times and counts, which a double holds.
  const parser = (oid: number, format?: 'text'): unknown =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format);
  const types = { getTypeParser: parser as typeof pg.types.getTypeParser }; // which has overloads that this fits
  const common = {
    connectionString: settings.url,
    types,
    application_name: 'treadle',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: CONNECT_MS,
  };
  const limits = {
    query_timeout: STATEMENT_MS + 2_000,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
  };
  const newPool = (more: PoolConfig): Pool => {
    const pool: Pool = new pg.Pool({ ...more, max: settings.pool, allowExitOnIdle: true });
    // A connection that dies while nobody uses it is replaced with the next one that is wanted.
    pool.on('error', () => undefined);
    return pool;
  };
  const pool = newPool({ ...common, ...limits });
  let isOpen = true;

  function refuseClosed(): void {
    if (isOpen) return;
    throw new TreadleError('log_unavailable', {
      place: settings.place,
      found: 'a database that was closed',
      wanted: 'an open one',
    });
  }

  async function persistently<T>(work: () => Promise<T>, patience: Patience): Promise<T> {
    const until = performance.now() + PATIENCE_MS[patience];
    let pause = FIRST_PAUSE_MS;
    for (let races = 0; ;) {
      refuseClosed();
      try {
        return await work();
      } catch (problem) {
        if (isRace(problem) && ++races < RACES_MAX) continue;
        if (!(isLost(problem) || isPoolBusy(problem)) || performance.now() + pause > until)
          throw postgresError(problem, settings.place);
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  return {
    settings,
    get isOpen() {
      return isOpen;
    },
    async run<R extends object>({ name, text }: Statement, values: readonly Value[], patience: Patience) {
      const ask = async (): Promise<R[]> =>
        (await pool.query<QueryResultRow>({ name, text, values: [...values] })).rows as R[]; // as the statement says
      return persistently(ask, patience);
    },
    together: (work, patience = 'none') => persistently(() => inTransaction(pool, work), patience),
    ownClient: () => new pg.Client(common),
    // With the driver's own types: what a library expects.
    ownPool: (name, { isPatient = false } = {}) =>
      newPool({ ...common, types: pg.types, application_name: name, ...(isPatient ? {} : limits) }),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await pool.end();
    },
  };
}

async function inTransaction<T>(pool: Pool, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const client: PoolClient = await pool.connect();
  let broken: Error | undefined;
  // While it is ours the pool does not listen to it; the statement that comes next is told the same.
  const lost = (problem: Error): void => void (broken = problem);
  client.on('error', lost);
  try {
    await client.query('BEGIN');
    const result = await work({
      run: async <R extends object>(text: string, values: readonly Value[] = []) =>
        (await client.query<QueryResultRow>(text, [...values])).rows as R[], // as the statement says
      client,
    });
    await client.query('COMMIT');
    return result;
  } catch (problem) {
    try {
      await client.query('ROLLBACK');
    } catch (cause) {
      broken = cause instanceof Error ? cause : new Error(String(cause)); // the pool must not hand it out again
    }
    throw problem;
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
}

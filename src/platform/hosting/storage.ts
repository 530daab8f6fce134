import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type { DbosQueue } from '../../adapters/engines/dbos/queue.ts';
import { lazyNotes, type LazyNotes } from '../../adapters/stores/notes/lazy.ts';
import type { PostgresLog } from '../../adapters/stores/postgres.ts';
import type { Database } from '../../adapters/stores/postgres/database.ts';
import { readDatabaseUrl } from '../../adapters/stores/postgres/settings.ts';
import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { randomIds } from '../../base/ids.ts';
import type { Ledger } from '../../kernel/ledger.ts';
import type { Log, Relay } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ControlStore } from '../../kernel/stores.ts';
import { CONTROL_FILE, dataFolder, isWritable, LOG_FILE, makeDataFolder } from './data-folder.ts';
import type { EngineName } from './engine.ts';
import type { Environment } from '../bundle/environment.ts';

export interface StorageOptions {
  /** A data folder that the caller named: stands over `DATABASE_URL`. */
  readonly data?: string | undefined;
  /** Nothing is kept. */
  readonly memory?: boolean | undefined;
  /** Nothing will be stated: a log that cannot be written will do. */
  readonly reads?: boolean | undefined;
  /** What is to hand out runs, where it keeps something beside the log. */
  readonly engine?: EngineName | undefined;
  readonly environment: Environment;
  readonly logger?: Logger | undefined;
}

/** Where runs are kept, and all that belongs to them. */
export interface Storage {
  readonly log: Log;
  /** The file of the log, where it is one. */
  readonly file: string | undefined;
  /** Where it is, for people; undefined for one that is not kept. */
  readonly place: string | undefined;
  readonly database?: Database | undefined;
  /** On which processes that share it call to each other. */
  readonly relay?: Relay | undefined;
  /** The queues of DBOS, which the log tells of its work. Whoever makes no engine of them closes them. */
  readonly queue?: DbosQueue | undefined;
}

/**
 * The database that runs are kept in, unless a folder was named. An address that cannot be used throws `usage`: runs that
 * go silently to a folder instead would be missed where people look for them.
 */
export function databaseUrl({ data, environment }: Pick<StorageOptions, 'data' | 'environment'>): string | undefined {
  const url = environment['DATABASE_URL'] ?? '';
  if (data !== undefined || url === '') return undefined;
  readDatabaseUrl(url, 'where it is meant for another program, name a folder with --data, or unset it');
  return url;
}

/** Opens the database, or else the data folder. Throws `log_unavailable` and what else opening a log throws. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { memory = false, reads = false, data, environment, logger, engine } = options;
  if (engine === 'dbos') return openQueued(memory ? undefined : databaseUrl(options), logger);
  if (memory) {
    const { createMemoryLog } = await import('../../adapters/stores/memory.ts');
    return { log: createMemoryLog({ clock: systemClock }), file: undefined, place: undefined };
  }
  const url = databaseUrl(options);
  if (url !== undefined) return openShared(url, logger);
  const folder = dataFolder({ named: data, environment, directory: process.cwd() });
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new TreadleError('log_unavailable', {
      place: folder,
      found: 'a file',
      wanted: 'a folder',
      hint: 'name another one with --data or TREADLE_DATA, or keep nothing with --memory',
    });
  }
  const file = path.join(folder, LOG_FILE);
  if (reads && !existsSync(file)) {
    // Whoever only looks leaves no folder behind, such as one of a name that was mistyped.
    const { createMemoryLog } = await import('../../adapters/stores/memory.ts');
    return { log: createMemoryLog({ clock: systemClock }), file, place: file };
  }
  makeDataFolder(folder);
  const { openSqliteLog, openSqliteLogToRead } = await import('../../adapters/stores/sqlite.ts');
  if (reads && existsSync(file) && !(isWritable(file) && isWritable(folder)))
    return { log: openSqliteLogToRead({ file, clock: systemClock }), file, place: file };
  return { log: await openSqliteLog({ file, clock: systemClock }), file, place: file };
}

async function openShared(url: string, logger: Logger | undefined): Promise<Storage> {
  const { openPostgresLog } = await import('../../adapters/stores/postgres.ts');
  const { createRelay } = await import('../../adapters/stores/postgres/relay.ts');
  const log = await openPostgresLog({
    url,
    clock: systemClock,
    origin: randomIds.next('process'),
    onWarning: (message, error) => {
      if (error === undefined) logger?.info(message);
      else logger?.warn(message, { error });
    },
  });
  const { database, line } = log;
  return { log, file: undefined, place: database.settings.place, database, relay: createRelay(database, line) };
}

/** A log in PostgreSQL with the queues of DBOS beside it. */
async function openQueued(url: string | undefined, logger: Logger = silent): Promise<Storage> {
  if (url === undefined)
    throw new TreadleError('usage', {
      place: 'the engine dbos',
      found: 'no PostgreSQL database',
      wanted: 'one in DATABASE_URL, and neither --data nor --memory',
      hint: 'DBOS keeps its queues there, beside the runs',
    });
  const { openPostgresLog } = await import('../../adapters/stores/postgres.ts');
  const { createRelay } = await import('../../adapters/stores/postgres/relay.ts');
  const { openDbosQueue } = await import('../../adapters/engines/dbos/queue.ts');
  let queue: DbosQueue | undefined;
  const log = await openPostgresLog({
    url,
    clock: systemClock,
    origin: randomIds.next('process'),
    onWarning: (message, error) => logger.warn(message, { error }),
    async outboxOf(database) {
      queue = await openDbosQueue({ database, clock: systemClock, logger });
      return queue.outbox;
    },
  });
  const { database, line } = log;
  return { log, file: undefined, place: database.settings.place, database, relay: createRelay(database, line), queue };
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The database that a log is in. */
export function databaseOf(log: Log): Database | undefined {
  return 'database' in log ? (log as PostgresLog).database : undefined; // no other log has one
}

/** What a server keeps besides the log; made where it is missing. To be closed before the log. */
export async function openControlOf({ file, database }: Pick<Storage, 'file' | 'database'>): Promise<ControlStore> {
  if (database !== undefined) {
    const { createPostgresControlStore } = await import('../../adapters/stores/control/postgres.ts');
    return createPostgresControlStore(database);
  }
  if (file === undefined) {
    const { createMemoryControlStore } = await import('../../adapters/stores/control/memory.ts');
    return createMemoryControlStore({ clock: systemClock });
  }
  const { openSqliteControlStore } = await import('../../adapters/stores/control/sqlite.ts');
  return openSqliteControlStore({ file: controlFile(file), clock: systemClock });
}

/** Where plugins of this process keep what has to be there after it: in the data folder, where there is one. */
export function pluginFolder({ file }: Pick<Storage, 'file'>): string | undefined {
  return file === undefined ? undefined : path.join(path.dirname(file), 'plugins');
}

export function controlFile(logFile: string): string {
  return path.join(path.dirname(logFile), CONTROL_FILE);
}

/** What was spent, as it is kept beside the log. */
export async function openLedgerOf({ file, database }: Pick<Storage, 'file' | 'database'>): Promise<Ledger> {
  if (database !== undefined) {
    const { createPostgresLedger } = await import('../../adapters/stores/ledger/postgres.ts');
    return createPostgresLedger(database);
  }
  if (file === undefined) {
    const { createMemoryLedger } = await import('../../adapters/stores/ledger/memory.ts');
    return createMemoryLedger({ clock: systemClock });
  }
  const { openSqliteLedger } = await import('../../adapters/stores/ledger/sqlite.ts');
  return openSqliteLedger({ file: controlFile(file), clock: systemClock });
}

/** Users' notes, opened with the first turn of an agent that remembers. Undefined where nothing is kept. */
export function openNotesOf({ file, database }: Pick<Storage, 'file' | 'database'>): LazyNotes | undefined {
  if (database !== undefined)
    return lazyNotes(async () =>
      (await import('../../adapters/stores/notes/postgres.ts')).createPostgresNotes(database),
    );
  if (file === undefined) return undefined;
  return lazyNotes(async () =>
    (await import('../../adapters/stores/notes/sqlite.ts')).openSqliteNotes({ file: controlFile(file) }),
  );
}

import { statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { TreadleError } from '../../../base/errors.ts';
import { makeFolder } from '../make-folder.ts';
import { isBusy, storeError } from './errors.ts';
import { LOG_FORMAT, type FileFormat } from './format.ts';
import { SQL } from './sql.ts';

/** `full`: what was stated survives a power cut. `normal`: it survives the process, and a power cut may undo the last. */
export type Synchronous = 'full' | 'normal';

/** How often a switch to WAL is tried while others hold the file. SQLite does not wait for that one by itself. */
const RETRY_MS = 10;

/** Once this many bytes are free at the end of the write-ahead log, they are given back. */
const WAL_KEPT_BYTES = 16 * 1024 * 1024;

/**
 * So many pages are carried over into the file at a time: as many as are kept. The few pages that runs under way write to
 * again and again are carried over once then, and with SQLite's own 1,000 four times.
 */
const WAL_PAGES = WAL_KEPT_BYTES / 4096;

/** Opens the file, makes its folder and its tables where they are missing, and brings an older file up to date. */
export async function connect(
  file: string,
  synchronous: Synchronous,
  busyTimeoutMs: number,
  format: FileFormat = LOG_FORMAT,
): Promise<DatabaseSync> {
  let connection: DatabaseSync | undefined;
  try {
    makeFolder(path.dirname(file));
    refuseFolder(file);
    connection = new DatabaseSync(file);
    connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    refuseStranger(connection, file, format);
    await useWriteAheadLog(connection, busyTimeoutMs);
    connection.exec(
      `PRAGMA synchronous = ${synchronous}; PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}; PRAGMA wal_autocheckpoint = ${WAL_PAGES}`,
    );
    migrate(connection, file, format);
    return connection;
  } catch (problem) {
    connection?.close();
    throw storeError(problem, file);
  }
}

/**
 * Opens a file that cannot be written, such as a copy on a medium, and leaves everything as it is.
 *
 * SQLite wants to write beside a file with a write-ahead log even to read it. Where it may not, and nothing is in that log,
 * it is told that nobody writes.
 */
export function connectToRead(file: string, format: FileFormat = LOG_FORMAT): DatabaseSync {
  let connection: DatabaseSync | undefined;
  try {
    refuseFolder(file);
    connection = openedToRead(file);
    refuseStranger(connection, file, format);
    const version = pragma(connection, 'user_version');
    if (version === format.migrations.length) return connection;
    throw new TreadleError('log_version', {
      place: file,
      found: `version ${version}, in a file that cannot be written`,
      wanted: `version ${format.migrations.length}`,
      hint: 'copy it to where it can be written: an older log is brought up to date there',
    });
  } catch (problem) {
    connection?.close();
    throw storeError(problem, file);
  }
}

function openedToRead(file: string): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly: true });
  try {
    pragma(connection, 'schema_version');
    return connection;
  } catch (problem) {
    connection.close();
    const unmerged = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (unmerged > 0) throw problem;
  }
  const address = pathToFileURL(path.resolve(file));
  address.searchParams.set('immutable', '1');
  return new DatabaseSync(address, { readOnly: true });
}

function refuseFolder(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  throw new TreadleError('log_unavailable', {
    place: file,
    found: 'a folder',
    wanted: 'a file',
    hint: `name a file in it, such as ${path.join(file, 'treadle.db')}`,
  });
}

function refuseStranger(connection: DatabaseSync, file: string, { applicationId, what }: FileFormat): void {
  // Whether there are tables is asked first: another process may make them, and its mark with them, between the two.
  if (pragma(connection, 'schema_version') === 0) return;
  if (pragma(connection, 'application_id') === applicationId) return;
  throw new TreadleError('log_unavailable', {
    place: file,
    found: 'a database of another program',
    wanted: `${what}, or no file yet`,
    hint: 'name another file',
  });
}

async function useWriteAheadLog(connection: DatabaseSync, busyTimeoutMs: number): Promise<void> {
  for (let left = busyTimeoutMs; ; left -= RETRY_MS) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (problem) {
      if (!isBusy(problem) || left <= 0) throw problem;
    }
    await pause(RETRY_MS);
  }
}

function migrate(connection: DatabaseSync, file: string, { applicationId, migrations }: FileFormat): void {
  if (pragma(connection, 'user_version') === migrations.length) return;
  // Look again once the lock is ours: of several processes that start on an empty file, one makes the tables.
  connection.exec(SQL.begin);
  try {
    const version = pragma(connection, 'user_version');
    if (version > migrations.length) {
      throw new TreadleError('log_version', {
        place: file,
        found: `version ${version}`,
        wanted: `version ${migrations.length} or older`,
        hint: 'update Treadle, or name another file',
      });
    }
    for (const step of migrations.slice(version)) connection.exec(step);
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    connection.exec(SQL.commit);
  } catch (problem) {
    if (connection.isTransaction) connection.exec(SQL.rollback);
    throw problem;
  }
}

function pragma(connection: DatabaseSync, name: 'application_id' | 'schema_version' | 'user_version'): number {
  return Number(connection.prepare(`PRAGMA ${name}`).get()?.[name]);
}

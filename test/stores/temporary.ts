import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSqliteLog, type SqliteLogOptions } from '../../src/adapters/stores/sqlite.ts';
import type { Log } from '../../src/kernel/log.ts';
import { StillClock } from '../conformance/log-samples.ts';

/** A test, or the `after` of a whole file. */
interface Ending {
  after(undo: () => void): void;
}

/** A folder that goes when the test does. */
export function temporaryFolder(t: Ending): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function temporaryFile(t: Ending): string {
  return path.join(temporaryFolder(t), 'treadle.db');
}

/** A log that closes when the test ends. */
export async function openFor(
  t: Ending,
  options: Pick<SqliteLogOptions, 'file'> & Partial<SqliteLogOptions>,
): Promise<Log> {
  const log = await openSqliteLog({ clock: new StillClock(), ...options });
  t.after(() => void log.close());
  return log;
}

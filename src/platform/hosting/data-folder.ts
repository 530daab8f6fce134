import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { makeFolder } from '../../adapters/stores/make-folder.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Environment } from '../bundle/environment.ts';

/** The file of the log in a data folder. */
export const LOG_FILE = 'treadle.db';

/** The file beside it for what a server keeps: keys, replies, secrets. */
export const CONTROL_FILE = 'server.db';

/** The data folder of a project: beside the bundles whose runs it holds. */
const PROJECT_FOLDER = '.treadle';

export interface DataFolderOptions {
  /** What the caller named; stands over everything else. */
  readonly named?: string | undefined;
  readonly environment: Environment;
  /** Where the caller works. */
  readonly directory: string;
}

/**
 * Where data is kept: what was named, else `TREADLE_DATA`, else `.treadle` in the working directory, else, where that
 * cannot be written, the user's own data folder as the system has it. Nothing is made.
 */
export function dataFolder({ named, environment, directory }: DataFolderOptions): string {
  const wanted = named ?? nonEmpty(environment['TREADLE_DATA']);
  if (wanted !== undefined) return path.resolve(directory, wanted);
  const project = path.join(directory, PROJECT_FOLDER);
  return isWritable(existsSync(project) ? project : directory) ? project : userFolder(environment);
}

/**
 * Makes the folder, readable by its owner alone: it holds what people said.
 *
 * Throws `log_unavailable`.
 */
export function makeDataFolder(folder: string): void {
  try {
    if (existsSync(folder)) return;
    makeFolder(folder, 0o700);
    // A conversation is not source code: keep it out of the repository it happens to lie in.
    if (path.basename(folder) === PROJECT_FOLDER) writeFileSync(path.join(folder, '.gitignore'), '*\n');
  } catch (cause) {
    throw new TreadleError('log_unavailable', {
      place: folder,
      found: cause instanceof Error ? cause.message : String(cause),
      wanted: 'a folder that can be made',
      hint: 'name another one with --data or TREADLE_DATA, or keep nothing with --memory',
      cause,
    });
  }
}

/** Whether this process may write the file or the folder. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function userFolder(environment: Environment): string {
  const home = homedir();
  switch (process.platform) {
    case 'win32':
      return path.join(nonEmpty(environment['LOCALAPPDATA']) ?? path.join(home, 'AppData', 'Local'), 'treadle');
    case 'darwin':
      return path.join(home, 'Library', 'Application Support', 'treadle');
    default:
      // XDG Base Directory Specification: a path that is not absolute is to be ignored.
      return path.join(absolute(environment['XDG_DATA_HOME']) ?? path.join(home, '.local', 'share'), 'treadle');
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function absolute(folder: string | undefined): string | undefined {
  return folder !== undefined && path.isAbsolute(folder) ? folder : undefined;
}

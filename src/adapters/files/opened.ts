import type { BigIntStats } from 'node:fs';
import { constants, lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { FileRefusal } from '../../kernel/files.ts';
import { isOfTheSystem, isWithin, outside, shown } from './path-in-root.ts';

/** The real path of what is named, which has to be in the root also after its links. Undefined where nothing is. */
export async function realInRoot(root: string, target: string, named: string): Promise<string | undefined> {
  let real: string;
  try {
    real = await realpath(target);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw refusal(error, named);
  }
  if (!isWithin(root, real) || isOfTheSystem(root, real)) throw outside(named);
  return real;
}

/**
 * Opens what is at a real path, and nothing that took its place in between: a folder on the way may have become a link, and
 * that is told by what was opened.
 */
export async function openInRoot(root: string, real: string, flags: number, named: string): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    // Without waiting: a pipe that nobody writes to would never open.
    handle = await open(real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw refusal(error, named);
  }
  try {
    if (!(await isWhereItWas(root, real, handle, named))) {
      throw new FileRefusal('outside', `${shown(named)} changed while it was opened.`);
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error instanceof FileRefusal ? error : refusal(error, named);
  }
}

/**
 * Whether the file that is open is the one of this path. Linux says of what is open where it is, whatever a path leads to
 * by now; elsewhere the path is looked up again, before and after.
 */
async function isWhereItWas(root: string, real: string, handle: FileHandle, named: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const where = await readlink(`/proc/self/fd/${handle.fd}`);
    return where === real || where === `${real} (deleted)`; // another content has taken its place since, which is fine
  }
  const before = await realInRoot(root, real, named);
  if (before === undefined) return false;
  const isSameFile = isSame(await handle.stat({ bigint: true }), await lstat(before, { bigint: true }));
  return isSameFile && (await realInRoot(root, real, named)) === before;
}

/**
 * A folder that is held open, so that nothing else takes its place while something is done in it, with the name by which
 * what is in it is reached. Only Linux has such a name; elsewhere it is the path, which was just looked at.
 */
export async function openFolder(
  root: string,
  real: string,
  named: string,
): Promise<{ readonly at: (name: string) => string; close(): Promise<void> }> {
  const handle = await openInRoot(root, real, constants.O_RDONLY | constants.O_DIRECTORY, named);
  const inside = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : real;
  return { at: (name) => path.join(inside, name), close: () => handle.close() };
}

/** True for a link, wherever it leads; false where nothing is. */
export async function isLink(target: string): Promise<boolean> {
  try {
    return (await lstat(target)).isSymbolicLink();
  } catch {
    return false;
  }
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** What the system says, in a form that a model can act on. Its own words name paths that are nobody's business. */
export function refusal(error: unknown, named: string): FileRefusal {
  const name = shown(named);
  switch (codeOf(error)) {
    case 'ENOENT':
      return new FileRefusal('not_found', `There is no ${name}.`);
    case 'ENOTDIR':
      return new FileRefusal('not_a_folder', `${name} goes through something that is not a folder.`);
    case 'EISDIR':
      return new FileRefusal('not_a_file', `${name} is a folder.`);
    case 'ENXIO':
    case 'ENODEV':
      return new FileRefusal('not_a_file', `${name} is not a file.`);
    case 'ELOOP':
      return new FileRefusal('outside', `${name} goes through a symbolic link that cannot be followed.`);
    case 'ENAMETOOLONG':
      return new FileRefusal('bad_path', `${name} has a name that is too long.`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new FileRefusal('not_allowed', `The system does not allow that with ${name}.`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new FileRefusal('not_allowed', `There is no room left for ${name}.`);
    default:
      return new FileRefusal('not_allowed', `${name} cannot be used (${codeOf(error) || 'unknown trouble'}).`);
  }
}

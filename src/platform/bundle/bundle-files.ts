import { readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { TreadleError } from '../../base/errors.ts';

/** Bytes of a bundle, or of a text file that it names. */
const MOST_BYTES = 1_048_576;

/**
 * The text of a file: valid UTF-8, at most 1 MB unless more is allowed, without a byte order mark.
 *
 * Throws `bundle_unreadable` with `place`, which is where the file is named.
 */
export function readText(file: string, place: string, most = MOST_BYTES): string {
  const bytes = attempt(place, () => {
    const status = statSync(file);
    if (status.isDirectory()) throw unreadable(place, 'a directory', 'a file');
    if (!status.isFile()) throw unreadable(place, 'something that is not a file', 'a file');
    if (status.size > most) throw unreadable(place, `${status.size} bytes`, `at most ${most} bytes`);
    return readFileSync(file);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // drops a byte order mark
  } catch (cause) {
    throw new TreadleError('bundle_unreadable', {
      place,
      found: 'bytes that are not UTF-8',
      wanted: 'UTF-8 text',
      hint: 'save the file as UTF-8',
      cause,
    });
  }
}

/**
 * The real path of a file that a bundle names, which has to be in the folder of the bundle, also after symbolic links.
 *
 * Throws `bundle_unreadable`, which quotes the name as `shown`.
 */
export function insideFolder(folder: string, named: string, place: string, shown = JSON.stringify(named)): string {
  const outside = () =>
    unreadable(place, shown, 'a file in the folder of the bundle', 'move the file there and write a relative path');
  if (path.isAbsolute(named) || named.includes('\0')) throw outside();
  const target = path.resolve(folder, named);
  if (!isWithin(folder, target)) throw outside();
  const [realFolder, realTarget] = attempt(place, () => [realpathSync(folder), realpathSync(target)] as const, shown);
  if (!isWithin(realFolder, realTarget)) throw outside();
  return realTarget;
}

function isWithin(folder: string, target: string): boolean {
  const relative = path.relative(folder, target);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/** What the system says about files, in a form that can be acted on. */
const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'a file that may not be read',
  EPERM: 'a file that may not be read',
  ELOOP: 'a symbolic link that leads in a circle',
  ENAMETOOLONG: 'a name that is too long',
};

function attempt<T>(place: string, work: () => T, shown?: string): T {
  try {
    return work();
  } catch (cause) {
    if (TreadleError.is(cause)) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const what = SYSTEM_WORDS[code] ?? `a file that cannot be read (${code})`;
    throw unreadable(
      place,
      shown === undefined ? what : `${what} as ${shown}`,
      'a file that can be read',
      undefined,
      cause,
    );
  }
}

function unreadable(place: string, found: string, wanted: string, hint?: string, cause?: unknown): TreadleError {
  return new TreadleError('bundle_unreadable', { place, found, wanted, hint, cause });
}

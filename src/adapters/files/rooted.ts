import { realpathSync } from 'node:fs';
import { constants, mkdir, readdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { FileRefusal, type FileStat, type RootedFiles } from '../../kernel/files.ts';
import { hiddenPaths } from './hidden.ts';
import { openFolder, openInRoot, realInRoot, refusal, isLink } from './opened.ts';
import { fromRoot, namedPath, outside, shown } from './path-in-root.ts';
import { readChunks, replaceFile, TEMPORARY } from './whole-file.ts';

export interface RootedFilesOptions {
  /** A folder that exists. */
  readonly root: string;
  readonly readOnly?: boolean | undefined;
  /** Patterns of a `.gitignore`: what tools neither read nor write nor list. */
  readonly ignore?: readonly string[] | undefined;
  readonly mostBytes?: number | undefined;
}

export const MOST_FILE_BYTES = 10 * 1024 * 1024;

/** The files of one folder. Throws what the system says when it is not there. */
export function createRootedFiles({
  root: given,
  readOnly: isReadOnly = false,
  ignore = [],
  mostBytes = MOST_FILE_BYTES,
}: RootedFilesOptions): RootedFiles {
  // The system's own realpath: it gives names in the case in which they are kept.
  const root = realpathSync.native(given);
  const hidden = hiddenPaths(ignore);

  const keptAway = (named: string): FileRefusal =>
    new FileRefusal('hidden', `${shown(named)} is kept away from tools here.`);

  /** Hidden by the name that was given or by the one that it leads to. */
  function lookedAt(target: string, named: string): void {
    if (hidden.isHidden(fromRoot(root, target))) throw keptAway(named);
  }

  async function existing(named: string): Promise<string | undefined> {
    const target = namedPath(root, named);
    lookedAt(target, named);
    const real = await realInRoot(root, target, named);
    if (real !== undefined) lookedAt(real, named);
    return real;
  }

  async function there(named: string): Promise<string> {
    const real = await existing(named);
    if (real === undefined) throw new FileRefusal('not_found', `There is no ${shown(named)}.`);
    return real;
  }

  function writable(target: string, named: string): void {
    if (isReadOnly) throw new FileRefusal('read_only', 'Nothing may be written in this folder.');
    if (target === root) throw new FileRefusal('not_a_file', `${shown(named)} is the folder itself.`);
    if (hidden.isProtected(fromRoot(root, target))) {
      throw new FileRefusal('hidden', `${shown(named)} may be read and not written.`);
    }
  }

  async function statOf(real: string, named: string): Promise<FileStat> {
    try {
      const found = await stat(real);
      const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
      return { path: fromRoot(root, real), kind, size: found.size, modifiedAt: Math.floor(found.mtimeMs) };
    } catch (error) {
      throw refusal(error, named);
    }
  }

  /** The folder of a file that is to be written, made where it is missing, one name after the other. */
  async function folderFor(target: string, named: string): Promise<string> {
    let real = root;
    for (const name of fromRoot(root, path.dirname(target)).split('/')) {
      if (name === '') continue;
      const next = path.join(real, name);
      const found = await realInRoot(root, next, named);
      if (found === undefined) {
        if (await isLink(next)) throw outside(named);
        const folder = await openFolder(root, real, named);
        try {
          await mkdir(folder.at(name));
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw refusal(error, named);
        } finally {
          await folder.close();
        }
      }
      real = found ?? next;
      lookedAt(real, named);
      writable(real, named);
    }
    return real;
  }

  const files: RootedFiles = {
    root,
    isReadOnly,
    mostBytes,
    isHidden: (named) => named.split('/').some((one) => TEMPORARY.test(one)) || hidden.isHidden(named),
    async stat(named) {
      const real = await existing(named);
      return real === undefined ? undefined : statOf(real, named);
    },
    async read(named, { most = mostBytes, progress } = {}) {
      const real = await there(named);
      const handle = await openInRoot(root, real, constants.O_RDONLY, named);
      try {
        const found = await handle.stat();
        if (found.isDirectory()) throw new FileRefusal('not_a_file', `${shown(named)} is a folder.`);
        if (!found.isFile()) throw new FileRefusal('not_a_file', `${shown(named)} is not a file.`);
        const limit = Math.min(most, mostBytes);
        if (found.size > limit) throw tooLarge(named, found.size, limit);
        return await readChunks(handle, { size: found.size, most: limit, progress, named });
      } catch (error) {
        throw error instanceof FileRefusal ? error : refusal(error, named);
      } finally {
        await handle.close();
      }
    },
    async readText(named, options) {
      const bytes = await files.read(named, options);
      try {
        return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      } catch {
        throw new FileRefusal('not_text', `${shown(named)} is not UTF-8 text.`);
      }
    },
    async write(named, content, { progress, unless } = {}) {
      const bytes = typeof content === 'string' ? Buffer.from(content.toWellFormed()) : content;
      if (bytes.length > mostBytes) throw tooLarge(named, bytes.length, mostBytes);
      const target = namedPath(root, named);
      lookedAt(target, named);
      writable(target, named);
      const real = await existing(named);
      if (real === undefined && (await isLink(target))) throw outside(named);
      if (real !== undefined) writable(real, named);
      const file = real ?? target;
      if (real !== undefined && (await statOf(real, named)).kind !== 'file') {
        throw new FileRefusal('not_a_file', `${shown(named)} is not a file.`);
      }
      const parent = real === undefined ? await folderFor(target, named) : path.dirname(real);
      const folder = await openFolder(root, parent, named);
      try {
        await replaceFile(folder.at, path.basename(file), bytes, { progress, unless });
      } catch (error) {
        throw isSystem(error) ? refusal(error, named) : error;
      } finally {
        await folder.close();
      }
      return statOf(path.join(parent, path.basename(file)), named);
    },
    async remove(named) {
      const real = await there(named);
      writable(real, named);
      const folder = await openFolder(root, path.dirname(real), named);
      try {
        await unlink(folder.at(path.basename(real)));
      } catch (error) {
        throw refusal(error, named);
      } finally {
        await folder.close();
      }
    },
    async list(named) {
      const real = await there(named);
      const folder = await openFolder(root, real, named);
      let names: string[];
      try {
        names = await readdir(folder.at(''));
      } catch (error) {
        throw refusal(error, named);
      } finally {
        await folder.close();
      }
      const found = await Promise.all(
        names.map(async (name): Promise<FileStat | undefined> => {
          const own = [fromRoot(root, real), name].filter(Boolean).join('/');
          if (files.isHidden(own)) return undefined;
          try {
            const stated = await files.stat(own);
            return stated === undefined ? undefined : { ...stated, path: own };
          } catch (error) {
            if (error instanceof FileRefusal) return undefined;
            throw error;
          }
        }),
      );
      return found.filter((one) => one !== undefined).sort((left, right) => (left.path < right.path ? -1 : 1));
    },
  };
  return files;
}

function tooLarge(named: string, size: number, most: number): FileRefusal {
  return new FileRefusal('too_large', `${shown(named)} has ${size} bytes; at most ${most} are taken.`);
}

function isSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

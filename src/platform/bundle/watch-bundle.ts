import { existsSync, readFileSync, statSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { LoadedBundle } from './load.ts';

export interface WatchOptions {
  /** The bundle as it counts now. */
  readonly watched: () => Pick<LoadedBundle, 'file' | 'folder' | 'files' | 'skillFolders'>;
  /** Something of it was saved. The next call comes after this one has settled. */
  readonly changed: () => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Editors write a file in several steps: milliseconds without another one. */
const QUIET_MS = 150;
/** Where something is written all the time, it is looked at so often all the same. */
const LONGEST_MS = 2_000;
/** What a mounted configuration of Kubernetes exchanges instead of the files. */
const MOUNTED = '..data';

/**
 * Calls back when a file of the bundle is saved, in whatever way: written in place, emptied and written, or put there by
 * another name, as most editors do. So folders are watched and not files, and only what is written to a file of the bundle
 * counts: whatever else is in its folder, such as a database, may change all day.
 */
export function watchBundle({ watched, changed, clock, logger }: WatchOptions): () => void {
  const watchers = new Map<string, FSWatcher>();
  let cancel: () => void = () => undefined;
  let since: number | undefined;
  let isOver = false;
  let files = new Set<string>();

  function soon(): void {
    cancel();
    const now = clock.now();
    since ??= now;
    const wait = Math.max(0, Math.min(QUIET_MS, since + LONGEST_MS - now));
    cancel = clock.after(wait, () => {
      since = undefined;
      changed()
        .catch((error: unknown) => logger.error('an edited bundle could not be looked at', { error }))
        .finally(arm);
    });
  }

  /** Folders of what the bundle names now: an edit may name others. */
  function arm(): void {
    if (isOver) return;
    const { file, folder, files: read, skillFolders } = watched();
    files = new Set([...read, ...namedFiles(file, folder)]);
    const plain = new Set([path.dirname(path.resolve(file)), ...[...files].map((one) => path.dirname(one))]);
    const wanted = new Map<string, boolean>([...plain].map((one) => [one, false]));
    for (const one of skillFolders) wanted.set(one, true);
    for (const [one, watcher] of watchers) {
      if (wanted.has(one)) continue;
      watcher.close();
      watchers.delete(one);
    }
    for (const [one, isWhole] of wanted) if (!watchers.has(one) && existsSync(one)) follow(one, isWhole);
  }

  function follow(folder: string, isWhole: boolean): void {
    const failed = (error: unknown): void => {
      watchers.get(folder)?.close();
      watchers.delete(folder);
      logger.warn('a folder of a bundle cannot be watched; an edit there counts after a restart', { folder, error });
    };
    try {
      const watcher = watch(folder, { persistent: false, recursive: isWhole }, (_, name) => {
        if (isWhole || name === null || name === MOUNTED || files.has(path.join(folder, name))) soon();
      });
      watcher.on('error', failed);
      watchers.set(folder, watcher);
    } catch (error) {
      failed(error);
    }
  }

  arm();
  return () => {
    isOver = true;
    cancel();
    for (const watcher of watchers.values()) watcher.close();
  };
}

/** Changes when one of the files was saved, or is gone. */
export function stampOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs}`;
    })
    .join();
}

/** What the text of the file may mean by a path: an edit that is wrong may be so because such a file is not there yet. */
function namedFiles(file: string, folder: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return []; // it comes back, which is seen in its folder
  }
  const named = text.match(/[\w@.-]+(?:\/[\w@.-]+)*\.\w+/g) ?? [];
  return [...new Set(named)]
    .map((one) => path.resolve(folder, one))
    .filter((one) => one.startsWith(path.resolve(folder) + path.sep) && existsSync(path.dirname(one)));
}

import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a folder and those above it that are missing, one after the other.
 *
 * Not with `recursive`: where a file system takes no folders and says that there is none, as /proc does, Node tries again
 * without end.
 */
export function makeFolder(folder: string, mode?: number): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !isFolder(at); at = path.dirname(at)) {
    missing.push(at);
    if (path.dirname(at) === at) break;
  }
  for (const one of missing.toReversed()) {
    try {
      mkdirSync(one, { mode });
    } catch (problem) {
      if (!isFolder(one)) throw problem; // else another process was faster
    }
  }
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

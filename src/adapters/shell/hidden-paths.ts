import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Entries that are looked at. A root with more than that keeps what is deeper in sight, which its listing says. */
const MOST_ENTRIES = 20_000;

/** What in a root is to be out of sight, the folders of it as a whole. */
export function hiddenPaths(root: string, isHidden: (path: string) => boolean): readonly string[] {
  const found: string[] = [];
  const waiting = [''];
  let seen = 0;
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    for (const entry of entriesOf(path.join(root, folder))) {
      if (++seen > MOST_ENTRIES) return found;
      const own = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (isHidden(own)) found.push(own);
      else if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') waiting.push(own);
    }
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

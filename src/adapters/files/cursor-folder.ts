import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../base/digest.ts';
import { parseJson } from '../../base/json.ts';
import { codeOf } from './opened.ts';
import { replaceFile } from './whole-file.ts';

const cursor = z.strictObject({ conversation: z.string(), after: z.int().min(0) });
type Cursor = z.infer<typeof cursor>;

export interface CursorFolder {
  all(): Promise<readonly Cursor[]>;
  keep(conversation: string, after: number): Promise<void>;
  drop(conversation: string): Promise<void>;
}

const NAME = /^[0-9a-f]{64}\.json$/;

/** How far somebody came in conversations: a small file each, so that no two are ever written into each other. */
export function createCursorFolder(folder: string): CursorFolder {
  const root = path.resolve(folder);
  const nameOf = (conversation: string): string => `${sha256(conversation)}.json`;
  return {
    async all() {
      const found: Cursor[] = [];
      for (const name of await namesIn(root)) {
        if (!NAME.test(name)) continue;
        found.push(cursor.parse(parseJson(await readFile(path.join(root, name), 'utf8'), path.join(root, name))));
      }
      return found;
    },
    async keep(conversation, after) {
      await mkdir(root, { recursive: true });
      const text = JSON.stringify({ conversation, after } satisfies Cursor);
      await replaceFile((name) => path.join(root, name), nameOf(conversation), Buffer.from(text), {});
    },
    drop: (conversation) => rm(path.join(root, nameOf(conversation)), { force: true }),
  };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

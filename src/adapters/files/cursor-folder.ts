import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../base/digest.ts';
import { parseJson } from '../../base/json.ts';
import { codeOf } from './opened.ts';
import { replaceFile } from './whole-file.ts';

// What was given up has more in it, so that it can be moved back as it is.
const cursor = z.object({ conversation: z.string(), after: z.int().min(0) });
type Cursor = z.infer<typeof cursor>;

export interface CursorFolder {
  all(): Promise<readonly Cursor[]>;
  keep(conversation: string, after: number): Promise<void>;
  drop(conversation: string): Promise<void>;
  bury(given: GivenUp): Promise<string>;
}

/** What nobody took, for people and to be told anew. */
export interface GivenUp {
  readonly conversation: string;
  /** The place before the first of them. */
  readonly after: number;
  readonly through: number;
  readonly facts: number;
  readonly why: string;
  readonly at: string;
}

const DEAD = 'given-up';

const NAME = /^[0-9a-f]{64}(\.\d+)?\.json$/;

/** How far somebody came in conversations: a small file each, so that no two are ever written into each other. */
export function createCursorFolder(...folder: readonly [string, ...string[]]): CursorFolder {
  const root = path.resolve(...folder);
  const nameOf = (conversation: string): string => `${sha256(conversation)}.json`;
  return {
    async all() {
      const found: Cursor[] = [];
      for (const name of await namesIn(root)) {
        if (!NAME.test(name)) continue;
        const file = path.join(root, name);
        const one = cursor.parse(parseJson(await readFile(file, 'utf8'), file));
        found.push(one);
        if (name === nameOf(one.conversation)) continue;
        // Somebody moved it back from what was given up: from here on it is a place like any other.
        await this.keep(one.conversation, one.after);
        await rm(file);
      }
      return found;
    },
    async keep(conversation, after) {
      await mkdir(root, { recursive: true });
      const text = JSON.stringify({ conversation, after } satisfies Cursor);
      await replaceFile((name) => path.join(root, name), nameOf(conversation), Buffer.from(text), {});
    },
    async bury(given) {
      const name = nameOf(given.conversation).replace(/\.json$/, `.${given.after}.json`);
      await mkdir(path.join(root, DEAD), { recursive: true });
      const file = path.join(root, DEAD, name);
      await replaceFile(() => file, name, Buffer.from(JSON.stringify(given, undefined, 2)), {});
      return file;
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

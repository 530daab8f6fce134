import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { AuthoredTool } from '../src/kernel/tool.ts';

const FILE = path.join('.treadle', 'desk-notes.md');

const note = z.strictObject({
  text: z.string().trim().min(1).max(2_000).describe('The note, as it is to be kept.'),
});

export const add_note: AuthoredTool<typeof note> = {
  name: 'add_note',
  description: `Write a note at the end of the file of notes. It cannot be taken back by you.`,
  input: note,
  effect: 'once',
  async run({ text }, { idempotencyKey, now }) {
    await mkdir(path.dirname(FILE), { recursive: true });
    await appendFile(FILE, `## ${new Date(now()).toISOString()} ${mark(idempotencyKey)}\n\n${text}\n\n`);
    return { file: FILE };
  },
  // After a crash between intent and result: the mark in the file tells whether the note was written.
  async probe(idempotencyKey) {
    return (await readNotes()).includes(mark(idempotencyKey)) ? { file: FILE } : undefined;
  },
};

const nothing = z.strictObject({});

export const read_notes: AuthoredTool<typeof nothing> = {
  name: 'read_notes',
  description: 'Read all notes, the oldest first.',
  input: nothing,
  effect: 'read',
  async run() {
    return { notes: (await readNotes()).replaceAll(/ <!-- .* -->$/gm, '') };
  },
};

function mark(key: string): string {
  return `<!-- ${key} -->`;
}

async function readNotes(): Promise<string> {
  try {
    return await readFile(FILE, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

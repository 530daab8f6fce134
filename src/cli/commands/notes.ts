import { TreadleError } from '../../base/errors.ts';
import type { Note, NoteOwner } from '../../client/index.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { openNoteBook, type NoteBook } from '../note-book.ts';
import type { RemoteOptions } from '../remote.ts';
import { counted, harmless, oneLine } from '../text.ts';

export interface NoteOptions extends RemoteOptions, NoteOwner {}

export interface EditNoteOptions extends NoteOptions {
  readonly pin?: boolean;
}

const SHOWN = 50;

/** Prints the notes, those with some words where there are any. */
export async function listNotes(context: Context, words: readonly string[], options: NoteOptions): Promise<Outcome> {
  const { terminal } = context;
  const owner = ownerOf(options);
  return inBook(context, options, async (book) => {
    const q = words.join(' ').trim();
    const { notes, total, hasMore } = await book.list({ ...owner, limit: SHOWN, ...(q !== '' && { q }) });
    if (options.json === true) terminal.out.write(`${JSON.stringify(notes)}\n`);
    else if (total === 0) terminal.err.write('Nothing is remembered.\n');
    else if (notes.length === 0) terminal.err.write(`None of ${counted(total, 'note')} has these words.\n`);
    else terminal.out.write(notes.map((one) => `${noteLine(one)}\n`).join(''));
    if (hasMore) terminal.err.write(`These are ${notes.length} of ${total}. \`export\` prints all.\n`);
  });
}

/** Prints one note as it is. */
export async function showNote(context: Context, id: string, options: NoteOptions): Promise<Outcome> {
  const { out } = context.terminal;
  return inBook(context, options, async (book) => {
    const note = await book.read(id, ownerOf(options));
    if (options.json === true) return void out.write(`${JSON.stringify(note)}\n`);
    const { bundle, pinned, createdAt, updatedAt, text } = note;
    const about = `${pinned ? 'pinned, ' : ''}of ${bundle}, from ${createdAt.slice(0, 10)}, changed ${updatedAt.slice(0, 10)}`;
    out.write(`${about}\n\n${harmless(text)}\n`);
  });
}

/** Puts a note right. */
export async function editNote(
  context: Context,
  id: string,
  words: readonly string[],
  options: EditNoteOptions,
): Promise<Outcome> {
  const text = words.join(' ').trim();
  if (text === '' && options.pin === undefined)
    throw new TreadleError('usage', { place: 'TEXT', found: 'nothing to change', wanted: 'a text, --pin or --no-pin' });
  return inBook(context, options, async (book) => {
    const change = { ...(text !== '' && { text }), ...(options.pin !== undefined && { pinned: options.pin }) };
    const note = await book.change(id, change, ownerOf(options));
    context.terminal.out.write(options.json === true ? `${JSON.stringify(note)}\n` : `${noteLine(note)}\n`);
  });
}

/** Forgets notes for good. */
export async function deleteNotes(context: Context, ids: readonly string[], options: NoteOptions): Promise<Outcome> {
  return inBook(context, options, async (book) => {
    for (const id of ids) {
      await book.remove(id, ownerOf(options));
      context.terminal.err.write(`Forgot ${harmless(id)}.\n`);
    }
  });
}

/** Prints all of them, one JSON object a line. */
export async function exportNotes(context: Context, options: NoteOptions): Promise<Outcome> {
  return inBook(context, options, async (book) => {
    for await (const note of book.every(ownerOf(options))) context.terminal.out.write(`${JSON.stringify(note)}\n`);
  });
}

async function inBook(
  context: Context,
  options: NoteOptions,
  work: (book: NoteBook) => Promise<void>,
): Promise<Outcome> {
  const book = await openNoteBook(context, options);
  try {
    await work(book);
    return 'completed';
  } finally {
    await book.close();
  }
}

function ownerOf({ bundle, user }: NoteOptions): NoteOwner {
  return { ...(bundle !== undefined && { bundle }), ...(user !== undefined && { user }) };
}

function noteLine({ id, text, pinned, bundle, updatedAt }: Note): string {
  return `${id}  ${updatedAt.slice(0, 10)}  ${pinned ? 'pinned  ' : ''}${oneLine(harmless(text), 80)}  (${bundle})`;
}

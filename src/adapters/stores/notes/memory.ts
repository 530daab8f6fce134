import { canonicalJson } from '../../../base/json.ts';
import type { NoteOwner, NotePlace, NoteReader, NoteStore, StoredNote } from '../../../kernel/notes.ts';
import { scoreOf } from './words.ts';

/** A store of notes with every method answering at once. */
export type SyncNotes = {
  [K in keyof NoteStore]: (
    ...parameters: Parameters<NoteStore[K]>
  ) => Exclude<ReturnType<NoteStore[K]>, Promise<unknown>>;
} & { close(): void };

/** Users' notes, for as long as the process lives. */
export function createMemoryNotes(): SyncNotes {
  const owners = new Map<string, Map<string, StoredNote>>();
  const notesOf = ({ tenant, userId, bundle }: NoteOwner): Map<string, StoredNote> => {
    const place = canonicalJson([tenant, userId, bundle]);
    let notes = owners.get(place);
    if (notes === undefined) owners.set(place, (notes = new Map<string, StoredNote>()));
    return notes;
  };
  /** In the order of a list. */
  const readBy = ({ tenant, userId, bundle }: NoteReader): StoredNote[] => {
    const begin = canonicalJson([tenant, userId]).slice(0, -1);
    const books =
      bundle === undefined
        ? [...owners].flatMap(([place, notes]) => (place.startsWith(`${begin},`) ? [notes] : []))
        : [notesOf({ tenant, userId, bundle })];
    return books.flatMap((notes) => [...notes.values()]).sort(hotter);
  };
  return {
    saveNote(owner, note, most) {
      const notes = notesOf(owner);
      const before = notes.get(note.id);
      if (before === undefined && notes.size >= most) return 'full';
      const { id, text, pinned, createdAt, updatedAt } = note;
      notes.set(id, { id, text, pinned, createdAt: before?.createdAt ?? createdAt, updatedAt, bundle: owner.bundle });
      return before === undefined ? 'added' : 'changed';
    },
    removeNote: (owner, id) => notesOf(owner).delete(id),
    findNote: (reader, id) => readBy(reader).find((note) => note.id === id),
    listNotes: (reader, limit, after) =>
      readBy(reader)
        .filter((note) => after === undefined || hotter(note, after) > 0)
        .slice(0, limit),
    searchNotes: (reader, words, limit) =>
      readBy(reader)
        .map((note) => ({ note, score: scoreOf(note.text, words) }))
        .filter(({ score }) => score > 0)
        .sort((one, other) => other.score - one.score)
        .slice(0, limit)
        .map(({ note }) => note),
    countNotes: (reader) => readBy(reader).length,
    close: () => undefined,
  };
}

function hotter(one: NotePlace, other: NotePlace): number {
  const pinned = Number(other.pinned) - Number(one.pinned);
  return pinned || other.updatedAt - one.updatedAt || order(one.bundle, other.bundle) || order(one.id, other.id);
}

function order(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

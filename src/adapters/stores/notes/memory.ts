import { canonicalJson } from '../../../base/json.ts';
import type { Note, NoteOwner, NoteStore } from '../../../kernel/notes.ts';
import { scoreOf } from './words.ts';

/** A store of notes with every method answering at once. */
export type SyncNotes = {
  [K in keyof NoteStore]: (
    ...parameters: Parameters<NoteStore[K]>
  ) => Exclude<ReturnType<NoteStore[K]>, Promise<unknown>>;
} & { close(): void };

/** Users' notes, for as long as the process lives. */
export function createMemoryNotes(): SyncNotes {
  const owners = new Map<string, Map<string, Note>>();
  const notesOf = (owner: NoteOwner): Map<string, Note> => {
    const place = canonicalJson([owner.tenant, owner.userId, owner.bundle]);
    let notes = owners.get(place);
    if (notes === undefined) owners.set(place, (notes = new Map<string, Note>()));
    return notes;
  };
  return {
    saveNote(owner, note, most) {
      const notes = notesOf(owner);
      const before = notes.get(note.id);
      if (before === undefined && notes.size >= most) return 'full';
      notes.set(note.id, { ...note, createdAt: before?.createdAt ?? note.createdAt });
      return before === undefined ? 'added' : 'changed';
    },
    removeNote: (owner, id) => notesOf(owner).delete(id),
    findNote: (owner, id) => notesOf(owner).get(id),
    listNotes: (owner, limit) => [...notesOf(owner).values()].sort(hotter).slice(0, limit),
    searchNotes: (owner, words, limit) =>
      [...notesOf(owner).values()]
        .map((note) => ({ note, score: scoreOf(note.text, words) }))
        .filter(({ score }) => score > 0)
        .sort((one, other) => other.score - one.score || hotter(one.note, other.note))
        .slice(0, limit)
        .map(({ note }) => note),
    countNotes: (owner) => notesOf(owner).size,
    close: () => undefined,
  };
}

function hotter(one: Note, other: Note): number {
  const pinned = Number(other.pinned) - Number(one.pinned);
  return pinned || other.updatedAt - one.updatedAt || (one.id < other.id ? -1 : 1);
}

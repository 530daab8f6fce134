import type { Instant } from '../base/clock.ts';
import type { MaybePromise } from '../base/promise.ts';

/** Whose notes, and of which bundle: an app does not see what was said to another. */
export interface NoteOwner {
  readonly tenant: string;
  readonly userId: string;
  readonly bundle: string;
}

/** Whose notes are looked at: of one bundle, or of all. */
export interface NoteReader {
  readonly tenant: string;
  readonly userId: string;
  readonly bundle?: string | undefined;
}

/** Characters of one note, and notes of one user with one bundle. */
export const MOST_NOTE_CHARS = 2_000;
export const MOST_NOTES = 1_000;

/** Something to be remembered from one conversation to the next. */
export interface Note {
  readonly id: string;
  readonly text: string;
  /** Comes first where there is room for few. */
  readonly pinned: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** A note with where it is kept. */
export interface StoredNote extends Note {
  readonly bundle: string;
}

/** Where a list of notes goes on: after this one, which need not be there any more. */
export type NotePlace = Pick<StoredNote, 'id' | 'bundle' | 'pinned' | 'updatedAt'>;

/** Users' notes. What was written survives a power cut. */
export interface NoteStore {
  /**
   * Adds a note, or puts it in the place of the one with its id, which keeps its `createdAt`. `full`: it would be more
   * than `most`, and nothing was written.
   */
  saveNote(owner: NoteOwner, note: Note, most: number): MaybePromise<'added' | 'changed' | 'full'>;
  /** False when there is none. */
  removeNote(owner: NoteOwner, id: string): MaybePromise<boolean>;
  findNote(reader: NoteReader, id: string): MaybePromise<StoredNote | undefined>;
  /** Pinned ones first, then the last changed ones; equal times by bundle and id. */
  listNotes(reader: NoteReader, limit: number, after?: NotePlace): MaybePromise<readonly StoredNote[]>;
  /** Those that have any of the words, or words that begin so, the best first. Case and accents do not count. */
  searchNotes(reader: NoteReader, words: readonly string[], limit: number): MaybePromise<readonly StoredNote[]>;
  countNotes(reader: NoteReader): MaybePromise<number>;
}

/** The notes of the user for whom a tool runs. */
export type NoteBook = {
  readonly [Name in keyof NoteStore]: NoteStore[Name] extends (owner: NoteOwner, ...rest: infer Rest) => infer Return
    ? (...rest: Rest) => Return
    : never;
};

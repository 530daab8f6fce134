import type { Instant } from '../base/clock.ts';
import type { MaybePromise } from '../base/promise.ts';

/** Whose notes, and of which bundle: an app does not see what was said to another. */
export interface NoteOwner {
  readonly tenant: string;
  readonly userId: string;
  readonly bundle: string;
}

/** Something to be remembered from one conversation to the next. */
export interface Note {
  readonly id: string;
  readonly text: string;
  /** Comes first where there is room for few. */
  readonly pinned: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** Users' notes. What was written survives a power cut. */
export interface NoteStore {
  /**
   * Adds a note, or puts it in the place of the one with its id, which keeps its `createdAt`. `full`: it would be more
   * than `most`, and nothing was written.
   */
  saveNote(owner: NoteOwner, note: Note, most: number): MaybePromise<'added' | 'changed' | 'full'>;
  /** False when there is none. */
  removeNote(owner: NoteOwner, id: string): MaybePromise<boolean>;
  findNote(owner: NoteOwner, id: string): MaybePromise<Note | undefined>;
  /** Pinned ones first, then the last changed ones; equal times by id. */
  listNotes(owner: NoteOwner, limit: number): MaybePromise<readonly Note[]>;
  /** Those that have any of the words, or words that begin so, the best first. Case and accents do not count. */
  searchNotes(owner: NoteOwner, words: readonly string[], limit: number): MaybePromise<readonly Note[]>;
  countNotes(owner: NoteOwner): MaybePromise<number>;
}

/** The notes of the user for whom a tool runs. */
export type NoteBook = {
  readonly [Name in keyof NoteStore]: NoteStore[Name] extends (owner: NoteOwner, ...rest: infer Rest) => infer Return
    ? (...rest: Rest) => Return
    : never;
};

import { isoTime, type Clock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import {
  MOST_NOTE_CHARS,
  type NotePlace,
  type NoteReader,
  type NoteStore,
  type StoredNote,
} from '../../kernel/notes.ts';
import { permit, type Caller } from '../runs/caller.ts';
import { invalidCursor, type Cursors } from '../runs/cursor.ts';
import { checkedLimit } from '../runs/ports.ts';
import type { IsoTime } from '../runs/snapshot.ts';

/** What agents remember of a person, as that person reads it. */
export interface NoteView {
  readonly id: string;
  /** The app that remembers it: no other one does. */
  readonly bundle: string;
  readonly text: string;
  /** Told to the agent in every conversation. */
  readonly pinned: boolean;
  readonly createdAt: IsoTime;
  readonly updatedAt: IsoTime;
}

/** Whose notes: the caller's own of all bundles, where nothing is said. */
export interface WhoseNotes {
  readonly bundle?: string | undefined;
  /** Another user of the tenant: for the scope `admin`. */
  readonly user?: string | undefined;
}

export interface NoteQuery extends WhoseNotes {
  /** Words that they have, the best first. One page: there is no cursor. */
  readonly words?: string | undefined;
  readonly cursor?: string | undefined;
  /** 1 to 100, 50 when absent. */
  readonly limit?: number | undefined;
}

export interface NotePage {
  readonly notes: readonly NoteView[];
  /** Of all that there are, whatever the words. */
  readonly total: number;
  readonly hasMore: boolean;
  readonly nextCursor?: string;
}

/** A person's notes outside of conversations: seen, put right, and forgotten. Only agents make new ones. */
export interface Notes {
  /** Scope `read`. Pinned ones first, then the last changed ones. */
  list(caller: Caller, query?: NoteQuery): Promise<NotePage>;
  /** Scope `read`. Throws `note_unknown`. */
  read(caller: Caller, id: string, whose?: WhoseNotes): Promise<NoteView>;
  /** Scope `run`. What is not named stays. Throws `note_unknown`, and `invalid_request` for a text that is none. */
  change(
    caller: Caller,
    id: string,
    change: { readonly text?: string | undefined; readonly pinned?: boolean | undefined },
    whose?: WhoseNotes,
  ): Promise<NoteView>;
  /** Scope `run`. For good. Throws `note_unknown`. */
  remove(caller: Caller, id: string, whose?: WhoseNotes): Promise<void>;
}

export interface NotesOptions {
  readonly store: NoteStore;
  readonly cursors: Pick<Cursors, 'writePlace' | 'readPlace'>;
  readonly clock: Clock;
}

const PAGE = 50;
const MOST_PAGE = 100;

export function createNotes({ store, cursors, clock }: NotesOptions): Notes {
  async function found(reader: NoteReader, id: string): Promise<StoredNote> {
    const note = await store.findNote(reader, id);
    if (note === undefined) throw unknown(id);
    return note;
  }

  return {
    async list(caller, { words = '', cursor, limit: asked, ...whose } = {}) {
      const reader = readerOf(caller, 'read', whose);
      const limit = checkedLimit(asked, PAGE, MOST_PAGE);
      const total = await store.countNotes(reader);
      const wanted = words.split(/\s+/).filter(Boolean);
      if (wanted.length > 0) {
        if (cursor !== undefined) throw invalidCursor();
        const notes = await store.searchNotes(reader, wanted, limit);
        return { notes: notes.map(view), total, hasMore: false };
      }
      const bound = ['notes', reader.tenant, reader.userId, reader.bundle ?? ''];
      const after = cursor === undefined ? undefined : placeOf(cursors.readPlace(bound, cursor));
      const rows = await store.listNotes(reader, limit + 1, after);
      const notes = rows.slice(0, limit);
      const last = notes.at(-1);
      const hasMore = rows.length > limit;
      return {
        notes: notes.map(view),
        total,
        hasMore,
        ...(hasMore && last !== undefined && { nextCursor: cursors.writePlace(bound, writtenPlace(last)) }),
      };
    },
    async read(caller, id, whose = {}) {
      return view(await found(readerOf(caller, 'read', whose), id));
    },
    async change(caller, id, { text, pinned }, whose = {}) {
      const reader = readerOf(caller, 'run', whose);
      const { bundle, ...before } = await found(reader, id);
      const note = {
        ...before,
        text: text === undefined ? before.text : checkedText(text),
        pinned: pinned ?? before.pinned,
        updatedAt: clock.now(),
      };
      // There is room for none: one that somebody else deletes meanwhile is not made anew.
      const saved = await store.saveNote({ ...reader, bundle }, note, 0);
      if (saved !== 'changed') throw unknown(id);
      return view({ ...note, bundle });
    },
    async remove(caller, id, whose = {}) {
      const reader = readerOf(caller, 'run', whose);
      const { bundle } = await found(reader, id);
      if (!(await store.removeNote({ ...reader, bundle }, id))) throw unknown(id);
    },
  };
}

function readerOf(caller: Caller, scope: 'read' | 'run', { bundle, user = caller.userId }: WhoseNotes): NoteReader {
  permit(caller, user === caller.userId ? scope : 'admin');
  return { tenant: caller.tenant, userId: user, bundle };
}

function checkedText(text: string): string {
  const trimmed = text.trim();
  if (trimmed !== '' && trimmed.length <= MOST_NOTE_CHARS) return trimmed;
  throw new TreadleError('invalid_request', {
    place: 'text',
    found: `${trimmed.length} characters`,
    wanted: `1 to ${MOST_NOTE_CHARS}`,
  });
}

function unknown(id: string): TreadleError {
  return new TreadleError('note_unknown', { found: JSON.stringify(id.slice(0, 100)) });
}

function view({ id, bundle, text, pinned, createdAt, updatedAt }: StoredNote): NoteView {
  return { id, bundle, text, pinned, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}

function writtenPlace({ id, bundle, pinned, updatedAt }: NotePlace): { updatedAt: number; id: string } {
  return { updatedAt, id: `${Number(pinned)} ${bundle} ${id}` };
}

function placeOf({ updatedAt, id: written }: { readonly updatedAt: number; readonly id: string }): NotePlace {
  const [, pinned, bundle = '', id = ''] = /^([01]) (\S*) (.*)$/s.exec(written) ?? [];
  return { updatedAt, pinned: pinned === '1', bundle, id };
}

import type { SQLOutputValue } from 'node:sqlite';
import type { NoteReader, StoredNote } from '../../../kernel/notes.ts';
import { CONTROL_FORMAT } from '../control/sql.ts';
import { connect } from '../sqlite/connection.ts';
import { guarded } from '../sqlite/guarded.ts';
import type { SyncNotes } from './memory.ts';
import { NOTE_SQL } from './sql.ts';

export interface SqliteNotesOptions {
  /** The control file: notes lie beside keys and choices. */
  readonly file: string;
  /** How long a write waits for another process. */
  readonly busyTimeoutMs?: number;
}

/** Users' notes in the control file, for any number of processes of one machine. */
export async function openSqliteNotes({ file, busyTimeoutMs = 5000 }: SqliteNotesOptions): Promise<SyncNotes> {
  const connection = await connect(file, 'full', busyTimeoutMs, CONTROL_FORMAT);
  const { sql, use } = guarded(connection, file, NOTE_SQL);
  const count = (owner: NoteReader): number => Number(sql('count').get(...placeOf(owner))?.['count'] ?? 0);

  return {
    saveNote: (owner, { id, text, pinned, createdAt, updatedAt }, most) =>
      use(() => {
        sql('begin').run(); // so that two processes do not both write the last one that has room
        try {
          const is = sql('change').run(...placeOf(owner), id, text, Number(pinned), updatedAt).changes > 0;
          const isFull = !is && count(owner) >= most;
          if (!is && !isFull) sql('add').run(...placeOf(owner), id, text, Number(pinned), createdAt, updatedAt);
          sql('commit').run();
          return is ? 'changed' : isFull ? 'full' : 'added';
        } catch (problem) {
          if (connection.isTransaction) sql('rollback').run();
          throw problem;
        }
      }),
    removeNote: (owner, id) => use(() => sql('remove').run(...placeOf(owner), id).changes > 0),
    findNote: (owner, id) =>
      use(() => {
        const row = sql('find').get(...placeOf(owner), id);
        return row === undefined ? undefined : noteOf(row);
      }),
    listNotes: (owner, limit, after) =>
      use(() => {
        const rows =
          after === undefined
            ? sql('list').all(...placeOf(owner), limit)
            : sql('listAfter').all(
                ...[...placeOf(owner), limit],
                ...[Number(after.pinned), after.updatedAt, after.bundle, after.id],
              );
        return rows.map(noteOf);
      }),
    searchNotes: (owner, words, limit) =>
      use(() => {
        const wanted = words.filter((word) => /[\p{L}\p{N}]/u.test(word));
        if (wanted.length === 0) return [];
        // In quotes a word is a word, whatever the query language would make of it.
        const match = wanted.map((word) => `"${word.replaceAll('"', '""')}"*`).join(' OR ');
        return sql('search')
          .all(...placeOf(owner), match, limit)
          .map(noteOf);
      }),
    countNotes: (owner) => use(() => count(owner)),
    close() {
      if (connection.isOpen) connection.close();
    },
  };
}

function placeOf({ tenant, userId, bundle }: NoteReader): [string, string, string | null] {
  return [tenant, userId, bundle ?? null];
}

function noteOf(row: Record<string, SQLOutputValue>): StoredNote {
  return {
    id: String(row['id']),
    bundle: String(row['bundle']),
    text: String(row['text']),
    pinned: row['pinned'] === 1,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
  };
}

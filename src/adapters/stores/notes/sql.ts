/** The tables, for the control file. Times are milliseconds since 1970. */
export const NOTE_TABLES = `
  CREATE TABLE notes (
    note INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    bundle TEXT NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (tenant, user_id, bundle, id)
  ) STRICT;
  CREATE INDEX notes_hot ON notes (tenant, user_id, bundle, pinned DESC, updated_at DESC, id);

  CREATE VIRTUAL TABLE note_words USING fts5 (
    text, content = 'notes', content_rowid = 'note', tokenize = 'unicode61 remove_diacritics 2'
  );
  CREATE TRIGGER notes_added AFTER INSERT ON notes BEGIN
    INSERT INTO note_words (rowid, text) VALUES (new.note, new.text);
  END;
  CREATE TRIGGER notes_removed AFTER DELETE ON notes BEGIN
    INSERT INTO note_words (note_words, rowid, text) VALUES ('delete', old.note, old.text);
  END;
  CREATE TRIGGER notes_changed AFTER UPDATE OF text ON notes BEGIN
    INSERT INTO note_words (note_words, rowid, text) VALUES ('delete', old.note, old.text);
    INSERT INTO note_words (rowid, text) VALUES (new.note, new.text);
  END;
`;

const OWN = 'tenant = ?1 AND user_id = ?2 AND bundle = ?3';
/** Without a bundle: of all. */
const READ = 'tenant = ?1 AND user_id = ?2 AND (?3 IS NULL OR bundle = ?3)';
const NOTE = 'id, bundle, notes.text AS text, pinned, created_at, updated_at';
const ORDER = 'pinned DESC, updated_at DESC, bundle, id';

export const NOTE_SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  count: `SELECT count(*) AS count FROM notes WHERE ${READ}`,
  find: `SELECT ${NOTE} FROM notes WHERE ${READ} AND id = ?4 ORDER BY ${ORDER} LIMIT 1`,
  add: `INSERT INTO notes (tenant, user_id, bundle, id, text, pinned, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
  change: `UPDATE notes SET text = ?5, pinned = ?6, updated_at = ?7 WHERE ${OWN} AND id = ?4`,
  remove: `DELETE FROM notes WHERE ${OWN} AND id = ?4`,
  list: `SELECT ${NOTE} FROM notes WHERE ${READ} ORDER BY ${ORDER} LIMIT ?4`,
  listAfter: `SELECT ${NOTE} FROM notes
    WHERE ${READ} AND (-pinned, -updated_at, bundle, id) > (-?5, -?6, ?7, ?8) ORDER BY ${ORDER} LIMIT ?4`,
  search: `SELECT ${NOTE} FROM note_words JOIN notes ON notes.note = note_words.rowid
    WHERE ${READ} AND note_words MATCH ?4 ORDER BY bm25(note_words), ${ORDER} LIMIT ?5`,
} as const satisfies Record<string, string>;

import type { Note, NoteOwner, NoteStore } from '../../../kernel/notes.ts';
import type { Database, Value } from '../postgres/database.ts';
import { nameOf, storedName } from '../postgres/text.ts';
import { wordsOf } from './words.ts';

/** Users' notes, beside the log in its database. The log closes the connections. */
export function createPostgresNotes(database: Database): NoteStore & { close(): void } {
  const sql = statements(database.settings.schema);
  const ask = (name: keyof typeof sql, values: readonly Value[]): Promise<Row[]> =>
    database.run({ name: `${name}_${database.settings.schema}`, text: sql[name] }, values, 'some');

  return {
    saveNote(owner, { id, text, pinned, createdAt, updatedAt }, most) {
      const place = placeOf(owner);
      const words = ` ${wordsOf(text).join(' ')}`;
      return database.together(async (transaction) => {
        // So that two processes do not both write the last one that has room.
        await transaction.run(sql.lock, [JSON.stringify([database.settings.schema, ...place])]);
        const note = [...place, storedName(id), storedName(text), words, pinned, updatedAt];
        if ((await transaction.run(sql.change, note)).length > 0) return 'changed';
        const [counted] = await transaction.run<Row>(sql.count, place);
        if (Number(counted?.['count']) >= most) return 'full';
        await transaction.run(sql.add, [...note, createdAt]);
        return 'added';
      });
    },
    async removeNote(owner, id) {
      return (await ask('remove', [...placeOf(owner), storedName(id)])).length > 0;
    },
    async findNote(owner, id) {
      const [row] = await ask('find', [...placeOf(owner), storedName(id)]);
      return row === undefined ? undefined : noteOf(row);
    },
    async listNotes(owner, limit) {
      return (await ask('list', [...placeOf(owner), limit])).map(noteOf);
    },
    async searchNotes(owner, words, limit) {
      const wanted = words.flatMap(wordsOf).map((word) => ` ${word}`);
      return wanted.length === 0 ? [] : (await ask('search', [...placeOf(owner), wanted, limit])).map(noteOf);
    },
    async countNotes(owner) {
      return Number((await ask('count', placeOf(owner)))[0]?.['count']);
    },
    close: () => undefined,
  };
}

type Row = Readonly<Record<string, unknown>>;

function placeOf({ tenant, userId, bundle }: NoteOwner): string[] {
  return [tenant, userId, bundle].map(storedName);
}

function noteOf(row: Row): Note {
  return {
    id: nameOf(String(row['id'])),
    text: nameOf(String(row['text'])),
    pinned: row['pinned'] === true,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
  };
}

function statements(s: string) {
  const own = 'tenant = $1 AND user_id = $2 AND bundle = $3';
  const note = 'id, text, pinned, created_at, updated_at';
  const order = 'pinned DESC, updated_at DESC, id';
  return {
    lock: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
    count: `SELECT count(*) FROM ${s}.notes WHERE ${own}`,
    find: `SELECT ${note} FROM ${s}.notes WHERE ${own} AND id = $4`,
    add: `INSERT INTO ${s}.notes (tenant, user_id, bundle, id, text, words, pinned, updated_at, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    change: `UPDATE ${s}.notes SET text = $5, words = $6, pinned = $7, updated_at = $8 WHERE ${own} AND id = $4
      RETURNING id`,
    remove: `DELETE FROM ${s}.notes WHERE ${own} AND id = $4 RETURNING id`,
    list: `SELECT ${note} FROM ${s}.notes WHERE ${own} ORDER BY ${order} LIMIT $4`,
    // A user has few notes: each is looked at. A word that begins so has a space before it.
    search: `SELECT ${note} FROM ${s}.notes,
        LATERAL (SELECT count(*) AS score FROM unnest($4::text[]) word WHERE strpos(words, word) > 0) found
      WHERE ${own} AND score > 0 ORDER BY score DESC, ${order} LIMIT $5`,
  } as const;
}

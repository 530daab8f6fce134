import type { NoteOwner, NoteReader, NoteStore, StoredNote } from '../../../kernel/notes.ts';
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
      const [row] = await ask('find', [...readBy(owner), storedName(id)]);
      return row === undefined ? undefined : noteOf(row);
    },
    async listNotes(owner, limit, after) {
      if (after === undefined) return (await ask('list', [...readBy(owner), limit])).map(noteOf);
      const place = [after.pinned, after.updatedAt, storedName(after.bundle), storedName(after.id)];
      return (await ask('list_after', [...readBy(owner), limit, ...place])).map(noteOf);
    },
    async searchNotes(owner, words, limit) {
      const wanted = words.flatMap(wordsOf).map((word) => ` ${word}`);
      return wanted.length === 0 ? [] : (await ask('search', [...readBy(owner), wanted, limit])).map(noteOf);
    },
    async countNotes(owner) {
      return Number((await ask('count_read', readBy(owner)))[0]?.['count']);
    },
    close: () => undefined,
  };
}

type Row = Readonly<Record<string, unknown>>;

function placeOf({ tenant, userId, bundle }: NoteOwner): string[] {
  return [tenant, userId, bundle].map(storedName);
}

/** Without a bundle: of all. */
function readBy({ tenant, userId, bundle }: NoteReader): (string | null)[] {
  return [storedName(tenant), storedName(userId), bundle === undefined ? null : storedName(bundle)];
}

function noteOf(row: Row): StoredNote {
  return {
    id: nameOf(String(row['id'])),
    bundle: nameOf(String(row['bundle'])),
    text: nameOf(String(row['text'])),
    pinned: row['pinned'] === true,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
  };
}

function statements(s: string) {
  const own = 'tenant = $1 AND user_id = $2 AND bundle = $3';
  const read = 'tenant = $1 AND user_id = $2 AND ($3::text IS NULL OR bundle = $3)';
  const note = 'id, bundle, text, pinned, created_at, updated_at';
  const order = 'pinned DESC, updated_at DESC, bundle, id';
  return {
    lock: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
    count: `SELECT count(*) FROM ${s}.notes WHERE ${own}`,
    count_read: `SELECT count(*) FROM ${s}.notes WHERE ${read}`,
    find: `SELECT ${note} FROM ${s}.notes WHERE ${read} AND id = $4 ORDER BY ${order} LIMIT 1`,
    add: `INSERT INTO ${s}.notes (tenant, user_id, bundle, id, text, words, pinned, updated_at, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    change: `UPDATE ${s}.notes SET text = $5, words = $6, pinned = $7, updated_at = $8 WHERE ${own} AND id = $4
      RETURNING id`,
    remove: `DELETE FROM ${s}.notes WHERE ${own} AND id = $4 RETURNING id`,
    list: `SELECT ${note} FROM ${s}.notes WHERE ${read} ORDER BY ${order} LIMIT $4`,
    list_after: `SELECT ${note} FROM ${s}.notes
      WHERE ${read} AND (NOT pinned, -updated_at, bundle, id) > (NOT $5::boolean, -$6::bigint, $7, $8)
      ORDER BY ${order} LIMIT $4`,
    // A user has few notes: each is looked at. A word that begins so has a space before it.
    search: `SELECT ${note} FROM ${s}.notes,
        LATERAL (SELECT count(*) AS score FROM unnest($4::text[]) word WHERE strpos(words, word) > 0) found
      WHERE ${read} AND score > 0 ORDER BY score DESC, ${order} LIMIT $5`,
  } as const;
}

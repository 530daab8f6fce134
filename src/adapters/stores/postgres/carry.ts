import { sha256 } from '../../../base/digest.ts';
import type { Instant } from '../../../base/clock.ts';
import type { Carried } from '../../../kernel/log.ts';
import { draftOf } from '../carried.ts';
import { minuteOf } from '../conversation-row.ts';
import { busyConversation } from '../fact.ts';
import { folded } from '../listing.ts';
import type { Database, Value } from './database.ts';
import type { Outbox } from './outbox.ts';
import { columnsOf, COLUMNS, factOf, packedRow, rowOf, type ReadRow, type Row, type StoredFact } from './rows.ts';
import { now, logStatements } from './sql.ts';
import { nameOf, storedName } from './text.ts';

/** All there is of a conversation, as of one moment. */
export function carried(database: Database, id: string, at: Instant | null): Promise<Carried | undefined> {
  const { schema, place: server } = database.settings;
  const sql = logStatements(schema);
  const place = `${server}: conversation ${id}`;
  return database.together(async (transaction) => {
    await transaction.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    const [row] = await transaction.run<Row>(sql.find.text, [storedName(id)]);
    if (row === undefined) return undefined;
    const [waits] = await transaction.run<Row>(
      `SELECT key, owner IS NOT NULL AND until > ${now('$2')} AS busy, waiting_since, continue_at
        FROM ${schema}.conversations WHERE id = $1`,
      [storedName(id), at],
    );
    if (waits?.['busy'] === true) throw busyConversation(place);
    const facts = await transaction.run<ReadRow>(sql.read.text, [storedName(id), 0, Number(row['head'])]);
    const keyed = await transaction.run<{ seq: number; key: string }>(
      `SELECT seq, key FROM ${schema}.facts WHERE conversation = $1 AND key IS NOT NULL`,
      [Number(waits?.['key'])],
    );
    const bodies = await transaction.run<{ content: Buffer }>(
      `SELECT b.content FROM ${schema}.conversation_blobs g JOIN ${schema}.blobs b ON b.hash = g.hash
        WHERE g.conversation = $1 ORDER BY b.hash`,
      [Number(waits?.['key'])],
    );
    const keys = new Map(keyed.map(({ seq, key }) => [seq, nameOf(key)]));
    const agentPath = nameOf(String(row['agent_path']));
    return {
      row: rowOf(row),
      facts: facts
        .filter((one): one is StoredFact => one.seq !== null)
        .map((one) => draftOf(factOf(one, { conversationId: id, agentPath, place }), keys.get(one.seq))),
      bodies: bodies.map(({ content }) => content.toString()),
      hasWork: waits?.['waiting_since'] !== null,
      continueAt: (waits?.['continue_at'] as number | null) ?? undefined, // a bigint
    };
  });
}

/** Adds the conversation. False when the id exists. */
export function adopted(database: Database, given: Carried, at: Instant | null, outbox?: Outbox): Promise<boolean> {
  const { schema: s } = database.settings;
  const { row, facts, bodies, hasWork, continueAt } = given;
  return database.together(async (transaction) => {
    const columns = columnsOf(row);
    columns.splice(7, 0, minuteOf(row.updatedAt));
    const [made] = await transaction.run<{ key: number }>(logStatements(s).create.text, columns);
    if (made === undefined) return false;
    const packed = facts.map(({ draft }) => packedRow(row.id, draft));
    const texts = new Map<string, Buffer>();
    for (const { blob, content } of packed)
      if (blob !== null && content !== null) texts.set(blob.toString('hex'), content);
    for (const body of bodies) texts.set(sha256(body), Buffer.from(body));
    for (const [hash, content] of [...texts].sort(([left], [right]) => (left < right ? -1 : 1)))
      await transaction.run(
        `INSERT INTO ${s}.blobs (hash, content) VALUES ($1, $2) ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash`,
        [Buffer.from(hash, 'hex'), content],
      );
    await transaction.run(
      `INSERT INTO ${s}.conversation_blobs (conversation, hash) SELECT $1::bigint, * FROM unnest($2::bytea[])`,
      [made.key, [...new Set(bodies.map(sha256))].map((hash) => Buffer.from(hash, 'hex'))],
    );
    await transaction.run(
      `INSERT INTO ${s}.facts (conversation, ${COLUMNS.join(', ')}, at, seq)
        SELECT $1::bigint, f.* FROM unnest($2::text[], $3::int[], $4::int[], $5::bigint[], $6::bigint[], $7::text[],
          $8::text[], $9::text[], $10::text[], $11::bytea[], $12::bigint[]) WITH ORDINALITY f`,
      [
        made.key,
        ...COLUMNS.map((name) => packed.map((one) => one[name]) as Value), // one type a column
        facts.map((one) => one.at),
      ],
    );
    await transaction.run(
      `UPDATE ${s}.conversations SET head = $2, seen = $2, updated_at = $3::bigint, minute = $3::bigint / 60000, status = $4, title = $5,
        folded_title = $6, archived_at = $7, waiting_since = CASE WHEN $8 THEN ${now('$10')} END, continue_at = $9
        WHERE key = $1`,
      [
        ...[made.key, facts.length, row.updatedAt, row.status, storedName(row.title), storedName(folded(row.title))],
        ...[row.archivedAt ?? null, hasWork, continueAt ?? null, at],
      ],
    );
    if (hasWork || continueAt !== undefined) {
      const work = { conversationId: row.id, bundle: row.bundle, cause: 'adopted' };
      await outbox?.(transaction, hasWork ? work : { ...work, at: continueAt });
    }
    return true;
  });
}

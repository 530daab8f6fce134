import type { Instant } from '../../../base/clock.ts';
import type { Carried, ConversationRow } from '../../../kernel/log.ts';
import { draftOf } from '../carried.ts';
import { minuteOf } from '../conversation-row.ts';
import { sha256 } from '../../../base/digest.ts';
import { pack } from '../packed.ts';
import type { Blobs } from './blobs.ts';
import { created } from './conversation-table.ts';
import type { FactTable } from './fact-table.ts';
import type { StandingRow } from './rows.ts';
import type { Statements } from './statements.ts';

/** What a file has of conversations. */
export interface FileParts {
  readonly sql: Statements;
  readonly blobs: Blobs;
  readonly table: FactTable;
}

export function carried({ sql, table }: FileParts, row: ConversationRow, standing: StandingRow): Carried {
  const keys = new Map<number, string>();
  for (const { seq, key } of sql('keysOf').all(standing.key)) keys.set(Number(seq), String(key));
  const waits = sql('waits').get(standing.key);
  const bodies = sql('bodiesOf').all(standing.key);
  return {
    row,
    facts: table.read(row.id, standing, 0, standing.head).map((fact) => draftOf(fact, keys.get(fact.seq))),
    bodies: bodies.map(({ content }) => Buffer.from(content as Uint8Array).toString()), // a BLOB that may not be NULL
    hasWork: waits?.['waiting_since'] !== null,
    continueAt: (waits?.['continue_at'] as number | null | undefined) ?? undefined, // an INTEGER
  };
}

/** Inside a transaction: adds the conversation. False when the id exists. */
export function adopted(
  { sql, blobs, table }: FileParts,
  { row, facts, bodies, hasWork, continueAt }: Carried,
  keyOf: (conversationId: string) => number,
  now: Instant,
): boolean {
  if (!created(sql, row)) return false;
  const key = keyOf(row.id);
  facts.forEach(({ draft, at }, index) => table.add(key, index + 1, at, pack(row.id, draft)));
  for (const body of bodies) blobs.grant(key, blobs.keyOf(sha256(body), body));
  sql('adopted').run(
    ...[key, facts.length, row.updatedAt, minuteOf(row.updatedAt), row.status, row.title],
    ...[row.archivedAt ?? null, hasWork ? now : null, continueAt ?? null],
  );
  return true;
}

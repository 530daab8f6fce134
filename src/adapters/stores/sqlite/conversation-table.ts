import type { RunStatus } from '../../../domain/status.ts';
import type { ConversationMeta, ConversationRow, ListQuery } from '../../../kernel/log.ts';
import { folded } from '../listing.ts';
import { conversationRow, minuteOf } from '../conversation-row.ts';
import { placeOf, type StandingRow } from './rows.ts';
import { PLACES_PER_CONVERSATION } from './sql.ts';
import type { Statements } from './statements.ts';

/** Inside a transaction: adds the row. False when the id exists. */
export function created(sql: Statements, meta: ConversationMeta): boolean {
  const { id, agent, bundle, userId, tenant, agentPath, createdAt, parent, root, metadata, limits } = meta;
  const family = [parent?.id ?? null, parent?.action ?? null, root ?? null];
  const extra = [metadata, limits].map((value) => (value === undefined ? null : JSON.stringify(value)));
  return (
    sql('create').run(
      ...[id, agent, bundle, userId, tenant, agentPath, createdAt, minuteOf(createdAt)],
      ...family,
      ...extra,
    ).changes === 1
  );
}

export function listed(sql: Statements, query: ListQuery): ConversationRow[] {
  const { limit, before, userId, tenant, agent, status, q, archived, parent, root, top, bundles, label } = query;
  const from = before ?? { updatedAt: Number.MAX_SAFE_INTEGER, id: '' };
  const name = parent !== undefined ? 'listChildren' : root !== undefined ? 'listTree' : 'list';
  return sql(name)
    .all(
      ...[minuteOf(from.updatedAt), from.updatedAt, from.id],
      ...[userId ?? null, tenant ?? null, agent ?? null, jsonOrNull(status), jsonOrNull(bundles)],
      archived === 'any' ? null : archived === 'only' ? 0 : 1,
      q === undefined ? null : folded(q),
      Math.max(0, limit),
      ...[parent ?? null, root ?? null, top === true ? 1 : null],
      ...[label?.name ?? null, label?.value ?? null],
    )
    .map(conversationRow);
}

/** Inside a transaction: the facts 1 to `at` of one conversation, and all that belongs to them, in another that is empty. */
export function forkConversation(sql: Statements, source: StandingRow, target: StandingRow, at: number): void {
  const head = Math.min(source.head, Math.max(0, at));
  const distance = (target.key - source.key) * PLACES_PER_CONVERSATION;
  sql('forkFacts').run(distance, placeOf(source.key, 0), placeOf(source.key, head));
  sql('forkKeys').run(target.key, source.key, head);
  sql('forkBlobs').run(target.key, source.key);
  sql('forked').run(target.key, head, source.key);
}

/** Inside a transaction: the conversation is gone, and so are the texts that nobody else has. */
export function removeConversation(sql: Statements, { key, head }: StandingRow): void {
  const range = [placeOf(key, 0), placeOf(key, head)] as const;
  const blobs = sql('blobsOf').all(...range, key);
  sql('removeFacts').run(...range);
  sql('removeKeys').run(key);
  sql('removeGrants').run(key);
  sql('removeRow').run(key);
  for (const { blob } of blobs) sql('removeBlob').run(Number(blob));
}

export function statusCounts(sql: Statements): Partial<Record<RunStatus, number>> {
  const rows = sql('counts').all();
  return Object.fromEntries(rows.map(({ status, count }) => [String(status), Number(count)]));
}

function jsonOrNull(values: readonly string[] | undefined): string | null {
  return values === undefined ? null : JSON.stringify(values);
}

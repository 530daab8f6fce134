import { sha256 } from '../../../base/digest.ts';
import type { Draft, Fact } from '../../../domain/event.ts';
import type { ConversationMeta, ConversationRow } from '../../../kernel/log.ts';
import { conversationRow } from '../conversation-row.ts';
import { pack, unpacked, type FactColumns, type PackedFact } from '../packed.ts';
import { corrupt } from '../stored.ts';
import type { Value } from './database.ts';
import { nameOf, storedName } from './text.ts';

/** Payloads longer than this are stored apart, by their hash, so that pages of facts stay small. */
const INLINE_BYTES_MAX = 65_536;

/** What the driver hands out. */
export type Row = Readonly<Record<string, unknown>>;

/** A fact as `read` finds it; without any, the row says only how far the conversation has come. */
export interface ReadRow extends Row, Omit<FactColumns, 'seq' | 'payload'> {
  readonly agent_path: string;
  readonly head: number;
  readonly seq: number | null;
  readonly body: string | null;
  readonly content: Buffer | null;
}

export type StoredFact = ReadRow & { readonly seq: number };

/** What `post` left. */
export interface Posted extends Row {
  readonly seq: number;
  readonly agent_path: string;
  readonly at: number;
  readonly bundle: string;
  /** It had no work before. */
  readonly woken: boolean;
  readonly fresh: boolean;
}

/** How things stand with the work of a conversation. */
export interface Standing extends Row {
  readonly bundle: string;
  readonly epoch: number;
  readonly at: number | null;
  readonly ms: number | null;
}

/** What `release` left. */
export interface Released extends Row {
  readonly bundle: string;
  readonly waiting_since: number | null;
  readonly continue_at: number | null;
  readonly more: boolean;
}

export interface PackedRow extends Omit<PackedFact, 'payload'> {
  readonly type: string;
  readonly source: string | null;
  readonly key: string | null;
  readonly body: string | null;
  readonly blob: Buffer | null;
  readonly content: Buffer | null;
}

/** In the order of the statements. */
export const COLUMNS = ['type', 'v', 'turn', 'iteration', 'cause', 'source', 'key', 'rest', 'body', 'blob'] as const;

export function packedRow(conversationId: string, draft: Draft): PackedRow {
  const { payload, ...packed } = pack(conversationId, draft);
  const isLong = Buffer.byteLength(payload) > INLINE_BYTES_MAX;
  return {
    ...packed,
    type: draft.type,
    source: draft.source === undefined ? null : storedName(draft.source),
    key: draft.key === undefined ? null : storedName(draft.key),
    body: isLong ? null : payload,
    blob: isLong ? Buffer.from(sha256(payload), 'hex') : null,
    content: isLong ? Buffer.from(payload) : null,
  };
}

/** The facts that `read` found from a place on. Throws `log_corrupt` where one of them is missing. */
export function factsIn(
  rows: readonly ReadRow[],
  {
    conversationId,
    from,
    most,
    place,
  }: { readonly conversationId: string; readonly from: number; readonly most: number; readonly place: string },
): Fact[] {
  const [first] = rows;
  if (first === undefined) return [];
  const found = rows.filter((row): row is StoredFact => row.seq !== null);
  // A head that says more than the rows do means that facts were lost: better no answer than half a conversation.
  const gap = found.findIndex(({ seq }, index) => seq !== from + 1 + index);
  if (gap >= 0 || found.length < Math.min(most, first.head - from)) {
    const missing = from + 1 + (gap >= 0 ? gap : found.length);
    throw corrupt(`${place}, fact ${missing}`, 'nothing', 'a fact is missing');
  }
  const agentPath = nameOf(first.agent_path);
  return found.map((row) => factOf(row, { conversationId, agentPath, place }));
}

export function factOf(row: StoredFact, whose: { conversationId: string; agentPath: string; place: string }): Fact {
  const place = (): string => `${whose.place}, fact ${row.seq} (${row.type})`;
  const payload = row.body ?? row.content?.toString();
  if (payload === undefined) throw corrupt(place(), 'no payload', 'its blob is missing');
  const source = row.source === null ? null : nameOf(row.source);
  return unpacked({ ...row, source, payload }, { ...whose, place });
}

/** Without those whose type and key one before them has. */
export function withoutTwins(drafts: readonly Draft[]): readonly Draft[] {
  const seen = new Set<string>();
  return drafts.filter(({ type, key }) => {
    if (key === undefined) return true;
    const name = `${type}\n${key}`;
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  });
}

export function columnsOf(meta: ConversationMeta): Value[] {
  const { id, agent, bundle, userId, tenant, agentPath, createdAt, parent, root, metadata, limits } = meta;
  const names = [id, agent, bundle, userId, tenant, agentPath].map(storedName);
  const family = [parent?.id, parent?.action, root].map((name) => (name === undefined ? null : storedName(name)));
  const extra = [metadata, limits].map((value) => (value === undefined ? null : JSON.stringify(value)));
  return [...names, createdAt, ...family, ...extra];
}

const NAMES = ['id', 'agent', 'bundle', 'user_id', 'tenant', 'agent_path', 'title', 'parent', 'parent_action', 'root'];

export function rowOf(columns: Row): ConversationRow {
  const named: Record<string, unknown> = { ...columns };
  for (const name of NAMES) {
    const value = columns[name];
    if (typeof value === 'string') named[name] = nameOf(value);
  }
  return conversationRow(named);
}

import type { Instant } from '../../../base/clock.ts';
import { assert } from '../../../base/assert.ts';
import { tryParseJson } from '../../../base/json.ts';
import { facts, type Draft, type Fact } from '../../../domain/event.ts';
import { factId } from '../../../domain/fact-id.ts';
import type { RunLimits } from '../../../domain/run.ts';
import type { ConversationRow } from '../../../kernel/ports.ts';
import type { Standing } from '../standing.ts';
import { corrupt, payloadOf, payloadText } from '../stored.ts';
import { PLACES_PER_CONVERSATION } from './sql.ts';

/** A row of `facts` as SQL has it. */
export interface FactRow {
  readonly place: number;
  readonly type: number;
  readonly v: number | null;
  readonly at: number;
  readonly turn: number | null;
  readonly iteration: number | null;
  readonly cause: number | null;
  readonly source: number | null;
  readonly rest: string | null;
  readonly body: string | null;
  readonly blob: number | null;
}

/** A fact before it has its place, with everything about it that can be worked out outside the transaction. */
export interface PackedFact {
  readonly draft: Draft;
  readonly v: number | null;
  readonly turn: number | null;
  readonly iteration: number | null;
  readonly cause: number | null;
  readonly rest: string | null;
  readonly payload: string;
}

export interface StandingRow extends Standing {
  readonly key: number;
  readonly agentPath: string;
  readonly minute: number;
}

type Columns = Record<string, unknown>;

const TURN = /^t([1-9]\d{0,8})$/;
const COUNT = /^[1-9]\d{0,8}$/;

/** What is left of an envelope is rare, so it may cost more: `[turnId, iteration, causedBy]`. */
export function pack(conversationId: string, draft: Draft): PackedFact {
  const { turnId, iteration, causedBy } = draft;
  const turn = turnId === undefined ? undefined : TURN.exec(turnId)?.[1];
  const near = causedBy?.startsWith(`${conversationId}:`) ? causedBy.slice(conversationId.length + 1) : undefined;
  const cause = near !== undefined && COUNT.test(near) ? near : undefined;
  const isCount = Number.isSafeInteger(iteration);
  const rest = [
    turn === undefined ? turnId : undefined,
    isCount ? undefined : iteration,
    cause === undefined ? causedBy : undefined,
  ];
  const version: number = facts[draft.type].v;
  return {
    draft,
    v: version === 1 ? null : version,
    turn: turn === undefined ? null : Number(turn),
    iteration: isCount ? (iteration ?? null) : null,
    cause: cause === undefined ? null : Number(cause),
    rest: rest.every((one) => one === undefined) ? null : JSON.stringify(rest),
    payload: payloadText(draft),
  };
}

export interface Surroundings {
  readonly file: string;
  readonly conversationId: string;
  readonly agentPath: string;
  readonly nameOf: (key: number) => string | undefined;
  readonly blobText: (key: number) => string | undefined;
}

export function unpack(row: FactRow, { file, conversationId, agentPath, nameOf, blobText }: Surroundings): Fact {
  const seq = row.place % PLACES_PER_CONVERSATION;
  const type = nameOf(row.type);
  const place = () => `${file}: conversation ${conversationId}, fact ${seq} (${type ?? `type ${row.type}`})`;
  if (type === undefined) throw corrupt(place(), 'a type without a name', 'the table of names has lost it');
  const text = row.body ?? (row.blob === null ? undefined : blobText(row.blob));
  if (text === undefined) throw corrupt(place(), 'no payload', 'its blob is missing');
  const rest = row.rest === null ? undefined : restOf(row.rest, place);
  const v = row.v ?? 1;
  const payload = payloadOf(type, v, text, place);
  return {
    seq,
    id: factId(conversationId, seq),
    type,
    v: Object.hasOwn(facts, type) ? facts[type as keyof typeof facts].v : v, // hasOwn has just said so
    at: row.at,
    conversationId,
    agentPath,
    turnId: row.turn === null ? rest?.turnId : `t${row.turn}`,
    iteration: row.iteration ?? rest?.iteration,
    causedBy: row.cause === null ? rest?.causedBy : factId(conversationId, row.cause),
    source: row.source === null ? undefined : nameOf(row.source),
    payload,
  } as Fact; // the payload fits the type's schema, or the type is one that only a newer version knows
}

function restOf(text: string, place: () => string): Pick<Fact, 'turnId' | 'iteration' | 'causedBy'> {
  const parsed = tryParseJson(text);
  if (!parsed.ok || !Array.isArray(parsed.value)) throw corrupt(place(), 'an envelope that is not JSON', text);
  const [turnId, iteration, causedBy] = parsed.value as unknown[];
  return {
    turnId: typeof turnId === 'string' ? turnId : undefined,
    iteration: typeof iteration === 'number' ? iteration : undefined,
    causedBy: typeof causedBy === 'string' ? causedBy : undefined,
  };
}

// The casts below rest on STRICT and NOT NULL: the database itself refuses a column of another type.

export function factRow(columns: Columns): FactRow {
  return columns as unknown as FactRow; // same names
}

export function conversationRow(columns: Columns): ConversationRow {
  const row = {
    id: columns['id'] as string,
    agent: columns['agent'] as string,
    bundle: columns['bundle'] as string,
    userId: columns['user_id'] as string,
    tenant: columns['tenant'] as string,
    agentPath: columns['agent_path'] as string,
    createdAt: columns['created_at'] as number,
    head: columns['head'] as number,
    status: columns['status'] as ConversationRow['status'],
    title: columns['title'] as string,
    updatedAt: columns['updated_at'] as number,
  };
  const parent = columns['parent'] as string | null;
  return {
    ...row,
    ...(parent !== null && { parent: { id: parent, action: columns['parent_action'] as string } }),
    ...(columns['root'] !== null && { root: columns['root'] as string }),
    ...(columns['metadata'] !== null && { metadata: ownJson(columns['metadata']) as Record<string, string> }),
    ...(columns['limits'] !== null && { limits: ownJson(columns['limits']) as RunLimits }),
    ...(columns['archived_at'] !== null && { archivedAt: columns['archived_at'] as number }),
  };
}

/** JSON that this file wrote of a value that its caller had checked. */
function ownJson(text: unknown): unknown {
  const parsed = tryParseJson(String(text));
  return parsed.ok ? parsed.value : undefined;
}

export function standingRow(columns: Columns): StandingRow {
  return {
    key: columns['key'] as number,
    agentPath: columns['agent_path'] as string,
    head: columns['head'] as number,
    epoch: columns['epoch'] as number,
    owner: (columns['owner'] as string | null) ?? undefined,
    until: columns['until'] as number,
    seen: columns['seen'] as number,
    posted: columns['posted'] as number,
    status: columns['status'] as StandingRow['status'],
    minute: columns['minute'] as number,
  };
}

export function placeOf(conversationKey: number, seq: number): number {
  assert(seq < PLACES_PER_CONVERSATION && conversationKey < 2 ** 27, 'a log has outgrown its file format');
  return conversationKey * PLACES_PER_CONVERSATION + seq;
}

/** A time as the listing's index has it. */
export function minuteOf(at: Instant): number {
  return Math.floor(at / 60_000);
}

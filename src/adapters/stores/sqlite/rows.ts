import { assert } from '../../../base/assert.ts';
import type { Fact } from '../../../domain/event.ts';
import { unpacked } from '../packed.ts';
import type { Standing } from '../standing.ts';
import { corrupt } from '../stored.ts';
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

export interface StandingRow extends Standing {
  readonly key: number;
  readonly agentPath: string;
  readonly minute: number;
}

type Columns = Record<string, unknown>;

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
  const source = row.source === null ? null : (nameOf(row.source) ?? null);
  return unpacked({ ...row, seq, type, source, payload: text }, { conversationId, agentPath, place });
}

// The casts below rest on STRICT and NOT NULL: the database itself refuses a column of another type.

export function factRow(columns: Columns): FactRow {
  return columns as unknown as FactRow; // same names
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

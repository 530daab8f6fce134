import type { Instant } from '../../base/clock.ts';
import { tryParseJson } from '../../base/json.ts';
import { facts, type Draft, type Fact } from '../../domain/event.ts';
import { factId } from '../../domain/fact-id.ts';
import { corrupt, payloadOf, payloadText } from './stored.ts';

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

/** A fact as a row has it, once its names and its payload are looked up. */
export interface FactColumns {
  readonly seq: number;
  readonly type: string;
  readonly v: number | null;
  readonly at: Instant;
  readonly turn: number | null;
  readonly iteration: number | null;
  readonly cause: number | null;
  readonly source: string | null;
  readonly rest: string | null;
  readonly payload: string;
}

export interface Whose {
  readonly conversationId: string;
  readonly agentPath: string;
  /** For messages. */
  readonly place: () => string;
}

/** The fact that was packed. Throws `log_corrupt` and `log_version`. */
export function unpacked(row: FactColumns, { conversationId, agentPath, place }: Whose): Fact {
  const { seq, type } = row;
  const rest = row.rest === null ? undefined : restOf(row.rest, place);
  const v = row.v ?? 1;
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
    source: row.source ?? undefined,
    payload: payloadOf(type, v, row.payload, place),
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

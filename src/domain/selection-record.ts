import { z } from 'zod';
import type { Instant } from '../base/clock.ts';
import { isObject, type Json } from '../base/json.ts';
import {
  joinPatches,
  mergeSelection,
  isEmptyPatch,
  selectionPatch,
  withoutNamed,
  type SelectionPatch,
} from './selection-patch.ts';
import { emptySelection, read, type Selection } from './selection.ts';

/** A change that waits: for the prompt cache to be cold, where it is free, or for the next conversation. */
export const pendingChange = z.strictObject({
  /** Unique in its record; the log of a conversation names it once it counts there. */
  id: z.string(),
  apply: z.enum(['when_cold', 'next_conversation']),
  patch: selectionPatch,
  /** When it was asked for. */
  at: z.number(),
});
export type PendingChange = z.infer<typeof pendingChange>;

/** What is stored of one user's choices for one agent, or for one conversation with it. */
export interface SelectionRecord {
  readonly selection: Selection;
  /** In the order in which they were asked for. */
  readonly pending: readonly PendingChange[];
  /** When this user last made warm prompts cold, in a user's own record alone. */
  readonly coldTurns?: readonly Instant[] | undefined;
}

export const emptyRecord: SelectionRecord = { selection: emptySelection, pending: [] };

/** Pending changes of one record. Whoever defers more has to drop or apply some first. */
export const MOST_PENDING = 20;

export interface ReadRecord extends SelectionRecord {
  /** Why something in the row was passed over, as sentences; empty when all of it was understood. */
  readonly ignored: readonly string[];
}

/**
 * A stored row, read with suspicion. Total: what cannot be understood is told, and counts as it is `known` from before,
 * entry by entry; as not there where nothing is known.
 */
export function readRecord(stored: unknown, known: Selection = emptySelection): ReadRecord {
  if (stored === undefined || stored === null) return { ...emptyRecord, ignored: [] };
  const ignored: string[] = [];
  try {
    const coldTurns = readTimes(stored);
    return {
      selection: read(stored, ignored, known),
      pending: readPending(stored, ignored),
      ...(coldTurns.length === 0 ? {} : { coldTurns }),
      ignored,
    };
  } catch {
    return { ...emptyRecord, selection: known, ignored: ['The record cannot be read.'] };
  }
}

/** A record as it is stored: the selection's own keys, and beside them what waits. */
export function rowOf({ selection, pending, coldTurns = [] }: SelectionRecord): Json {
  const row = {
    ...selection,
    ...(pending.length === 0 ? {} : { pending }),
    ...(coldTurns.length === 0 ? {} : { cold_turns: coldTurns }),
  };
  return row as unknown as Json; // made of JSON; what is undefined is left out when it is written
}

function readTimes(stored: unknown): readonly Instant[] {
  const list: unknown = isObject(stored) ? stored['cold_turns'] : undefined;
  return Array.isArray(list) ? list.filter((one): one is number => typeof one === 'number') : [];
}

function readPending(stored: unknown, ignored: string[]): readonly PendingChange[] {
  if (!isObject(stored) || stored['pending'] === undefined || stored['pending'] === null) return [];
  const list: unknown = stored['pending'];
  if (!Array.isArray(list)) {
    ignored.push('pending is not a list.');
    return [];
  }
  return list.flatMap((one) => {
    const parsed = pendingChange.safeParse(one);
    if (!parsed.success) ignored.push('pending holds a change that is not of the known shape.');
    return parsed.success ? [parsed.data] : [];
  });
}

/** Where and when a record is used. */
export interface Standing {
  /** When the conversation was started. */
  readonly createdAt: number;
  /** Ids of pending changes that count in this conversation already. */
  readonly promoted: ReadonlySet<string>;
  /** Nothing of the prompt would be read from the cache now. */
  readonly isCold: boolean;
}

export interface InForce {
  readonly selection: Selection;
  /** Pending changes that count here and now, oldest first. */
  readonly promoted: readonly PendingChange[];
  readonly waiting: readonly PendingChange[];
}

/** What of a record counts in a conversation. Once a change has been promoted there, it stays. */
export function inForce({ selection, pending }: SelectionRecord, { createdAt, promoted, isCold }: Standing): InForce {
  const counts = ({ id, apply, at }: PendingChange): boolean =>
    promoted.has(id) || (apply === 'when_cold' ? isCold : createdAt > at);
  const now = pending.filter(counts);
  return {
    selection: now.reduce((merged, { patch }) => mergeSelection(merged, patch), selection),
    promoted: now,
    waiting: pending.filter((one) => !counts(one)),
  };
}

/** The record after a change that counts at once. A pending change loses what this one says. */
export function applied(record: SelectionRecord, patch: SelectionPatch): SelectionRecord {
  const left = record.pending
    .map((one) => ({ ...one, patch: withoutNamed(one.patch, patch) }))
    .filter((one) => !isEmptyPatch(one.patch));
  return { ...record, selection: mergeSelection(record.selection, patch), pending: left };
}

/**
 * The record after a change that waits. In the copy of a conversation, whose log says what was `promoted`, one that still
 * waits for the same takes it in. Of a user's record nobody knows which conversations have it already.
 */
export function deferred(
  record: SelectionRecord,
  change: PendingChange,
  promoted?: ReadonlySet<string>,
): SelectionRecord {
  const { pending } = record;
  const last = pending.at(-1);
  if (promoted === undefined || last === undefined || last.apply !== change.apply || promoted.has(last.id)) {
    return { ...record, pending: [...pending, change] };
  }
  const joined = { ...change, patch: joinPatches(last.patch, change.patch) };
  return { ...record, pending: [...pending.slice(0, -1), joined] };
}

/** The record with what was promoted taken into its selection: for the copy of one conversation. */
export function settled(record: SelectionRecord, promoted: ReadonlySet<string>): SelectionRecord {
  const done = record.pending.filter(({ id }) => promoted.has(id));
  if (done.length === 0) return record;
  return {
    ...record,
    selection: done.reduce((merged, { patch }) => mergeSelection(merged, patch), record.selection),
    pending: record.pending.filter(({ id }) => !promoted.has(id)),
  };
}

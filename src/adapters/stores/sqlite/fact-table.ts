import type { Instant } from '../../../base/clock.ts';
import { sha256 } from '../../../base/digest.ts';
import type { Draft, Fact } from '../../../domain/event.ts';
import { corrupt } from '../stored.ts';
import type { Blobs } from './blobs.ts';
import type { Names } from './names.ts';
import type { PackedFact } from '../packed.ts';
import { factRow, placeOf, unpack, type StandingRow } from './rows.ts';
import type { Statements } from './statements.ts';

/** Payloads longer than this are stored apart, by their hash, so that pages of facts stay small. */
const INLINE_BYTES_MAX = 65_536;

export interface FactTable {
  /** The sequence number of the fact that has the draft's type and key. */
  keyed(conversation: number, draft: Draft): number | undefined;
  add(conversation: number, seq: number, at: Instant, fact: PackedFact): void;
  /** Facts after `after`, checked for being the very next ones. */
  read(conversationId: string, standing: StandingRow, after: number, limit: number): Fact[];
}

export function createFactTable(file: string, sql: Statements, names: Names, blobs: Blobs): FactTable {
  return {
    keyed(conversation, { type, key }) {
      if (key === undefined) return undefined;
      const seq = sql('findKey').get(conversation, names.keyOf(type), key)?.['seq'];
      return typeof seq === 'number' ? seq : undefined;
    },

    add(conversation, seq, at, { draft, v, turn, iteration, cause, rest, payload }) {
      const type = names.keyOf(draft.type);
      const source = draft.source === undefined ? null : names.keyOf(draft.source);
      const blob = isLong(payload) ? blobs.keyOf(sha256(payload), payload) : null;
      const body = blob === null ? payload : null;
      sql('addFact').run(placeOf(conversation, seq), type, v, at, turn, iteration, cause, source, rest, body, blob);
      if (draft.key !== undefined) sql('addKey').run(conversation, type, draft.key, seq);
    },

    read(conversationId, { key, agentPath, head }, after, limit) {
      const rows = sql('facts').all(placeOf(key, after), placeOf(key, head), limit).map(factRow);
      // A head that says more than the rows do means that facts were lost: better no answer than half a conversation.
      const gap = rows.findIndex((row, index) => row.place !== placeOf(key, after + 1 + index));
      if (gap >= 0 || rows.length < Math.min(limit, head - after)) {
        const missing = after + 1 + (gap >= 0 ? gap : rows.length);
        throw corrupt(`${file}: conversation ${conversationId}, fact ${missing}`, 'nothing', 'a fact is missing');
      }
      const around = {
        ...{ file, conversationId, agentPath },
        nameOf: (name: number) => names.nameOf(name),
        blobText: (blob: number) => blobs.text(blob),
      };
      return rows.map((row) => unpack(row, around));
    },
  };
}

/** A text's UTF-8 is at most three bytes for each of its code units. */
function isLong(text: string): boolean {
  return text.length * 3 > INLINE_BYTES_MAX && Buffer.byteLength(text) > INLINE_BYTES_MAX;
}

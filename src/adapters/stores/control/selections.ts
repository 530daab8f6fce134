import { canonicalJson, tryParseJson, type Json } from '../../../base/json.ts';
import type { SelectionKey } from '../../../kernel/choices.ts';

interface Stored {
  readonly value: unknown;
  readonly revision: number;
}

interface MemorySelections {
  readSelection(key: SelectionKey): Stored | undefined;
  writeSelection(key: SelectionKey, value: Json, expected: number): boolean;
}

/** Users' choices, for as long as the process lives. */
export function createMemorySelections(): MemorySelections {
  const rows = new Map<string, { readonly text: string; readonly revision: number }>();
  return {
    readSelection(key) {
      const row = rows.get(canonicalJson(placeOf(key)));
      return row === undefined ? undefined : storedSelection(row.text, row.revision);
    },
    writeSelection(key, value, expected) {
      const place = canonicalJson(placeOf(key));
      if ((rows.get(place)?.revision ?? 0) !== expected) return false;
      // As text, so that nobody who holds the value can change what is stored.
      rows.set(place, { text: canonicalJson(value), revision: expected + 1 });
      return true;
    },
  };
}

/** Where a row stands. A user's own has no conversation. */
export function placeOf({ tenant, userId, bundle, agent, conversation = '' }: SelectionKey): string[] {
  return [tenant, userId, bundle, agent, conversation];
}

/** A row as it was stored. Text that is no JSON, such as a half-written one, is handed on as text: its reader says so. */
export function storedSelection(text: string, revision: number): Stored {
  const parsed = tryParseJson(text);
  return { value: parsed.ok ? parsed.value : text, revision };
}

import { canonicalJson, toJson, tryParseJson } from '../../../base/json.ts';
import { allowance } from '../../../domain/allowance.ts';
import type { AllowanceOwner, StoredAllowance } from '../../../kernel/choices.ts';

interface MemoryAllowances {
  addAllowance(owner: AllowanceOwner, given: StoredAllowance): void;
  allowancesOf(owner: AllowanceOwner): readonly StoredAllowance[];
  revokeAllowance(owner: AllowanceOwner, id: string): boolean;
}

/** What users have allowed for always, for as long as the process lives. */
export function createMemoryAllowances(): MemoryAllowances {
  const rows = new Map<string, { readonly text: string; revoked: boolean }>();
  const place = ({ tenant, userId }: AllowanceOwner, id: string): string => canonicalJson([tenant, userId, id]);
  return {
    addAllowance(owner, given) {
      const key = place(owner, given.id);
      if (!rows.has(key)) rows.set(key, { text: allowanceText(given), revoked: false });
    },
    allowancesOf(owner) {
      const mine = place(owner, '').slice(0, -'""]'.length);
      const standing = [...rows].filter(([key, { revoked }]) => !revoked && key.startsWith(mine)).reverse();
      return standing.flatMap(([, { text }]) => storedAllowance(text) ?? []);
    },
    revokeAllowance(owner, id) {
      const row = rows.get(place(owner, id));
      if (row === undefined || row.revoked) return false;
      row.revoked = true;
      return true;
    },
  };
}

export function allowanceText(given: StoredAllowance): string {
  return canonicalJson(toJson(given));
}

/** A row as it was stored. What cannot be read allows nothing. */
export function storedAllowance(text: string): StoredAllowance | undefined {
  const parsed = tryParseJson(text);
  const found = stored.safeParse(parsed.ok ? parsed.value : undefined);
  return found.success ? found.data : undefined;
}

const { shape } = allowance;
const stored = allowance.extend({
  scope: shape.scope.extract(['always']),
  bundle: shape.tool,
  agent: shape.tool,
  conversation: shape.tool,
});

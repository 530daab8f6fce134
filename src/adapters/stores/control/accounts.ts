import { canonicalJson } from '../../../base/json.ts';
import type { AccountKey } from '../../../kernel/stores.ts';

interface Row {
  readonly key: AccountKey;
  readonly sealed: string;
  readonly revision: number;
}

interface MemoryAccounts {
  readAccount(key: AccountKey): { readonly sealed: string; readonly revision: number } | undefined;
  writeAccount(key: AccountKey, sealed: string, expected: number): boolean;
  removeAccount(key: AccountKey): boolean;
  accountsOf(owner: Omit<AccountKey, 'provider'>): readonly { readonly provider: string; readonly sealed: string }[];
}

/** Users' accounts, for as long as the process lives. */
export function createMemoryAccounts(): MemoryAccounts {
  const rows = new Map<string, Row>();
  const place = ({ tenant, userId, provider }: AccountKey): string => canonicalJson([tenant, userId, provider]);
  let revisions = 0;
  return {
    readAccount(key) {
      const row = rows.get(place(key));
      return row === undefined ? undefined : { sealed: row.sealed, revision: row.revision };
    },
    writeAccount(key, sealed, expected) {
      if ((rows.get(place(key))?.revision ?? 0) !== expected) return false;
      rows.set(place(key), { key, sealed, revision: ++revisions });
      return true;
    },
    removeAccount: (key) => rows.delete(place(key)),
    accountsOf: ({ tenant, userId }) =>
      [...rows.values()]
        .filter(({ key }) => key.tenant === tenant && key.userId === userId)
        .map(({ key: { provider }, sealed }) => ({ provider, sealed }))
        .sort((left, right) => (left.provider < right.provider ? -1 : 1)),
  };
}

import type { Clock, Instant } from '../../../base/clock.ts';
import { createMemoryAccounts } from './accounts.ts';
import { createMemoryAllowances } from './allowances.ts';
import { createMemorySelections } from './selections.ts';
import { createMemoryToolMemory } from './tool-memory.ts';
import type { ApiKey, ControlStore, StoredReply } from '../../../kernel/stores.ts';
import { newSecret } from './secret.ts';

interface Claimed {
  readonly fingerprint: string;
  readonly owner: string;
  readonly until: Instant;
  readonly reply?: StoredReply;
}

/** The control store with every method answering at once. */
export type MemoryControlStore = {
  [K in keyof ControlStore]: (
    ...parameters: Parameters<ControlStore[K]>
  ) => Exclude<ReturnType<ControlStore[K]>, Promise<unknown>>;
};

/** What a server keeps besides the log, for as long as the process lives. */
export function createMemoryControlStore({ clock }: { readonly clock: Clock }): MemoryControlStore {
  const keys = new Map<string, ApiKey>();
  const claims = new Map<string, Claimed>();
  const secrets = new Map<string, string>();
  const place = ({ scope, key }: { readonly scope: string; readonly key: string }): string => `${scope}\n${key}`;

  return {
    add(key) {
      if (keys.has(key.id)) throw new RangeError(`the key ${key.id} exists`);
      keys.set(key.id, key);
    },
    find: (id) => keys.get(id),
    list: () => [...keys.values()].reverse(),
    revoke(id, at) {
      const key = keys.get(id);
      if (key === undefined) return false;
      keys.set(id, { ...key, revokedAt: key.revokedAt ?? at });
      return true;
    },
    used(id, at) {
      const key = keys.get(id);
      if (key !== undefined) keys.set(id, { ...key, lastUsedAt: at });
    },
    any: () => keys.size > 0,

    begin(claim, owner, leaseMs) {
      const now = clock.now();
      const before = claims.get(place(claim));
      const isOver = before !== undefined && before.until <= now;
      if (before !== undefined && !(isOver && before.reply !== undefined)) {
        if (before.fingerprint !== claim.fingerprint) return { state: 'conflict' };
        if (before.reply !== undefined) return { state: 'done', reply: before.reply };
        if (!isOver) return { state: 'busy' };
      }
      claims.set(place(claim), { fingerprint: claim.fingerprint, owner, until: now + leaseMs });
      return { state: 'yours', again: before !== undefined && before.reply === undefined };
    },
    settle(claim, owner, reply, keepMs) {
      const held = claims.get(place(claim));
      if (held?.owner !== owner || held.reply !== undefined) return;
      claims.set(place(claim), { ...held, reply, until: clock.now() + keepMs });
    },
    abandon(claim, owner) {
      const held = claims.get(place(claim));
      if (held?.owner === owner && held.reply === undefined) claims.delete(place(claim));
    },
    purge() {
      const now = clock.now();
      const over = [...claims].filter(([, { reply, until }]) => reply !== undefined && until <= now);
      for (const [name] of over) claims.delete(name);
      return over.length;
    },

    secret(name) {
      let secret = secrets.get(name);
      if (secret === undefined) secrets.set(name, (secret = newSecret()));
      return secret;
    },
    ...createMemorySelections(),
    ...createMemoryAccounts(),
    ...createMemoryAllowances(),
    ...createMemoryToolMemory(),
    close: () => undefined,
  };
}

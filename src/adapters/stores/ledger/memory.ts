import type { Clock } from '../../../base/clock.ts';
import type { Ledger, Reservation } from '../../../kernel/ledger.ts';
import {
  charged,
  costOf,
  counted,
  dayKey,
  emptyAccount,
  emptyDay,
  payers,
  summed,
  type Account,
  type Day,
} from './accounts.ts';
import { fits, nothingSetAside, setAsideWith, spentOf, type SetAside } from './headroom.ts';

/** The ledger with every method answering at once. */
export type SyncLedger = {
  [K in keyof Ledger]: (...parameters: Parameters<Ledger[K]>) => Exclude<ReturnType<Ledger[K]>, Promise<unknown>>;
};

/** What was spent, for as long as the process lives. */
export function createMemoryLedger({ clock }: { readonly clock: Clock }): SyncLedger {
  const positions = new Map<string, number>();
  const accounts = new Map<string, Account>();
  /** By tenant, then by what makes up a day's key. */
  const days = new Map<string, Map<string, Day>>();
  const reservations = new Map<string, Reservation>();
  const place = (account: string, period: string): string => `${period}\n${account}`;

  /** By account: what is set aside by all but one reservation. Forgets what has run out or belongs to a dead owner. */
  function setAside(except: Reservation): Map<string, SetAside> {
    const now = clock.now();
    const totals = new Map<string, SetAside>();
    for (const [id, one] of reservations) {
      const isDead = one.conversationId === except.conversationId && one.owner !== except.owner;
      if (one.until <= now || isDead) reservations.delete(id);
      else if (id !== except.id) {
        for (const account of new Set(one.caps.map((cap) => cap.account))) {
          totals.set(account, setAsideWith(totals.get(account) ?? nothingSetAside, one));
        }
      }
    }
    return totals;
  }

  return {
    position: (conversationId) => positions.get(conversationId) ?? 0,
    add(spender, entries, { through, settles = [] }) {
      const { conversationId, tenant } = spender;
      const position = positions.get(conversationId) ?? 0;
      let mine = days.get(tenant);
      if (mine === undefined) days.set(tenant, (mine = new Map<string, Day>()));
      for (const entry of entries) {
        if (entry.seq <= position) continue;
        const key = dayKey(spender, entry);
        const name = JSON.stringify(key);
        mine.set(name, counted(mine.get(name) ?? emptyDay(key), entry));
        for (const [account, period] of payers(spender, entry)) {
          const at = place(account, period);
          accounts.set(at, charged(accounts.get(at) ?? emptyAccount, entry));
        }
      }
      if (through > position) positions.set(conversationId, through);
      for (const id of settles) reservations.delete(id);
    },
    skip(conversationId, through) {
      positions.set(conversationId, Math.max(through, positions.get(conversationId) ?? 0));
    },
    reserve(reservation) {
      const aside = setAside(reservation);
      const reserved = fits(reservation, ({ account, period }) => ({
        spent: accounts.get(place(account, period)) ?? emptyAccount,
        aside: aside.get(account) ?? nothingSetAside,
      }));
      if (reserved.ok) reservations.set(reservation.id, reservation);
      return reserved;
    },
    release(conversationId) {
      for (const [id, one] of reservations) if (one.conversationId === conversationId) reservations.delete(id);
    },
    spent(account, period) {
      const { calls, actions, tokens, money } = accounts.get(place(account, period)) ?? emptyAccount;
      return { calls, actions, tokens, money };
    },
    reserved(account) {
      const now = clock.now();
      let held = nothingSetAside;
      for (const one of reservations.values()) {
        if (one.until > now && one.caps.some((cap) => cap.account === account)) held = setAsideWith(held, one);
      }
      return spentOf(held);
    },
    costOf: (runId) => costOf(accounts.get(place(`run:${runId}`, ''))),
    sum({ tenant, userId, from = '', to = '\uffff', ...query }) {
      const all = [...(days.get(tenant)?.values() ?? [])];
      return summed(
        all.filter((one) => (userId === undefined || one.userId === userId) && from <= one.day && one.day <= to),
        query,
      );
    },
    close: () => undefined,
  };
}

import type { Clock } from '../../../base/clock.ts';
import { accountOfRun } from '../../../kernel/ledger.ts';
import { CONTROL_FORMAT } from '../control/sql.ts';
import { connect } from '../sqlite/connection.ts';
import { guarded } from '../sqlite/guarded.ts';
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
  type DayKey,
} from './accounts.ts';
import { fits, nanosOf, spentOf } from './headroom.ts';
import type { SyncLedger } from './memory.ts';
import { accountOf, dayOf, setAsideOf } from './rows.ts';
import { LEDGER_SQL } from './sql.ts';

export interface SqliteLedgerOptions {
  /** The control file: the ledger lies beside keys and replies. */
  readonly file: string;
  readonly clock: Clock;
  /** How long a write waits for another process. */
  readonly busyTimeoutMs?: number;
}

/** What was spent, in the control file, for any number of processes of one machine. */
export async function openSqliteLedger({
  file,
  clock,
  busyTimeoutMs = 5000,
}: SqliteLedgerOptions): Promise<SyncLedger> {
  // `normal`: a power cut may undo the last entries, and with them how far it had counted, so they are counted again.
  const connection = await connect(file, 'normal', busyTimeoutMs, CONTROL_FORMAT);
  const { sql, use } = guarded(connection, file, LEDGER_SQL);

  /** Work in one transaction that no other process can slip into. */
  function alone<T>(work: () => T): T {
    return use(() => {
      sql('begin').run();
      try {
        const result = work();
        sql('commit').run();
        return result;
      } catch (problem) {
        if (connection.isTransaction) sql('rollback').run();
        throw problem;
      }
    });
  }

  const position = (conversationId: string): number => Number(sql('position').get(conversationId)?.['seq'] ?? 0);
  const accountAt = (account: string, period: string): Account | undefined => {
    const row = sql('account').get(account, period);
    return row === undefined ? undefined : accountOf(row);
  };

  function count(tenant: string, key: DayKey, change: (day: Day) => Day): void {
    const names = [key.userId, key.agent, key.bundle, key.provider, key.model, key.day];
    const row = sql('day').get(tenant, ...names);
    const { calls, failed, actions, unpriced, unreported, usage, cost } = change(
      row === undefined ? emptyDay(key) : dayOf(row),
    );
    sql('putDay').run(tenant, ...names, calls, failed, actions, unpriced, unreported, JSON.stringify(usage), cost);
  }

  function charge(account: string, period: string, change: (account: Account) => Account): void {
    const now = change(accountAt(account, period) ?? emptyAccount);
    const { calls, actions, tokens, money, cost, unpriced, unreported } = now;
    sql('putAccount').run(account, period, calls, actions, tokens, money, cost, unpriced, unreported);
  }

  return {
    position: (conversationId) => use(() => position(conversationId)),
    add(spender, entries, { through, settles = [] }) {
      const { conversationId, tenant } = spender;
      alone(() => {
        const known = position(conversationId);
        for (const entry of entries) {
          if (entry.seq <= known) continue;
          count(tenant, dayKey(spender, entry), (day) => counted(day, entry));
          for (const [account, period] of payers(spender, entry)) charge(account, period, (one) => charged(one, entry));
        }
        if (through > known) sql('move').run(conversationId, through);
        for (const id of settles) sql('settle').run(conversationId, id);
      });
    },
    skip(conversationId, through) {
      use(() => sql('move').run(conversationId, through));
    },
    reserve(reservation) {
      const { id, conversationId, owner, until, calls, actions, tokens, money, caps } = reservation;
      return alone(() => {
        sql('forget').run(clock.now(), conversationId, owner);
        const reserved = fits(reservation, ({ account, period }) => ({
          spent: accountAt(account, period) ?? emptyAccount,
          aside: setAsideOf(sql('aside').get(account, id)),
        }));
        if (!reserved.ok) return reserved;
        const figures = [calls, actions, tokens, nanosOf(money)];
        for (const account of new Set(caps.map((cap) => cap.account)))
          sql('setAside').run(account, id, conversationId, owner, until, ...figures);
        return reserved;
      });
    },
    release(conversationId) {
      use(() => sql('release').run(conversationId));
    },
    spent: (account, period) =>
      use(() => {
        const { calls, actions, tokens, money } = accountAt(account, period) ?? emptyAccount;
        return { calls, actions, tokens, money };
      }),
    reserved: (account) => use(() => spentOf(setAsideOf(sql('held').get(account, clock.now())))),
    costOf: (runId) => use(() => costOf(accountAt(accountOfRun(runId), ''))),
    sum: ({ tenant, userId, from = '', to = '\uffff', ...query }) =>
      use(() =>
        summed(
          sql('days')
            .all(tenant, from, to, userId ?? null)
            .map(dayOf),
          query,
        ),
      ),
    close() {
      if (connection.isOpen) connection.close();
    },
  };
}

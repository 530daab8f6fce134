import type { Clock, Instant } from '../../../base/clock.ts';
import { accountOfRun, type Ledger, type LedgerEntry, type Spender } from '../../../kernel/ledger.ts';
import { Money } from '../../prices/money.ts';
import type { Database, Transaction, Value } from '../postgres/database.ts';
import { now } from '../postgres/sql.ts';
import { nameOf, storedName } from '../postgres/text.ts';
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
import { accountOf, dayOf, setAsideOf } from './rows.ts';

/**
 * What was spent, beside the log in its database, for any number of processes. The log closes the connections.
 *
 * Counting holds one row a conversation from the beginning, and those of days, users and tenants, for which many wait, for one
 * statement and the commit; setting aside locks the accounts by name, and reads what is spent and what is held at one moment.
 */
export function createPostgresLedger(
  database: Database,
  { clock }: { readonly clock?: Clock | undefined } = {},
): Ledger {
  const sql = statements(database.settings.schema);
  const time = (): Instant | null => clock?.now() ?? null;
  const ask = (name: keyof typeof sql, values: readonly Value[]): Promise<Row[]> =>
    database.run({ name: `${name}_${database.settings.schema}`, text: sql[name] }, values, 'some');

  async function accountAt(account: string, period: string): Promise<Account | undefined> {
    const [row] = await ask('account', [storedName(account), period]);
    return row === undefined ? undefined : accountIn(row);
  }

  return {
    async position(conversationId) {
      const [row] = await ask('position', [storedName(conversationId)]);
      return Number(row?.['seq'] ?? 0);
    },
    async add(spender, entries, { through, settles = [] }) {
      const conversation = storedName(spender.conversationId);
      await database.together(async (transaction) => {
        const known = await hold(transaction, conversation);
        const fresh = entries.filter(({ seq }) => seq > known);
        await transaction.run(sql.count, [
          ...[conversation, settles.map(storedName), through],
          ...columnsOf(byAccount(spender, fresh)),
          ...[storedName(spender.tenant), ...dayColumnsOf(byDay(spender, fresh))],
        ]);
      }, 'long');
    },
    async skip(conversationId, through) {
      await ask('move', [storedName(conversationId), through]);
    },
    async reserve(reservation) {
      const { id, conversationId, owner, until, calls, actions, tokens, money, caps } = reservation;
      const [conversation, holder] = [storedName(conversationId), storedName(owner)];
      const accounts = [...new Set(caps.map((cap) => storedName(cap.account)))];
      return database.together(async (transaction) => {
        await transaction.run(sql.lock, [accounts.map((account) => `${database.settings.schema} ${account}`)]);
        await transaction.run(sql.forget, [time(), conversation, holder]);
        const places = [caps.map((cap) => storedName(cap.account)), caps.map((cap) => cap.period)];
        const rows = await transaction.run<Row>(sql.standing, [...places, storedName(id)]);
        const reserved = fits(reservation, (cap) => {
          const row = rows[caps.indexOf(cap)];
          return {
            spent: row === undefined || row['cost'] === null ? emptyAccount : accountIn(row),
            aside: setAsideOf(heldIn(row)),
          };
        });
        if (!reserved.ok) return reserved;
        const figures = [calls, actions, tokens, nanosOf(money)];
        await transaction.run(sql.setAside, [accounts, storedName(id), conversation, holder, until, ...figures]);
        return reserved;
      }, 'some');
    },
    async release(conversationId) {
      await ask('release', [storedName(conversationId)]);
    },
    async spent(account, period) {
      const { calls, actions, tokens, money } = (await accountAt(account, period)) ?? emptyAccount;
      return { calls, actions, tokens, money };
    },
    async reserved(account) {
      return spentOf(setAsideOf((await ask('held', [storedName(account), time()]))[0]));
    },
    async costOf(runId) {
      return costOf(await accountAt(accountOfRun(runId), ''));
    },
    async sum({ tenant, userId, from = '', to = '\uffff', ...query }) {
      const values = [storedName(tenant), from, to, userId === undefined ? null : storedName(userId)];
      return summed((await ask('days', values)).map(dayIn), query);
    },
    close: () => undefined,
  };

  /** How far a conversation was counted; nobody else counts it until the transaction ends. */
  async function hold(transaction: Transaction, conversation: string): Promise<number> {
    for (;;) {
      const [row] = await transaction.run<Row>(sql.hold, [conversation]);
      if (row !== undefined) return Number(row['seq']);
      await transaction.run(sql.begin, [conversation]);
    }
  }
}

type Row = Readonly<Record<string, unknown>>;

function byDay(spender: Spender, entries: readonly LedgerEntry[]): readonly (readonly [DayKey, LedgerEntry[]])[] {
  const days = new Map<string, readonly [DayKey, LedgerEntry[]]>();
  for (const entry of entries) {
    const key = dayKey(spender, entry);
    const name = JSON.stringify(key);
    const known = days.get(name);
    if (known === undefined) days.set(name, [key, [entry]]);
    else known[1].push(entry);
  }
  return inOrder(days);
}

/** What each account is charged in each period. */
function byAccount(
  spender: Spender,
  entries: readonly LedgerEntry[],
): readonly (readonly [readonly [string, string], Account])[] {
  const charges = new Map<string, readonly [readonly [string, string], Account]>();
  for (const entry of entries) {
    for (const payer of payers(spender, entry)) {
      const name = JSON.stringify(payer);
      charges.set(name, [payer, charged(charges.get(name)?.[1] ?? emptyAccount, entry)]);
    }
  }
  return inOrder(charges);
}

/** Everybody takes rows in one order, so that nobody waits for one who waits for them. */
function inOrder<T>(named: ReadonlyMap<string, T>): readonly T[] {
  return [...named].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one);
}

function columnsOf(charges: readonly (readonly [readonly [string, string], Account])[]): Value[] {
  const names = [0, 1].map((index) => charges.map(([payer]) => storedName(payer[index] ?? '')));
  const figures = FIGURES.map((name) => charges.map(([, account]) => account[name]));
  return [...names, ...figures];
}

/** What is to be added to each day, a list a column. */
function dayColumnsOf(days: readonly (readonly [DayKey, readonly LedgerEntry[]])[]): Value[] {
  const sums = days.map(([key, entries]): Day => entries.reduce(counted, emptyDay(key)));
  const names = DAY_NAMES.map((name) => sums.map((day) => storedName(day[name])));
  const figures = DAY_FIGURES.map((name) => sums.map((day) => day[name]));
  return [...names, ...figures, sums.map(({ usage }) => JSON.stringify(usage)), sums.map(({ cost }) => cost)];
}

const DAY_NAMES = ['userId', 'agent', 'bundle', 'provider', 'model', 'day'] as const;
const DAY_FIGURES = ['calls', 'failed', 'actions', 'unpriced', 'unreported'] as const;
const FIGURES = ['calls', 'actions', 'tokens', 'money', 'cost', 'unpriced', 'unreported'] as const;

/** A decimal as it is written elsewhere: a database keeps zeros at its end. */
function plain(row: Row, names: readonly string[]): Row {
  return { ...row, ...Object.fromEntries(names.map((name) => [name, new Money(String(row[name])).toFixed()])) };
}

function accountIn(row: Row): Account {
  return accountOf(plain(row, ['money', 'cost']));
}

function dayIn(row: Row): Day {
  const day = dayOf(plain(row, ['cost']));
  const [userId, agent, bundle, provider, model] = [day.userId, day.agent, day.bundle, day.provider, day.model].map(
    nameOf,
  );
  return {
    ...day,
    userId: userId ?? '',
    agent: agent ?? '',
    bundle: bundle ?? '',
    provider: provider ?? '',
    model: model ?? '',
  };
}

function heldIn(row: Row | undefined): Row {
  const held = (name: string): unknown => row?.[`held_${name}`] ?? 0;
  return { calls: held('calls'), actions: held('actions'), tokens: held('tokens'), nanos: held('nanos') };
}

function statements(s: string) {
  const day = 'user_id, agent, bundle, provider, model, day';
  const figures = 'calls, failed, actions, unpriced, unreported, usage, cost';
  const account = 'calls, actions, tokens, money, cost, unpriced, unreported';
  const held = (prefix: string): string =>
    ['calls', 'actions', 'tokens', 'nanos'].map((name) => `coalesce(sum(${name}), 0) AS ${prefix}${name}`).join(', ');
  return {
    position: `SELECT seq FROM ${s}.positions WHERE conversation = $1`,
    begin: `INSERT INTO ${s}.positions (conversation, seq) VALUES ($1, 0) ON CONFLICT DO NOTHING`,
    hold: `SELECT seq FROM ${s}.positions WHERE conversation = $1 FOR UPDATE`,
    move: `INSERT INTO ${s}.positions AS p (conversation, seq) VALUES ($1, $2)
      ON CONFLICT (conversation) DO UPDATE SET seq = greatest(p.seq, excluded.seq)`,

    account: `SELECT ${account} FROM ${s}.accounts WHERE account = $1 AND period = $2`,
    // All in one, so that who waits for a row of a tenant waits for one statement. Usage is added up part by part.
    count: `WITH settled AS (
        DELETE FROM ${s}.reservations WHERE conversation = $1 AND id = ANY ($2::text[])
      ), moved AS (
        UPDATE ${s}.positions SET seq = greatest(seq, $3::bigint) WHERE conversation = $1
      ), charged AS (
        INSERT INTO ${s}.accounts AS a (account, period, ${account})
        SELECT * FROM unnest($4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::numeric[],
          $10::numeric[], $11::bigint[], $12::bigint[])
        ON CONFLICT (account, period) DO UPDATE SET ${FIGURES.map((name) => `${name} = a.${name} + excluded.${name}`).join(', ')}
      )
      INSERT INTO ${s}.usage_days AS d (tenant, ${day}, calls, failed, actions, unpriced, unreported, usage, cost)
      SELECT $13, n.* FROM unnest($14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[],
        $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::text[], $26::numeric[]) n
      ON CONFLICT (tenant, day, user_id, agent, bundle, provider, model) DO UPDATE SET
        ${DAY_FIGURES.map((name) => `${name} = d.${name} + excluded.${name}`).join(', ')}, cost = d.cost + excluded.cost,
        usage = (SELECT coalesce(json_object_agg(part, tokens), '{}')::text FROM (
          SELECT key AS part, sum(value::numeric) AS tokens FROM (
            SELECT * FROM json_each_text(d.usage::json) UNION ALL SELECT * FROM json_each_text(excluded.usage::json)
          ) parts GROUP BY key) sums)`,
    days: `SELECT ${day}, ${figures} FROM ${s}.usage_days
      WHERE tenant = $1 AND day BETWEEN $2 AND $3 AND ($4::text IS NULL OR user_id = $4)`,

    lock: `SELECT pg_advisory_xact_lock(place) FROM (
      SELECT DISTINCT hashtextextended(name, 0) AS place FROM unnest($1::text[]) name ORDER BY 1) places`,
    forget: `DELETE FROM ${s}.reservations WHERE until <= ${now('$1')} OR (conversation = $2 AND owner <> $3)`,
    standing: `SELECT ${account.replace(/\w+/g, 'a.$&')}, r.* FROM
      unnest($1::text[], $2::text[]) WITH ORDINALITY AS c (account, period, place)
      LEFT JOIN ${s}.accounts a ON a.account = c.account AND a.period = c.period
      LEFT JOIN LATERAL (SELECT ${held('held_')} FROM ${s}.reservations h
        WHERE h.account = c.account AND h.id <> $3) r ON true
      ORDER BY c.place`,
    held: `SELECT ${held('')} FROM ${s}.reservations WHERE account = $1 AND until > ${now('$2')}`,
    setAside: `INSERT INTO ${s}.reservations AS r
      (account, id, conversation, owner, until, calls, actions, tokens, nanos)
      SELECT account, $2, $3, $4, $5, $6, $7, $8, $9 FROM unnest($1::text[]) account
      ON CONFLICT (account, id) DO UPDATE SET conversation = excluded.conversation, owner = excluded.owner,
        until = excluded.until, calls = excluded.calls, actions = excluded.actions, tokens = excluded.tokens,
        nanos = excluded.nanos`,
    release: `DELETE FROM ${s}.reservations WHERE conversation = $1`,
  } as const;
}

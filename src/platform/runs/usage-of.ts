import { TreadleError } from '../../base/errors.ts';
import { addUsage } from '../../domain/usage-sum.ts';
import type { LedgerQuery } from '../../kernel/ledger.ts';
import type { ConversationRow } from '../../kernel/log.ts';
import { Money } from '../../adapters/prices/money.ts';
import { counted, dayKey, emptyDay, summed, type Day } from '../../adapters/stores/ledger/accounts.ts';
import { permit, type Caller } from './caller.ts';
import type { RunsPorts } from './ports.ts';
import type { Cost } from './snapshot.ts';
import type { UsageLedger, UsageQuery, UsageRow } from './usage.ts';

const PAGE = 500;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

type SumRow = Awaited<ReturnType<UsageLedger['sum']>>[number];

export async function usage(ports: RunsPorts, caller: Caller, query: UsageQuery): Promise<readonly UsageRow[]> {
  permit(caller, 'read');
  for (const place of ['from', 'to'] as const) checkDay(place, query[place]);
  const { user, agent, ...rest } = query;
  const isAdmin = caller.scopes.has('admin');
  if (!isAdmin && user !== undefined && user !== caller.userId) return [];
  const asked: LedgerQuery = {
    ...rest,
    ...(agent === undefined ? {} : agentOf(ports, agent)),
    tenant: caller.tenant,
    userId: isAdmin ? user : caller.userId,
  };
  const rows = ports.ledger === undefined ? await fromLogs(ports, asked) : await ports.ledger.sum(asked);
  return merged(
    rows.map(({ key, period, bundle, calls, usage: tokens, cost, knownCost, unpriced, unreported }) => ({
      key: bundle === undefined ? key : agentKey(ports, { agent: key, bundle }),
      ...(period !== undefined && { period }),
      ...{ calls, usage: tokens },
      ...(cost !== undefined && { cost }),
      ...(knownCost !== undefined && { knownCost }),
      ...(unpriced !== undefined && { unpriced }),
      ...(unreported !== undefined && { unreported }),
    })),
  );
}

function checkDay(place: string, day: string | undefined): void {
  if (day === undefined || (DAY.test(day) && !Number.isNaN(Date.parse(day)))) return;
  throw new TreadleError('invalid_request', { place, found: JSON.stringify(day), wanted: 'a day such as 2026-07-31' });
}

/** Its name where it is served; else with its bundle before it, since nobody can tell which of that name is meant. */
function agentKey({ served }: RunsPorts, of: { readonly agent: string; readonly bundle: string }): string {
  return served.of(of) === undefined ? `${of.bundle}:${of.agent}` : served.nameOf(of);
}

/** The other way round. A bundle may be known by its id and by its file. */
function agentOf({ served }: RunsPorts, key: string): Pick<LedgerQuery, 'agent' | 'bundles'> {
  if (served.agents.some((one) => one.name === key)) {
    const { bundle, agent } = served.agentNamed(key);
    return { agent, bundles: served.keys.filter((name) => served.of({ bundle: name }) === bundle) };
  }
  const cut = key.lastIndexOf(':');
  return { agent: key.slice(cut + 1), bundles: [key.slice(0, Math.max(cut, 0))] };
}

/** One row for each key: runs of one agent may name its bundle in two ways. */
function merged(rows: readonly UsageRow[]): readonly UsageRow[] {
  const all = new Map<string, UsageRow>();
  for (const row of rows) {
    const name = `${row.period ?? ''}\n${row.key}`;
    const before = all.get(name);
    all.set(name, before === undefined ? row : together(before, row));
  }
  return [...all].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row);
}

function together(left: UsageRow, right: UsageRow): UsageRow {
  const { cost: _cost, ...rest } = left;
  const cost = money(left.cost, right.cost);
  const knownCost = money(left.knownCost, right.knownCost);
  return {
    ...rest,
    calls: left.calls + right.calls,
    usage: addUsage(left.usage, right.usage),
    ...(cost !== undefined && { cost }),
    ...(knownCost !== undefined && { knownCost }),
    ...(left.unpriced !== undefined && { unpriced: left.unpriced + (right.unpriced ?? 0) }),
    ...(left.unreported !== undefined && { unreported: left.unreported + (right.unreported ?? 0) }),
  };
}

function money(left: Cost | undefined, right: Cost | undefined): Cost | undefined {
  if (left === undefined || right === undefined) return undefined;
  return { amount: new Money(left.amount).plus(right.amount).toFixed(), currency: 'USD' };
}

/** Without a ledger: from the logs, call by call. Money is unknown then. */
async function fromLogs({ log }: RunsPorts, query: LedgerQuery): Promise<readonly SumRow[]> {
  const { from = '', to = '\uffff', tenant, userId } = query;
  const days = new Map<string, Day>();
  for await (const row of all(log, tenant, userId)) {
    let model = { provider: '', model: '' };
    for (let after = 0; ;) {
      const page = await log.read(row.id, after, PAGE);
      for (const fact of page) {
        if (fact.type === 'llm.request') model = fact.payload.model;
        if (fact.type !== 'llm.response') continue;
        const call = { ...model, usage: fact.payload.usage, failed: fact.payload.failure !== undefined };
        const entry = { seq: fact.seq, at: fact.at, call, charge: { tokens: 0 } };
        const key = dayKey({ conversationId: row.id, runs: [], ...row }, entry);
        if (key.day < from || key.day > to) continue;
        const name = JSON.stringify(key);
        days.set(name, counted(days.get(name) ?? emptyDay(key), entry));
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.seq;
    }
  }
  return summed(days.values(), query).map(({ key, bundle, period, calls, usage: tokens }) => ({
    key,
    ...(bundle !== undefined && { bundle }),
    ...(period !== undefined && { period }),
    ...{ calls, usage: tokens },
  }));
}

async function* all(
  log: RunsPorts['log'],
  tenant: string,
  userId: string | undefined,
): AsyncGenerator<ConversationRow> {
  let before: ConversationRow | undefined;
  for (;;) {
    const page = await log.list({ limit: PAGE, tenant, userId, before, archived: 'any' });
    yield* page;
    before = page.at(-1);
    if (page.length < PAGE) return;
  }
}

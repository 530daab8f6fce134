import { dayOf } from '../../../base/clock.ts';
import { addUsage, noUsage } from '../../../domain/usage-sum.ts';
import type { Usage } from '../../../domain/usage.ts';
import {
  accountOfRun,
  accountOfTenant,
  accountOfUser,
  periodsOf,
  type Cost,
  type LedgerEntry,
  type LedgerQuery,
  type LedgerRow,
  type Spender,
} from '../../../kernel/ledger.ts';
import { Money } from '../../prices/money.ts';

/** What one account has spent in one period. */
export interface Account {
  readonly calls: number;
  readonly actions: number;
  /** What budgets were charged. */
  readonly tokens: number;
  readonly money: string;
  /** What is known to have been billed. */
  readonly cost: string;
  readonly unpriced: number;
  readonly unreported: number;
}

export const emptyAccount: Account = {
  calls: 0,
  actions: 0,
  tokens: 0,
  money: '0',
  cost: '0',
  unpriced: 0,
  unreported: 0,
};

/** Usage of one user, agent, bundle and model on one day. */
export interface Day extends Pick<LedgerRow, 'calls' | 'failed' | 'actions' | 'unpriced' | 'unreported' | 'usage'> {
  readonly userId: string;
  readonly agent: string;
  readonly bundle: string;
  /** Empty for actions. */
  readonly provider: string;
  readonly model: string;
  readonly day: string;
  readonly cost: string;
}

export type DayKey = Pick<Day, 'userId' | 'agent' | 'bundle' | 'provider' | 'model' | 'day'>;

export function dayKey({ userId, agent, bundle }: Spender, { at, call }: LedgerEntry): DayKey {
  return { userId, agent, bundle, provider: call?.provider ?? '', model: call?.model ?? '', day: dayOf(at) };
}

export function emptyDay(key: DayKey): Day {
  return { ...key, calls: 0, failed: 0, actions: 0, unpriced: 0, unreported: 0, usage: noUsage, cost: '0' };
}

/** The accounts and periods that pay for an entry. */
export function payers({ runs, tenant, userId }: Spender, { at }: LedgerEntry): (readonly [string, string])[] {
  const { day, month } = periodsOf(dayOf(at));
  const user = accountOfUser(tenant, userId);
  const all = accountOfTenant(tenant);
  return [
    ...runs.map((run): [string, string] => [accountOfRun(run), '']),
    [user, day],
    [user, month],
    [all, day],
    [all, month],
  ];
}

export function charged(account: Account, { call, charge }: LedgerEntry): Account {
  const { unpriced, unreported } = gaps(call);
  return {
    calls: account.calls + (call === undefined ? 0 : 1),
    actions: account.actions + (call === undefined ? 1 : 0),
    tokens: account.tokens + charge.tokens,
    money: plus(account.money, charge.money),
    cost: plus(account.cost, call?.cost),
    unpriced: account.unpriced + unpriced,
    unreported: account.unreported + unreported,
  };
}

export function counted(day: Day, { call }: LedgerEntry): Day {
  if (call === undefined) return { ...day, actions: day.actions + 1 };
  const { unpriced, unreported } = gaps(call);
  return {
    ...day,
    calls: day.calls + 1,
    failed: day.failed + (call.failed ? 1 : 0),
    unpriced: day.unpriced + unpriced,
    unreported: day.unreported + unreported,
    usage: addUsage(day.usage, call.usage),
    cost: plus(day.cost, call.cost),
  };
}

/** What is not known of a call: nothing was reported, or there is no price. A cost of zero with no usage is known: nobody billed it. */
function gaps(call: LedgerEntry['call']): { readonly unpriced: number; readonly unreported: number } {
  if (call === undefined || call.cost !== undefined) return { unpriced: 0, unreported: 0 };
  return isEmpty(call.usage) ? { unpriced: 0, unreported: 1 } : { unpriced: 1, unreported: 0 };
}

function isEmpty(usage: Usage): boolean {
  return Object.values(usage).every((tokens) => tokens === undefined);
}

export function plus(left: string, right: string | undefined): string {
  if (right === undefined || right === '0') return left;
  return left === '0' ? new Money(right).toFixed() : new Money(left).plus(right).toFixed();
}

export function costOf(account: Account | undefined): Cost | undefined {
  if (account === undefined || account.unpriced + account.unreported > 0) return undefined;
  return { amount: account.cost, currency: 'USD' };
}

/** What a sum is of, besides the tenant, the user and the days, which a store looks for itself. */
export type SumQuery = Pick<LedgerQuery, 'by' | 'per' | 'agent' | 'bundles' | 'model'>;

/** Days added up by what is asked for, in the order of their periods and keys. */
export function summed(days: Iterable<Day>, query: SumQuery): readonly LedgerRow[] {
  const sums = new Map<string, SumKey & { readonly sum: Day }>();
  for (const day of days) {
    const key = keyOf(day, query.by);
    if (key === undefined || !isWanted(day, query)) continue;
    const of: SumKey = {
      key,
      ...(query.per === undefined ? {} : { period: query.per === 'day' ? day.day : day.day.slice(0, 7) }),
      ...(query.by === 'agent' ? { bundle: day.bundle } : {}),
    };
    const name = `${of.period ?? ''}\n${key}\n${of.bundle ?? ''}`;
    const before = sums.get(name);
    sums.set(name, { ...of, sum: before === undefined ? day : together(before.sum, day) });
  }
  return [...sums]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(
      ([
        ,
        {
          sum: { calls, failed, actions, usage, unpriced, unreported, cost },
          ...of
        },
      ]) => {
        const known: Cost = { amount: cost, currency: 'USD' };
        const row = { ...of, calls, failed, actions, usage, knownCost: known, unpriced, unreported };
        return unpriced + unreported > 0 ? row : { ...row, cost: known };
      },
    );
}

type SumKey = Pick<LedgerRow, 'key' | 'bundle' | 'period'>;

function isWanted(day: Day, { agent, bundles, model }: SumQuery): boolean {
  if (agent !== undefined && day.agent !== agent) return false;
  if (bundles?.includes(day.bundle) === false) return false;
  return model === undefined || `${day.provider}/${day.model}` === model;
}

function keyOf({ userId, agent, provider, model, day }: Day, by: LedgerQuery['by']): string | undefined {
  switch (by) {
    case 'user':
      return userId;
    case 'agent':
      return agent;
    case 'day':
      return day;
    case 'model':
      return model === '' ? undefined : `${provider}/${model}`;
  }
}

function together(left: Day, right: Day): Day {
  return {
    ...left,
    calls: left.calls + right.calls,
    failed: left.failed + right.failed,
    actions: left.actions + right.actions,
    unpriced: left.unpriced + right.unpriced,
    unreported: left.unreported + right.unreported,
    usage: addUsage(left.usage, right.usage),
    cost: plus(left.cost, right.cost),
  };
}

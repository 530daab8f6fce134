import { dayOf, type Clock } from '../../base/clock.ts';
import { accountOfTenant, MEASURES, periodsOf, type Ledger, type Measure } from '../../kernel/ledger.ts';
import { Money } from '../../adapters/prices/money.ts';
import { permit, type Caller } from '../runs/caller.ts';
import { capsOf, type Budgets, type HeldCap } from './budgets.ts';

/** How one budget stands: the most of one thing that somebody may spend in a period. Figures are decimal text. */
export interface BudgetStanding {
  readonly holder: 'user' | 'tenant';
  /** The user's id, or the tenant's. */
  readonly name: string;
  /** `2026-11-30` or `2026-11`. */
  readonly period: string;
  readonly measure: Measure;
  readonly cap: string;
  readonly spent: string;
  /** Set aside for what is under way. */
  readonly reserved: string;
  /** Never below zero. */
  readonly left: string;
  /** Nothing is left: whoever has it is refused. */
  readonly isBlocked: boolean;
}

export interface StandingsPorts {
  readonly ledger: Ledger;
  readonly budgets: Budgets;
  readonly clock: Clock;
}

/** The budgets that a caller comes under; for an admin also those of everybody in the tenant who spent something this month. */
export async function budgetStandings(
  { ledger, budgets, clock }: StandingsPorts,
  caller: Caller,
): Promise<readonly BudgetStanding[]> {
  permit(caller, 'read');
  const { tenant } = caller;
  const now = clock.now();
  const users = caller.scopes.has('admin') ? await usersOf(ledger, budgets, caller, now) : [caller.userId];
  const all = new Map<string, BudgetStanding>();
  for (const userId of users) {
    for (const cap of capsOf({ runs: [], tenant, userId }, () => undefined, budgets, now))
      for (const one of await standingsOf(ledger, cap, tenant, userId))
        all.set([one.holder, one.name, one.period, one.measure].join('\n'), one);
  }
  return [...all.values()].sort((left, right) => (orderOf(left) < orderOf(right) ? -1 : 1));
}

/** The tenant's own first, since it stops everybody. */
function orderOf({ holder, name, period, measure }: BudgetStanding): string {
  return [holder === 'tenant' ? 0 : 1, name, period, MEASURES.indexOf(measure)].join('\n');
}

async function usersOf(
  ledger: Ledger,
  { users = {} }: Budgets,
  { tenant, userId }: Caller,
  now: number,
): Promise<Set<string>> {
  const { month } = periodsOf(dayOf(now));
  const spenders = await ledger.sum({ by: 'user', tenant, from: `${month}-01` });
  const named = Object.keys(users).flatMap((name) => {
    const [first = '', ...rest] = name.split('/');
    if (rest.length === 0) return name;
    return first === tenant ? rest.join('/') : [];
  });
  return new Set([userId, ...spenders.map(({ key }) => key), ...named]);
}

async function standingsOf(
  ledger: Ledger,
  cap: HeldCap,
  tenant: string,
  userId: string,
): Promise<readonly BudgetStanding[]> {
  const { account, period } = cap;
  const [spent, reserved] = [await ledger.spent(account, period), await ledger.reserved(account)];
  const holder = account === accountOfTenant(tenant) ? 'tenant' : 'user';
  return MEASURES.flatMap((measure): readonly BudgetStanding[] => {
    const most = cap[measure];
    if (most === undefined) return [];
    const left = Money.max(new Money(most).minus(spent[measure]).minus(reserved[measure]), 0);
    return [
      {
        holder,
        name: holder === 'tenant' ? tenant : userId,
        period,
        measure,
        cap: String(most),
        spent: String(spent[measure]),
        reserved: String(reserved[measure]),
        left: left.toFixed(),
        isBlocked: left.isZero(),
      },
    ];
  });
}

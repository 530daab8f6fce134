import { dayOf, type Clock } from '../../base/clock.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import {
  accountOfRun,
  accountOfTenant,
  accountOfUser,
  periodsOf,
  type Purse,
  type Spending,
  type Spent,
} from '../../kernel/ledger.ts';
import type { Meter } from './meter.ts';
import type { Payer } from './run-tree.ts';

/** Whose account a purse is, of the one who pays for a run, and in which period. */
export function accountOf(
  { runs, tenant, userId, conversationId }: Payer,
  purse: Purse,
  now: number,
): { readonly account: string; readonly period: string } {
  if (purse.of === 'run') return { account: accountOfRun(runs.at(-1) ?? conversationId), period: '' };
  const account = purse.of === 'user' ? accountOfUser(tenant, userId) : accountOfTenant(tenant);
  return { account, period: periodsOf(dayOf(now))[purse.per] };
}

/** What plugins may know of the ledger. */
export function createSpending({ ledger, tree }: Pick<Meter, 'ledger' | 'tree'>, clock: Clock): Spending {
  async function sum(account: string, period: string): Promise<Pick<Spent, 'tokens' | 'money'>> {
    const [spent, reserved] = await Promise.all([ledger.spent(account, period), ledger.reserved(account)]);
    // Compared with a ceiling and never billed: a fraction of a cent does not matter.
    const money = String(Number(spent.money) + Number(reserved.money));
    return { tokens: spent.tokens + reserved.tokens, money };
  }
  return {
    of(id, purse) {
      const found = tree.payer(id);
      const withPayer = (payer: Payer | undefined): MaybePromise<Pick<Spent, 'tokens' | 'money'>> => {
        if (payer === undefined) return { tokens: 0, money: '0' };
        const { account, period } = accountOf(payer, purse, clock.now());
        return sum(account, period);
      };
      return isPromise(found) ? found.then(withPayer) : withPayer(found);
    },
    async costOf(id) {
      const payer = await tree.payer(id);
      const cost = await ledger.costOf(payer?.runs.at(-1) ?? id);
      return cost?.amount;
    },
  };
}

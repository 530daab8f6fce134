import { purseOf, tokenBudget, type Ceiling } from '../../plugins/gates/token-budget.ts';
import type { ActivePlugin } from '../bundle/active-plugins.ts';
import type { HeldCap } from './budgets.ts';
import type { Payer } from './run-tree.ts';
import { accountOf } from './spending.ts';

/** The ceilings of `gate.token_budget` that block: they are set aside with every other budget. */
export function ceilingsOf(plugins: readonly ActivePlugin[]): readonly Ceiling[] {
  const config = plugins.find(({ id }) => id === tokenBudget.id)?.config;
  const parsed = tokenBudget.config.safeParse(config);
  return parsed.success ? parsed.data.ceilings.filter(({ on_exceed = 'block' }) => on_exceed === 'block') : [];
}

/** The same as caps on the accounts of whoever pays for a run. */
export function capsOfCeilings(payer: Payer, ceilings: readonly Ceiling[], now: number): readonly HeldCap[] {
  return ceilings.map((one) => {
    const { tokens, money } = one;
    const place = accountOf(payer, purseOf(one), now);
    return { holder: one.of, ...place, tokens, money: money === undefined ? undefined : decimal(money) };
  });
}

/** Money as text, never with an exponent. */
function decimal(money: number): string {
  return money.toFixed(12).replace(/\.?0+$/, '');
}

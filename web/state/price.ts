import type { Consequence } from '../api/types.ts';

/** What consequences cost together: money where all of it is known, tokens otherwise. */
export function priceInWords(consequences: readonly Consequence[]): string {
  const money = consequences.map((one) => one.money?.rebuild);
  if (money.some((one) => one === undefined))
    return `${shortNumber(consequences.reduce((sum, one) => sum + one.tokens, 0))} tokens`;
  return dollars(money.reduce((sum, one) => sum + Number(one), 0));
}

export function dollars(amount: number): string {
  return amount > 0 && amount < 0.01 ? 'under $0.01' : `$${amount.toFixed(2)}`;
}

function shortNumber(count: number): string {
  return new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}

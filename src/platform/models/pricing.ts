import type { Clock } from '../../base/clock.ts';
import type { Pricing } from '../../assembly/consequence.ts';
import type { DeclaredPrices } from '../../domain/price.ts';
import { createPriceList } from '../../adapters/prices/price-list.ts';

/** What a call would cost today, by the bundle's prices over the shipped list. Nobody's price is unknown, never zero. */
export function pricingOf(declared: DeclaredPrices | undefined, clock: Clock): Pricing {
  const list = createPriceList(declared);
  return (model, usage) => {
    const cost = list.cost(model, usage, clock.now());
    if (cost === undefined) return { cost, basis: 'unknown' };
    const isOwn = [`${model.provider}/${model.model}`, `${model.provider}/*`].some((name) =>
      Object.hasOwn(declared ?? {}, name),
    );
    return { cost, basis: isOwn ? 'configured' : 'list' };
  };
}

import type { Decimal } from 'decimal.js';
import { dayOf, type Instant } from '../../base/clock.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { DeclaredPrice, DeclaredPrices } from '../../domain/price.ts';
import type { Usage } from '../../domain/usage.ts';
import { inputTokens } from '../../domain/usage-sum.ts';
import { LOCAL_SERVERS } from '../models/local-servers.ts';
import { LIST_PRICES, SEARCH_PRICES } from './list-prices.ts';
import type { ModelPrice, Rates } from './model-price.ts';
import { Money } from './money.ts';

type ModelName = Pick<ModelRef, 'provider' | 'model'>;

/** What models cost. Money is decimal text in US dollars; undefined is unknown, which is not free. */
export interface PriceList {
  /** What a call cost with the prices of its day. */
  cost(model: ModelName, usage: Usage, at: Instant): string | undefined;
  /** The most that a call of so many tokens and searches can cost, whatever a cache does. */
  worstCost(
    model: ModelName,
    most: { readonly input: number; readonly output: number; readonly searches?: number | undefined },
    at: Instant,
  ): string | undefined;
  /** The most output tokens of one answer, where known. */
  maxOutput(model: ModelName): number | undefined;
}

const FREE: ModelPrice = {
  search: '0',
  rates: [{ input: '0', output: '0', cacheRead: '0', cacheWrite: '0', cacheWriteLong: '0' }],
};

/** What runs on one's own machine is billed by nobody. */
const FREE_PROVIDERS: ReadonlySet<string> = new Set(['scripted', ...Object.keys(LOCAL_SERVERS)]);

const MILLION = new Money(1_000_000);
const THOUSAND = new Money(1_000);

/** The shipped list with prices of one's own over it. */
export function createPriceList(own: DeclaredPrices = {}): PriceList {
  const found = new Map<string, ModelPrice | undefined>();

  function find({ provider, model }: ModelName): ModelPrice | undefined {
    const name = `${provider}/${model}`;
    if (found.has(name)) return found.get(name);
    if (found.size > KNOWN_MAX) found.clear();
    const listed = listedPrice(provider, model);
    const declared = own[name] ?? own[`${provider}/*`];
    const price =
      declared === undefined
        ? (listed ?? (FREE_PROVIDERS.has(provider) ? FREE : undefined))
        : { maxOutput: listed?.maxOutput, search: searchPrice(declared) ?? listed?.search, rates: [ratesOf(declared)] };
    found.set(name, price);
    return price;
  }

  return {
    cost(model, usage, at) {
      const price = find(model);
      const rates = ratesAt(price, at, inputTokens(usage));
      const tokens = rates === undefined ? undefined : sum(usage, rates);
      return withSearches(tokens, usage.searches, price)?.toFixed();
    },
    worstCost(model, { input, output, searches }, at) {
      const price = find(model);
      const rates = ratesAt(price, at, input);
      if (rates === undefined) return undefined;
      // Nobody knows before the call what a cache will do: the dearest part stands for all of the input.
      const parts = [rates.input, rates.cacheRead, rates.cacheWrite, rates.cacheWriteLong];
      const dearest = Money.max(...parts.filter((one) => one !== undefined));
      const tokens = dearest.times(input).plus(new Money(rates.output).times(output)).div(MILLION);
      return withSearches(tokens, searches, price)?.toFixed();
    },
    maxOutput: (model) => find(model)?.maxOutput,
  };
}

const KNOWN_MAX = 1_000;

/** The listed price of a model, also under a name that carries the day of its snapshot. */
function listedPrice(provider: string, model: string): ModelPrice | undefined {
  const listed = Object.hasOwn(LIST_PRICES, provider) ? LIST_PRICES[provider] : undefined;
  if (listed === undefined) return undefined;
  const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  const search = SEARCH_PRICES[provider];
  for (const name of [model, undated, `${undated}-0`]) {
    const price = Object.hasOwn(listed, name) ? listed[name] : undefined;
    if (price !== undefined) return search === undefined ? price : { ...price, search };
  }
  return undefined;
}

/** Undefined where searches were made whose price is not known. */
function withSearches(
  tokens: Decimal | undefined,
  searches: number | undefined,
  price: ModelPrice | undefined,
): Decimal | undefined {
  if (tokens === undefined || searches === undefined || searches === 0) return tokens;
  return price?.search === undefined ? undefined : tokens.plus(new Money(price.search).times(searches).div(THOUSAND));
}

function ratesAt(price: ModelPrice | undefined, at: Instant, prompt: number): Rates | undefined {
  const day = dayOf(at);
  const rates = price?.rates.findLast(({ from }) => from === undefined || from <= day);
  return rates?.long !== undefined && prompt > rates.long.above ? rates.long : rates;
}

/** Undefined where a part was billed whose price is not known, and where no part was reported at all. */
function sum(usage: Usage, rates: Rates): Decimal | undefined {
  const { input, output, cacheRead = input, cacheWrite = input, cacheWriteLong } = rates;
  const by: { readonly [P in Exclude<keyof Usage, 'searches'>]-?: string | undefined } = {
    ...{ input, cacheRead, cacheWrite, cacheWriteLong, output, reasoning: output },
  };
  let total: Decimal | undefined;
  for (const [part, price] of Object.entries(by)) {
    const tokens = usage[part as keyof Usage]; // the keys of `by` are those of Usage
    if (tokens === undefined) continue;
    total ??= new Money(0);
    if (tokens === 0) continue;
    if (price === undefined) return undefined;
    total = total.plus(new Money(price).times(tokens));
  }
  return total?.div(MILLION);
}

function searchPrice({ search }: DeclaredPrice): string | undefined {
  return search === undefined ? undefined : String(search);
}

function ratesOf(declared: DeclaredPrice): ModelPrice['rates'][number] {
  const { long } = declared;
  return {
    ...plainRates(declared),
    ...(long === undefined ? {} : { long: { above: long.above, ...plainRates(long) } }),
  };
}

function plainRates(given: Omit<DeclaredPrice, 'long'>): Rates {
  const { input, output, cache_read: cacheRead, cache_write: cacheWrite, cache_write_long: cacheWriteLong } = given;
  const text = (rate: string | number | undefined): string | undefined =>
    rate === undefined ? undefined : String(rate);
  return {
    ...{ input: String(input), output: String(output) },
    ...{ cacheRead: text(cacheRead), cacheWrite: text(cacheWrite), cacheWriteLong: text(cacheWriteLong) },
  };
}

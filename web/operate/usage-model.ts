import type { UsageRow } from '../api/operate-types.ts';
import { tokenFigures, type TokenFigures } from '../ui/token-figures.ts';

export type Measure = 'cost' | 'tokens' | 'calls';

/** What one user, agent or model spent, over all days that are shown. */
export interface Spender {
  readonly key: string;
  readonly calls: number;
  readonly tokens: number;
  /** What is known of the cost, in dollars. */
  readonly cost: number;
  /** Calls of which the cost is not known. */
  readonly unknown: number;
  readonly figures: TokenFigures;
}

/** A bar of the chart: the period, and of each series how much. */
export type Column = { readonly period: string } & Readonly<Record<`s${number}`, number>>;

export interface Stacked {
  readonly series: readonly string[];
  readonly columns: readonly Column[];
}

const NOTHING: TokenFigures = { read: 0, written: 0, fresh: 0, output: 0 };

/** Sums of rows of several periods by their key, the largest first. */
export function spendersOf(rows: readonly UsageRow[], measure: Measure): readonly Spender[] {
  const all = new Map<string, Spender>();
  for (const row of rows) {
    const { key, calls } = row;
    const before = all.get(key) ?? { key, calls: 0, tokens: 0, cost: 0, unknown: 0, figures: NOTHING };
    const figures = tokenFigures(row.usage);
    all.set(key, {
      key,
      calls: before.calls + calls,
      tokens: before.tokens + totalOf(figures),
      cost: before.cost + costOf(row),
      unknown: before.unknown + unknownOf(row),
      figures: sum(before.figures, figures),
    });
  }
  return [...all.values()].sort((left, right) => right[measure] - left[measure] || (left.key < right.key ? -1 : 1));
}

/** Series that are told apart; what is smaller is put together. */
export const MOST_SERIES = 7;
export const OTHERS = 'all others';

/** Bars over time, a series for each of the largest keys. Periods in which nothing was spent are there, and empty. */
export function stackedOf(rows: readonly UsageRow[], periods: readonly string[], measure: Measure): Stacked {
  const ranked = spendersOf(rows, measure).map((one) => one.key);
  const isMany = ranked.length > MOST_SERIES + 1;
  const named = isMany ? ranked.slice(0, MOST_SERIES) : ranked;
  const series = isMany ? [...named, OTHERS] : named;
  const place = new Map(named.map((key, index) => [key, index]));
  const columns = new Map<string, Record<string, number>>(periods.map((period) => [period, {}]));
  for (const row of rows) {
    const column = columns.get(row.period ?? '');
    if (column === undefined) continue;
    const name = `s${place.get(row.key) ?? named.length}`;
    column[name] = (column[name] ?? 0) + amountOf(row, measure);
  }
  return { series, columns: [...columns].map(([period, values]) => ({ period, ...values })) };
}

/** Tokens of each period by their parts. */
export function tokensOver(
  rows: readonly UsageRow[],
  periods: readonly string[],
): readonly (TokenFigures & { readonly name: string })[] {
  const all = new Map(periods.map((period): [string, TokenFigures] => [period, NOTHING]));
  for (const row of rows) {
    const before = all.get(row.period ?? '');
    if (before !== undefined) all.set(row.period ?? '', sum(before, tokenFigures(row.usage)));
  }
  return [...all].map(([name, figures]) => ({ name, ...figures }));
}

export function amountOf(row: UsageRow, measure: Measure): number {
  switch (measure) {
    case 'cost':
      return costOf(row);
    case 'tokens':
      return totalOf(tokenFigures(row.usage));
    case 'calls':
      return row.calls;
  }
}

export function totalOf({ read, written, fresh, output }: TokenFigures): number {
  return read + written + fresh + output;
}

export function costOf({ knownCost, cost }: UsageRow): number {
  return Number(knownCost?.amount ?? cost?.amount ?? 0);
}

/** Where there is no ledger, nothing is known of any call. */
function unknownOf({ calls, knownCost, cost, unpriced = 0, unreported = 0 }: UsageRow): number {
  return knownCost === undefined && cost === undefined ? calls : unpriced + unreported;
}

function sum(left: TokenFigures, right: TokenFigures): TokenFigures {
  return {
    read: left.read + right.read,
    written: left.written + right.written,
    fresh: left.fresh + right.fresh,
    output: left.output + right.output,
  };
}

const DAY_MS = 86_400_000;
/** Longer ranges are drawn month by month. */
export const MOST_DAYS = 120;

/** Every day from one to the other, both included, in UTC; every month where these would be too many. */
export function periodsOf(
  from: string,
  to: string,
): { readonly per: 'day' | 'month'; readonly periods: readonly string[] } {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const days: string[] = [];
  for (let at = first; at <= last && days.length < 4_000; at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10));
  if (days.length <= MOST_DAYS) return { per: 'day', periods: days };
  return { per: 'month', periods: [...new Set(days.map((day) => day.slice(0, 7)))] };
}

/** The day in UTC, so many days before. */
export function dayBefore(now: number, days: number): string {
  return new Date(now - days * DAY_MS).toISOString().slice(0, 10);
}

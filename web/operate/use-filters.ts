import { useSearchParams } from 'wouter';
import { now } from '../clock.ts';
import { dayBefore, type Measure } from './usage-model.ts';

export type Split = 'agent' | 'model' | 'user' | 'kind';

export interface Filters {
  /** Days in UTC, both included. */
  readonly from: string;
  readonly to: string;
  readonly user: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  readonly split: Split;
  readonly measure: Measure;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const USUAL_DAYS = 29;

/** What is shown of the usage. It stands in the address, so that it can be sent to somebody. */
export function useFilters(): { readonly filters: Filters; readonly change: (part: Partial<Filters>) => void } {
  const [search, setSearch] = useSearchParams();
  const day = (name: string, fallback: string): string => {
    const given = search.get(name) ?? '';
    return DAY.test(given) && !Number.isNaN(Date.parse(given)) ? given : fallback;
  };
  const one = <T extends string>(name: string, known: readonly T[], fallback: T): T =>
    known.find((word) => word === search.get(name)) ?? fallback;
  const filters: Filters = {
    from: day('from', dayBefore(now(), USUAL_DAYS)),
    to: day('to', dayBefore(now(), 0)),
    user: search.get('user') ?? undefined,
    agent: search.get('agent') ?? undefined,
    model: search.get('model') ?? undefined,
    split: one('split', ['agent', 'model', 'user', 'kind'], 'agent'),
    measure: one('measure', ['cost', 'tokens', 'calls'], 'cost'),
  };
  return {
    filters,
    change(part) {
      const next = new URLSearchParams(search);
      for (const [name, value] of Object.entries(part)) {
        if (value === undefined) next.delete(name);
        else next.set(name, value);
      }
      setSearch(next, { replace: true });
    },
  };
}

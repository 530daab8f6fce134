import { isObject, parseJson } from '../../../base/json.ts';
import type { Usage } from '../../../domain/usage.ts';
import type { Account, Day } from './accounts.ts';
import type { SetAside } from './headroom.ts';

/** A row as a database hands it out. Decimals are text, of numbers some are. */
type Row = Readonly<Record<string, unknown>>;

export function accountOf(row: Row): Account {
  return {
    calls: Number(row['calls']),
    actions: Number(row['actions']),
    tokens: Number(row['tokens']),
    money: String(row['money']),
    cost: String(row['cost']),
    unpriced: Number(row['unpriced']),
    unreported: Number(row['unreported']),
  };
}

export function dayOf(row: Row): Day {
  return {
    userId: String(row['user_id']),
    agent: String(row['agent']),
    bundle: String(row['bundle']),
    provider: String(row['provider']),
    model: String(row['model']),
    day: String(row['day']),
    calls: Number(row['calls']),
    failed: Number(row['failed']),
    actions: Number(row['actions']),
    unpriced: Number(row['unpriced']),
    unreported: Number(row['unreported']),
    usage: usageOf(String(row['usage'])),
    cost: String(row['cost']),
  };
}

function usageOf(text: string): Usage {
  const given = parseJson(text, 'usage');
  return isObject(given) ? given : {}; // written by us, from a Usage
}

export function setAsideOf(row: Row | undefined): SetAside {
  const figure = (name: string): number => Number(row?.[name] ?? 0);
  return { calls: figure('calls'), actions: figure('actions'), tokens: figure('tokens'), nanos: figure('nanos') };
}

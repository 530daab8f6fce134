import {
  MEASURES,
  type Cap,
  type Measure,
  type Reservation,
  type Reserved,
  type Spent,
} from '../../../kernel/ledger.ts';
import { Money } from '../../prices/money.ts';
import type { Account } from './accounts.ts';

/** What is set aside on an account. Money in billionths, rounded up, so that a database can add it exactly. */
export interface SetAside {
  readonly calls: number;
  readonly actions: number;
  readonly tokens: number;
  readonly nanos: number;
}

export const nothingSetAside: SetAside = { calls: 0, actions: 0, tokens: 0, nanos: 0 };

/** Money in billionths, rounded up. Beyond nine million dollars it is all the same. */
export function nanosOf(money: string): number {
  return Money.min(new Money(money).times(1e9).ceil(), Number.MAX_SAFE_INTEGER).toNumber();
}

export function setAsideWith(before: SetAside, { calls, actions, tokens, money }: Reservation): SetAside {
  return {
    calls: before.calls + calls,
    actions: before.actions + actions,
    tokens: before.tokens + tokens,
    nanos: before.nanos + nanosOf(money),
  };
}

export function spentOf({ nanos, ...rest }: SetAside): Spent {
  return { ...rest, money: new Money(nanos).div(1e9).toFixed() };
}

/** Whether it fits under all of its caps, given what was spent and what others have set aside. */
export function fits(
  reservation: Reservation,
  standing: (cap: Cap) => { readonly spent: Account; readonly aside: SetAside },
): Reserved {
  let refused: Omit<Extract<Reserved, { ok: false }>, 'left'> | undefined;
  let tokensLeft: number | undefined;
  let moneyLeft: string | undefined;
  for (const cap of reservation.caps) {
    const { spent, aside } = standing(cap);
    for (const measure of MEASURES) {
      const limit = cap[measure];
      if (limit === undefined) continue;
      const used = new Money(spent[measure]);
      const held = measure === 'money' ? new Money(aside.nanos).div(1e9) : new Money(aside[measure]);
      const left = new Money(limit).minus(used).minus(held);
      if (measure === 'tokens') tokensLeft = Math.min(tokensLeft ?? Infinity, left.toNumber());
      if (measure === 'money' && (moneyLeft === undefined || left.lt(moneyLeft))) moneyLeft = left.toFixed();
      if (refused !== undefined || left.gte(wanted(reservation, measure))) continue;
      const { account, period } = cap;
      refused = {
        ...{ ok: false, account, period, measure },
        ...{ cap: String(limit), spent: used.toFixed(), reserved: held.toFixed() },
      };
    }
  }
  if (refused === undefined) return { ok: true };
  const left = {
    ...(tokensLeft === undefined ? {} : { tokens: tokensLeft }),
    ...(moneyLeft === undefined ? {} : { money: moneyLeft }),
  };
  return { ...refused, left };
}

function wanted(reservation: Reservation, measure: Measure): number | string {
  // What is set aside is rounded up, so what is asked for must be as well, or the last one would not fit beside itself.
  return measure === 'money' ? new Money(nanosOf(reservation.money)).div(1e9).toFixed() : reservation[measure];
}

import { RUN_STATUSES, statusKind } from '../../domain/status.ts';
import type { Accounts, AccountView, Owner } from './accounts.ts';
import type { Caller } from '../runs/caller.ts';
import type { Runs } from '../runs/runs.ts';

/** Runs of one user that are looked at when an account is connected. */
const MOST_RUNS = 100;
/** What asks may be a run below one that works or waits for something else. */
const UNDER_WAY = RUN_STATUSES.filter((status) => statusKind(status) !== 'ended');

/** The same accounts: once one is connected, runs that asked for it go on by themselves, and those above them. */
export function goingOn(accounts: Accounts, runs: Runs): Accounts {
  return {
    ...accounts,
    async finish(callback) {
      const ended = await accounts.finish(callback);
      await answerConsents(runs, ended.owner, ended.account);
      return ended;
    },
  };
}

async function answerConsents(runs: Runs, owner: Owner, { provider, claims }: AccountView): Promise<void> {
  const caller: Caller = { ...owner, kind: 'user', scopes: new Set(['read', 'run']) };
  const { runs: waiting } = await runs.list(caller, { status: UNDER_WAY, limit: MOST_RUNS });
  for (const { id } of waiting) {
    const { requests } = await runs.snapshot(caller, id);
    for (const { id: request, run, digest, consent } of requests) {
      if (consent?.account !== provider || !consent.claims.every((one) => claims.includes(one))) continue;
      try {
        await runs.answer(caller, id, [{ request, run, digest, decision: 'reply', text: 'connected' }]);
      } catch {
        // Somebody answered meanwhile: what they said counts.
      }
    }
  }
}

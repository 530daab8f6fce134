import type { PassingEvents } from '../hosting/passing.ts';
import type { Clock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { Draft, Fact } from '../../domain/event.ts';
import type { AllowanceStore } from '../../kernel/choices.ts';
import type { ConversationRow, Log } from '../../kernel/log.ts';
import type { OpenBundle } from '../bundle/open-bundle.ts';
import type { ServedBundles } from '../bundle/served-bundles.ts';
import { owns, permit, type Caller, type Scope } from './caller.ts';
import type { Cursors } from './cursor.ts';
import type { Folds } from './folds.ts';
import type { Snapshot } from './snapshot.ts';
import { snapshotOf } from './snapshot-of.ts';
import { stateOf, type RunState } from './state.ts';
import type { UsageLedger } from './usage.ts';

/** What the runs of a host are made of. */
export interface RunsPorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly folds: Folds;
  readonly cursors: Cursors;
  readonly served: ServedBundles;
  readonly allowances: AllowanceStore;
  readonly ledger: UsageLedger | undefined;
  /** Tells the engine that a run may have work. */
  readonly wake: (runId: string) => void;
  readonly passing: Pick<PassingEvents, 'on' | 'soFar'>;
}

/** The run, when the caller may do this to runs and this one is its own. */
export async function runOf(ports: RunsPorts, caller: Caller, scope: Scope, id: string): Promise<ConversationRow> {
  permit(caller, scope);
  const row = await ports.log.find(id);
  if (row === undefined || !owns(caller, row)) throw new TreadleError('run_unknown', { found: JSON.stringify(id) });
  return row;
}

export function stateNow(ports: RunsPorts, row: ConversationRow): MaybePromise<RunState> {
  const fold = ports.folds.read(row);
  return isPromise(fold) ? fold.then((late) => stateOf(ports, row, late)) : stateOf(ports, row, fold);
}

/** The run as it is now: its row is read anew. */
export async function snapshotNow(ports: RunsPorts, id: string): Promise<Snapshot> {
  const row = await ports.log.find(id);
  if (row === undefined) throw new TreadleError('run_unknown', { found: JSON.stringify(id) });
  const cost = await ports.ledger?.costOf(id);
  return snapshotOf(await stateNow(ports, row), { agentName: ports.served.nameOf, cost });
}

/** The bundle that a run belongs to, for what only a process that serves it can do. Throws `bundle_not_served`. */
export function bundleOf({ served }: RunsPorts, row: ConversationRow): OpenBundle {
  const bundle = served.of(row);
  if (bundle !== undefined) return bundle;
  throw new TreadleError('bundle_not_served', {
    place: row.id,
    found: row.bundle,
    wanted: served.keys.join(' or '),
    hint: 'ask a server that serves this bundle',
  });
}

/** A fact from outside. Whoever drives the run delivers it; if nobody here does, we do. */
export async function post(
  ports: RunsPorts,
  row: ConversationRow,
  draft: Draft,
): Promise<{ readonly fact: Fact; readonly fresh: boolean }> {
  const posted = await ports.log.post(row.id, draft);
  const bundle = ports.served.of(row);
  if (posted.fresh && bundle !== undefined && !bundle.worker.isDriving(row.id)) bundle.bus.deliver(posted.fact);
  // Also for a repetition: the process that stated it may have died before anybody went on.
  ports.wake(row.id);
  return posted;
}

/** A number out of a range is refused, never clamped. */
export function checkedLimit(limit: number | undefined, fallback: number, most: number): number {
  if (limit === undefined) return fallback;
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  throw new TreadleError('invalid_request', {
    place: 'limit',
    found: String(limit),
    wanted: `a whole number from 1 to ${most}`,
  });
}

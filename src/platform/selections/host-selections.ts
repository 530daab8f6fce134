import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import { isPromise } from '../../base/promise.ts';
import type { AccountStore, SelectionStore } from '../../kernel/choices.ts';
import type { Log } from '../../kernel/log.ts';
import { pricingOf } from '../models/pricing.ts';
import type { Folds } from '../runs/folds.ts';
import { createSelections, type Selections } from './selections.ts';
import type { ServedBundles } from '../bundle/served-bundles.ts';

export interface HostSelectionsOptions {
  readonly served: ServedBundles;
  readonly log: Log;
  readonly folds: Folds;
  readonly store: SelectionStore;
  readonly accounts?: AccountStore | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** The choices of the users of all agents that a host serves. */
export function hostSelections({ served, log, folds, store, accounts, clock, ids }: HostSelectionsOptions): Selections {
  return createSelections({
    log,
    store,
    accounts,
    clock,
    newId: () => ids.next('change'),
    agentNamed(name) {
      const { bundle, agent } = served.agentNamed(name);
      const { loaded, model } = bundle;
      return { bundle: loaded, agent, model, price: pricingOf(loaded.bundle.prices, clock) };
    },
    isOf: (run, bundle) => served.of(run)?.loaded.id === bundle,
    fold(run) {
      const read = folds.read(run);
      return isPromise(read) ? read.then(({ conversation }) => conversation) : read.conversation;
    },
  });
}

import type { Clock } from '../../base/clock.ts';
import type { DeclaredPrices } from '../../domain/price.ts';
import type { Bus } from '../../kernel/bus.ts';
import { install } from '../../kernel/plugin.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Ceiling } from '../../plugins/gates/token-budget.ts';
import { budgetGate } from './budget-gate.ts';
import type { LoadedBundle } from '../bundle/load.ts';
import { partKey, type Part, type RunningPart } from '../bundle/plugin-pool.ts';
import type { Budgets } from './budgets.ts';
import { ceilingsOf } from './ceilings.ts';
import { createLimitsReader } from './limits-reader.ts';
import { pricesOf, type Meter } from './meter.ts';

export interface Metering {
  /** One a process, whatever the number of bundles. */
  readonly meter: Meter;
  /** What users and tenants may spend. Budgets of runs are kept in any case. */
  readonly budgets?: Budgets | undefined;
  /** This process, among those that share the ledger. */
  readonly owner: string;
}

export interface InstallMeteringOptions extends Metering {
  /** What the bundle itself allows. */
  readonly ceilings?: readonly Ceiling[] | undefined;
  readonly bus: Bus;
  /** The bundle whose agents are heard on this bus: its prices stand over the shipped ones. */
  readonly bundle: { readonly prices?: DeclaredPrices | undefined };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Counts what the agents of a bundle spend, and holds them to their budgets. */
export function installMetering(options: InstallMeteringOptions): RunningPart {
  const { meter, budgets, owner, ceilings, bus, bundle, clock, logger } = options;
  const prices = pricesOf(bundle);
  const detach = meter.attach(bus, prices);
  const limits = createLimitsReader(meter.tree, meter.log);
  const gate = install(budgetGate({ meter, prices, limits, budgets, ceilings, owner }), {}, { bus, clock, logger });
  return {
    manifest: gate.manifest,
    uninstall() {
      gate.uninstall();
      detach();
    },
  };
}

/** The same for as long as an edition of the bundle has these prices and ceilings. */
export function meteringPart(
  { bundle, plugins }: Pick<LoadedBundle, 'bundle' | 'plugins'>,
  options: Metering & Pick<InstallMeteringOptions, 'clock' | 'logger'>,
): Part {
  const ceilings = ceilingsOf(plugins);
  return {
    key: partKey('metering', bundle.prices, ceilings),
    start: (bus) => installMetering({ ...options, ceilings, bus, bundle }),
  };
}

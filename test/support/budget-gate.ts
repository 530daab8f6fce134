import { createMemoryLedger, type SyncLedger } from '../../src/adapters/stores/ledger/memory.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Plugin } from '../../src/kernel/plugin.ts';
import { budgetGate } from '../../src/platform/metering/budget-gate.ts';
import { createLimitsReader } from '../../src/platform/metering/limits-reader.ts';
import { createMeter, pricesOf } from '../../src/platform/metering/meter.ts';
import type { Ceiling } from '../../src/plugins/gates/token-budget.ts';
import type { GateUnderTest, GateWorld } from '../conformance/gate.ts';
import { silent } from './house.ts';
import { aClock, type SimulatedClock } from './sim-clock.ts';

/** The gate that the platform makes of ceilings: each process has a meter, and all under one clock share a ledger. */
export function aBudgetGate(ceilings: readonly Ceiling[]): Required<Pick<GateUnderTest, 'plugin' | 'make'>> {
  const ledgers = new WeakMap<SimulatedClock, SyncLedger>();
  const make = ({ bus, clock, log }: Pick<GateWorld, 'clock' | 'log'> & Partial<GateWorld>): Plugin => {
    const ledger = ledgers.get(clock) ?? createMemoryLedger({ clock });
    ledgers.set(clock, ledger);
    const meter = createMeter({ ledger, log, clock, logger: silent });
    const prices = pricesOf({});
    if (bus !== undefined) meter.attach(bus, prices);
    return budgetGate({ meter, prices, limits: createLimitsReader(meter.tree, log), ceilings, owner: 'w1' });
  };
  const clock = aClock();
  return { plugin: make({ clock, log: createMemoryLog({ clock }) }), make };
}

import type { Bus } from '../../kernel/bus.ts';
import type { Telemetry } from '../../kernel/telemetry.ts';
import type { Metering } from '../metering/install.ts';

/** What a process keeps of what its agents do, for all bundles that it serves. Each part may be absent. */
export interface Measures {
  /** Where spans go. With it every agent is observed, also where its bundle does not ask for it. */
  readonly telemetry?: Telemetry | undefined;
  /** What runs spend, and the budgets they are held to. */
  readonly metering?: Metering | undefined;
  /** Figures for an operator. */
  readonly figures?: { attach(bus: Pick<Bus, 'on'>): () => void } | undefined;
}

import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Ledger } from '../../kernel/ledger.ts';
import type { Log } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Figures } from '../../adapters/figures/prometheus.ts';
import type { Environment } from '../bundle/environment.ts';
import type { Host } from './host.ts';
import type { Measures } from './measures.ts';
import type { Budgets } from '../metering/budgets.ts';
import { createMeter, pricesOf } from '../metering/meter.ts';
import { startTelemetry } from './start-telemetry.ts';

export interface StartMeasuresOptions {
  readonly environment: Environment;
  readonly log: Log;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly version: string;
  /** Closed with the measures; what is spent is kept nowhere when absent. */
  readonly ledger?: Ledger | undefined;
  readonly budgets?: Budgets | undefined;
}

export interface StartedMeasures {
  readonly measures: Measures;
  readonly figures: Figures;
  /** Looks runs and the queue up in this host, and counts what a process that died had left uncounted. */
  watch(host: Host): Promise<void>;
  /** Sends what is still here, and closes the ledger. To be called after the host has closed. */
  stop(): Promise<void>;
}

/** Everything that a server keeps of what its agents do: figures, the ledger with budgets, and traces where there is an endpoint. */
export async function startMeasures(options: StartMeasuresOptions): Promise<StartedMeasures> {
  const { environment, log, logger, clock, ids, version, budgets } = options;
  const { createFigures } = await import('../../adapters/figures/prometheus.ts');
  const { createMemoryLedger } = await import('../../adapters/stores/ledger/memory.ts');
  const ledger = options.ledger ?? createMemoryLedger({ clock });
  const meter = createMeter({ ledger, log, clock, logger });
  const figures = createFigures({ clock, logger, version });
  const started = await startTelemetry({ environment, logger, version });
  return {
    measures: {
      figures,
      metering: { meter, budgets, owner: ids.next('meter') },
      ...(started === undefined ? {} : { telemetry: started.telemetry }),
    },
    figures,
    async watch(host) {
      figures.watch({ counts: () => log.counts(), health: () => host.engine.health() });
      const prices = new Map(host.bundles.map(({ loaded }) => [loaded.id, pricesOf(loaded.bundle)]));
      await meter.catchUp((bundle) => prices.get(bundle) ?? pricesOf({}));
    },
    async stop() {
      await started?.stop();
      figures.close();
      await ledger.close();
    },
  };
}

import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { TreadleEvent } from '../domain/event.ts';
import type { Plugin } from '../kernel/plugin.ts';
import type { AccountStore, Engine, Log, Logger, ModelSource, SelectionStore } from '../kernel/ports.ts';
import type { Environment } from './environment.ts';
import type { LoadedBundle, Notice } from './load.ts';
import type { Runs } from './runs/runs.ts';
import type { UsageLedger } from './runs/usage.ts';

export interface HostOptions {
  /** Files. The first one's default agent answers when nobody names one. */
  readonly bundles: readonly string[];
  /** Shared by all bundles. The host closes it. */
  readonly log: Log;
  /** Signs cursors. The same one in every process that serves this log, or cursors do not pass from one to another. */
  readonly secret: string;
  readonly environment?: Environment;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly plugins?: readonly Plugin[];
  readonly models?: ModelSource;
  readonly selections?: SelectionStore;
  readonly accounts?: AccountStore;
  /** What drives runs with work; the embedded one when absent. */
  readonly engine?: Engine;
  readonly ledger?: UsageLedger;
  /** Removes runs that ended, or were archived, so many days ago. Nothing is removed when absent. */
  readonly retention?: { readonly endedDays?: number; readonly archivedDays?: number };
}

/** An agent as it can be named from outside. */
export interface HostedAgent {
  /** Unique among all that are served. */
  readonly name: string;
  readonly bundle: string;
  readonly isDefault: boolean;
  readonly description?: string;
}

/** Several bundles over one log, their runs, and the engine that drives them. */
export interface Host {
  readonly bundles: readonly LoadedBundle[];
  readonly notices: readonly Notice[];
  agents(): readonly HostedAgent[];
  readonly runs: Runs;
  readonly engine: Engine;
  /** Begins to drive. Without it the host only reads and puts on record. */
  start(): Promise<void>;
  /** Events of one run as this process delivers them: hot, without history, possibly none where another process drives. */
  onPassing(runId: string, listener: (event: TreadleEvent) => void): () => void;
  /** Lets running slices finish for `drainMs` (10 s), then closes the log. A second call does nothing. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

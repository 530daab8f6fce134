import { systemClock, type Clock } from '../../base/clock.ts';
import { randomIds, type IdSource } from '../../base/ids.ts';
import type { Passing } from '../../domain/event.ts';
import type { Plugin } from '../../kernel/plugin.ts';
import type { AccountRows, ToolMemory } from '../../kernel/stores.ts';
import type { NoteStore } from '../../kernel/notes.ts';
import type { AllowanceStore, SelectionStore } from '../../kernel/choices.ts';
import type { Engine } from '../../kernel/engine.ts';
import type { Log, Relay, Shares } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ModelSource } from '../../kernel/model.ts';
import { createEmbeddedEngine } from '../../adapters/engines/embedded.ts';
import type { Environment } from '../bundle/environment.ts';
import type { LoadedBundle, Notice } from '../bundle/load.ts';
import type { Measures } from './measures.ts';
import { openBundle, type OpenBundle } from '../bundle/open-bundle.ts';
import { createPassing } from './passing.ts';
import { createSharedPassing } from './shared-passing.ts';
import { createCursors } from '../runs/cursor.ts';
import { createFolds } from '../runs/folds.ts';
import type { Runs } from '../runs/runs.ts';
import { createAllowances, type Allowances } from '../selections/allowances.ts';
import { createNotes, type Notes } from './notes.ts';
import { declaredAccounts, providersOf, type Providers } from '../accounts/account-providers.ts';
import { createAccounts, type Accounts } from '../accounts/accounts.ts';
import { goingOn } from '../accounts/consent-runs.ts';
import { hostSelections } from '../selections/host-selections.ts';
import type { Selections } from '../selections/selections.ts';
import { createMemoryNotes } from '../../adapters/stores/notes/memory.ts';
import { createMemoryAccounts } from '../../adapters/stores/control/accounts.ts';
import { createMemoryAllowances } from '../../adapters/stores/control/allowances.ts';
import { createMemoryToolMemory } from '../../adapters/stores/control/tool-memory.ts';
import { createMemorySelections } from '../../adapters/stores/control/selections.ts';
import type { RunsPorts } from '../runs/ports.ts';
import { createOperate, type Operate } from './operate.ts';
import { createRuns } from '../runs/service.ts';
import type { UsageLedger } from '../runs/usage.ts';
import { retire, type Retention } from '../runs/retention.ts';
import { servedBundles, type HostedAgent } from '../bundle/served-bundles.ts';

export type { HostedAgent } from '../bundle/served-bundles.ts';
export type { Retention } from '../runs/retention.ts';

export interface HostOptions {
  /** Files. The first one's default agent answers when nobody names one. */
  readonly bundles: readonly string[];
  /** Shared by all bundles. The host closes it. */
  readonly log: Log;
  /** Signs cursors. The same one in every process that serves this log, or cursors do not pass from one to another. */
  readonly secret: string;
  readonly environment?: Environment | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly ids?: IdSource | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  readonly models?: ModelSource | undefined;
  /** Where users' choices are kept; in memory when absent. */
  readonly selections?: SelectionStore | undefined;
  /** Where users' yeses for always are kept; in memory when absent. */
  readonly allowances?: AllowanceStore | undefined;
  /** Under which descriptions users have let tools of servers run; in memory when absent. */
  readonly toolMemory?: ToolMemory | undefined;
  /** Where users' accounts are kept, and what seals them there: the first seals, the others still open. In memory when absent. */
  readonly accounts?: { readonly rows: AccountRows; readonly secrets: readonly string[] } | undefined;
  /** Where plugins keep what has to be there after this process; nowhere when absent. */
  readonly pluginFolder?: string | undefined;
  /** Users' notes; in memory when absent. Whoever opened the store closes it. */
  readonly notes?: NoteStore | undefined;
  /** An edited bundle counts from the next turn on. */
  readonly watch?: boolean | undefined;
  /** What tenants and users may have at work at a time; tenants take turns then. */
  readonly shares?: Shares | undefined;
  /** How long a process that died keeps its runs from the others; 15 seconds when absent. */
  readonly leaseMs?: number | undefined;
  /** Calls to and from other processes on the same log. Without it nothing passes by of a run that another one drives. */
  readonly relay?: Relay | undefined;
  /** Makes what drives runs with work; the embedded one when absent. */
  readonly engine?: ((needs: EngineNeeds) => Engine) | undefined;
  readonly ledger?: UsageLedger | undefined;
  /** What keeps figures, traces and the ledger of this process; nothing is measured when absent. */
  readonly measures?: Measures | undefined;
  /** Nothing is removed when absent. */
  readonly retention?: Retention | undefined;
}

/** What a host has for its engine. */
export interface EngineNeeds {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** What the host can drive. */
  readonly bundles: readonly string[];
}

/** Several bundles over one log, their runs, and the engine that drives them. */
export interface Host {
  readonly bundles: readonly OpenBundle[];
  readonly notices: readonly Notice[];
  agents(): readonly HostedAgent[];
  readonly runs: Runs;
  readonly selections: Selections;
  readonly accounts: Accounts;
  readonly allowances: Allowances;
  readonly notes: Notes;
  readonly operate: Operate;
  readonly engine: Engine;
  /** Begins to drive, and to remove what is too old. Without it the host only reads and puts on record. */
  start(): Promise<void>;
  /** What passes by in one run: hot, and without history. */
  onPassing(runId: string, listener: (event: Passing) => void): () => void;
  /** Begins nothing any more, and lets running slices finish for `drainMs` (10 s). What is there can still be read. */
  drain(options?: { readonly drainMs?: number }): Promise<void>;
  /** Drains, unless that was done, then closes the log. A second call does nothing. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Throws what loading a bundle throws, and `bundle_conflict` when two of them cannot be told apart. */
export async function createHost(options: HostOptions): Promise<Host> {
  const { log, logger = silent, clock = systemClock, ids = randomIds } = options;
  const store = options.selections ?? createMemorySelections();
  const allowances = options.allowances ?? createMemoryAllowances();
  const toolMemory = options.toolMemory ?? createMemoryToolMemory();
  const notes = options.notes ?? createMemoryNotes();
  const { rows = createMemoryAccounts(), secrets = [options.secret] } = options.accounts ?? {};
  const opened: OpenBundle[] = [];
  const declared = (): Providers =>
    Object.fromEntries(opened.flatMap((one) => Object.entries(providersOf(one.loaded.bundle))));
  const accounts = createAccounts({ providers: declared, rows, secrets, clock, logger });
  let served;
  try {
    for (const bundle of options.bundles) {
      const accepts = (next: LoadedBundle): void => {
        const others = opened.map(({ loaded }) => loaded).filter(({ file }) => file !== next.file);
        declaredAccounts([...others, next].map((one) => providersOf(one.bundle)));
      };
      const kept = { selections: store, accounts, allowances, toolMemory, notes };
      opened.push(await openBundle({ ...options, ...kept, bundle, accepts }));
    }
    served = servedBundles(opened);
  } catch (error) {
    for (const one of opened) await one.close(0);
    throw error;
  }
  const bundles = served;
  const engine =
    options.engine?.({ clock, ids, logger, bundles: bundles.keys }) ??
    createEmbeddedEngine({ log, clock, logger, bundles: bundles.keys, shares: options.shares });
  const own = createPassing(opened.map((one) => one.bus));
  const passing = options.relay === undefined ? own : createSharedPassing(own, options.relay, clock);
  const wake = (runId: string): void => {
    engine.wake(runId).catch((error: unknown) => logger.error('a run could not be woken', { run: runId, error }));
  };
  const folds = createFolds(log);
  const runsPorts: RunsPorts = {
    log,
    clock,
    ids,
    folds,
    cursors: createCursors(options.secret),
    served: bundles,
    allowances,
    ledger: options.ledger ?? options.measures?.metering?.meter.ledger,
    wake,
    passing,
  };
  const runs = createRuns(runsPorts);
  let endRetention: () => void = () => undefined;
  let closed = false;
  let drained: Promise<unknown> | undefined;

  async function drain({ drainMs = 10_000 }: { readonly drainMs?: number } = {}): Promise<void> {
    endRetention();
    drained ??= Promise.all([engine.stop({ drainMs }), ...opened.map(({ worker }) => worker.stop(drainMs))]);
    await drained;
  }

  return {
    bundles: opened,
    notices: opened.flatMap((one) => one.loaded.notices),
    agents: () => bundles.agents,
    runs,
    selections: hostSelections({ served: bundles, log, folds, store, accounts, clock, ids }),
    accounts: goingOn(accounts, runs),
    allowances: createAllowances(runsPorts),
    notes: createNotes({ store: notes, cursors: runsPorts.cursors, clock }),
    operate: createOperate({ served: bundles, log, clock, metering: options.measures?.metering }),
    engine,
    async start() {
      if (options.retention !== undefined) endRetention = retire({ log, clock, logger }, options.retention);
      await engine.start(async (id, control) => {
        const row = await log.find(id);
        const bundle = row === undefined ? undefined : bundles.of(row);
        return row === undefined || bundle === undefined ? 'idle' : bundle.worker.slice(row, control);
      });
    },
    onPassing: passing.on,
    drain,
    async close(how = {}) {
      if (closed) return;
      closed = true;
      await drain(how);
      await Promise.all(opened.map((one) => one.close(0)));
      passing.close();
      await log.close();
    },
  };
}

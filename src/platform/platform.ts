import { randomIds, type IdSource } from '../base/ids.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import type { Bus } from '../kernel/bus.ts';
import type { Manifest, Plugin } from '../kernel/plugin.ts';
import type { NoteStore } from '../kernel/notes.ts';
import type { AccountStore, AllowanceStore, SelectionStore } from '../kernel/choices.ts';
import type { Ledger } from '../kernel/ledger.ts';
import type { Log } from '../kernel/log.ts';
import type { Logger } from '../kernel/logger.ts';
import type { ModelSource } from '../kernel/model.ts';
import type { AccountRows, ToolMemory } from '../kernel/stores.ts';
import { providersOf, type Providers } from './accounts/account-providers.ts';
import type { ChosenModel } from './models/auto-model.ts';
import type { Metering } from './metering/install.ts';
import { createConversations, type Conversations } from './conversations.ts';
import type { Environment } from './bundle/environment.ts';
import type { LoadedBundle, Notice } from './bundle/load.ts';
import type { RefusedEdit } from './bundle/reload.ts';

export interface PlatformOptions {
  /** The bundle's file. */
  readonly bundle: string;
  /** Variables for `${…}` in the bundle and for API keys; the process's own when absent. */
  readonly environment?: Environment;
  /** Where facts go. The platform closes it. */
  readonly log: Log;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  /** Further plugins, which a bundle may activate by id. */
  readonly plugins?: readonly Plugin[];
  /** Instead of the real providers and the scripted model. */
  readonly models?: ModelSource;
  /** Where users' choices are kept. Nobody has any when absent. */
  readonly selections?: SelectionStore;
  /** Where users' yeses for always are kept. Nobody is offered one when absent. */
  readonly allowances?: AllowanceStore | undefined;
  /** Under which descriptions users have let tools of servers run. Only in their conversations when absent. */
  readonly toolMemory?: ToolMemory | undefined;
  /** How what is spent is counted, for a bundle that has a ceiling of it. From the log alone when absent. */
  readonly meteringOf?: ((bundle: LoadedBundle) => Promise<Metering | undefined>) | undefined;
  /** Where plugins keep what has to be there after this process. Nowhere when absent. */
  readonly pluginFolder?: string | undefined;
  /** Users' notes. None are kept when absent. Whoever opened the store closes it. */
  readonly notes?: NoteStore | undefined;
  /** Where users' accounts are kept, and what seals them there. Nobody has any when absent. */
  readonly accounts?: { readonly rows: AccountRows; readonly secrets: readonly string[] };
}

/** A bundle, running: everything a program needs, and nothing that is not in the log when it stops. */
export interface Platform {
  /** As it is for turns that begin now. */
  readonly bundle: LoadedBundle;
  /**
   * Looks at the bundle's files, where one was saved since: an edit counts from the next turn on. `kept`: it does not, and
   * `refusedEdit` says why. Nothing is looked at otherwise.
   */
  reload(): Promise<'same' | 'new' | 'kept'>;
  readonly refusedEdit: RefusedEdit | undefined;
  /** What was mapped, guessed or left out while loading, one sentence each. */
  readonly notices: readonly Notice[];
  /** What each active plugin registered. */
  readonly manifests: readonly Manifest[];
  /** The model that `auto` stands for, where the bundle leaves it open. */
  readonly model: ChosenModel | undefined;
  readonly bus: Pick<Bus, 'on' | 'before' | 'answer' | 'emit' | 'settled'>;
  readonly conversations: Conversations;
  /** Lets running slices finish for `drainMs` (10 s), then closes the log. A second call does nothing. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** One bundle and its log: the door for programs and the command line. Throws what loading a bundle throws. */
export async function createPlatform(options: PlatformOptions): Promise<Platform> {
  const { openBundle } = await import('./bundle/open-bundle.ts'); // most of the house: loaded when a bundle is
  let declared = (): Providers => ({});
  const accounts = await openAccounts(options, () => declared());
  const meteringOf = options.meteringOf ?? ((bundle: LoadedBundle) => countedFromLog(bundle, options));
  const opened = await openBundle({ ...options, accounts, meteringOf });
  declared = () => providersOf(opened.loaded.bundle);
  const { bus, worker } = opened;
  let closed = false;
  return {
    get bundle() {
      return opened.loaded;
    },
    reload: () => opened.reloadIfSaved(),
    get refusedEdit() {
      return opened.refusedEdit;
    },
    get notices() {
      return opened.loaded.notices;
    },
    get manifests() {
      return opened.manifests;
    },
    get model() {
      return opened.model;
    },
    bus,
    conversations: createConversations({
      ports: {
        ...opened.ports,
        get agents() {
          return opened.ports.agents;
        },
      },
      worker,
      bundle: options.bundle,
      allowances: options.allowances,
      agentNamed: (name) => opened.loaded.agentNamed(name),
    }),
    async close({ drainMs = 10_000 } = {}) {
      if (closed) return;
      closed = true;
      await opened.close(drainMs);
      await options.log.close();
    },
  };
}

/** A ceiling holds where no ledger is kept, too: what the log tells was spent is counted when the program starts. */
async function countedFromLog(
  bundle: LoadedBundle,
  { log, clock = systemClock, ids = randomIds, logger = silent }: PlatformOptions,
): Promise<Metering | undefined> {
  const [{ localMetering }, { createMemoryLedger }] = await Promise.all([
    import('./metering/local-metering.ts'),
    import('../adapters/stores/ledger/memory.ts'),
  ]);
  const openLedger = (): Promise<Ledger> => Promise.resolve(createMemoryLedger({ clock }));
  return localMetering(bundle, { log, clock, ids, logger, openLedger });
}

/** Accounts are loaded where there is a place that may have some. */
async function openAccounts(
  { accounts, clock = systemClock, logger = silent }: PlatformOptions,
  providers: () => Providers,
): Promise<AccountStore | undefined> {
  if (accounts === undefined) return undefined;
  const { createAccounts } = await import('./accounts/accounts.ts');
  return createAccounts({ ...accounts, providers, clock, logger });
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

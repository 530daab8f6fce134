import { randomIds, type IdSource } from '../base/ids.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import type { ModelRef } from '../domain/agent.ts';
import { createBus, type Bus } from '../kernel/bus.ts';
import type { NoteStore } from '../kernel/notes.ts';
import type { AnnounceBlock, Manifest, Plugin } from '../kernel/plugin.ts';
import type { AccountStore, AllowanceStore, Log, Logger, ModelSource, SelectionStore } from '../kernel/ports.ts';
import type { ToolMemory } from '../kernel/stores.ts';
import type { Telemetry } from '../kernel/telemetry.ts';
import type { LoopPorts } from '../loop/work.ts';
import { otelObserver } from '../plugins/observers/otel.ts';
import { activeByDefault } from '../plugins/shipped.ts';
import { allPlugins } from './all-plugins.ts';
import { chooseModel, modelsOfRole, withChosenModel, type ChosenModel } from './auto-model.ts';
import { builtinGroups } from './builtins.ts';
import { processEnvironment, type Environment } from './environment.ts';
import { editedBundle, type EditedBundle } from './edited-bundle.ts';
import { loadBundle, type LoadedBundle, type LoadOptions } from './load.ts';
import { ceilingsOf } from './metering/ceilings.ts';
import { installPlugins } from './install-plugins.ts';
import { installMetering } from './metering/install.ts';
import { createSpending } from './metering/spending.ts';
import type { Measures } from './measures.ts';
import { createReload, type Edition } from './reload.ts';
import { withNotes } from './with-notes.ts';
import { createWorker, type Worker } from './worker.ts';

export interface OpenBundleOptions {
  /** The bundle's file. */
  readonly bundle: string;
  /** Variables for `${…}` in the bundle and for API keys; the process's own when absent. */
  readonly environment?: Environment | undefined;
  readonly log: Log;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly ids?: IdSource | undefined;
  /** Further plugins, which a bundle may activate by id. */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Instead of the real providers and the scripted model. */
  readonly models?: ModelSource | undefined;
  readonly selections?: SelectionStore | undefined;
  readonly accounts?: AccountStore | undefined;
  /** Under which descriptions users have let tools of servers run. Only in their conversations when absent. */
  readonly toolMemory?: ToolMemory | undefined;
  /** Users' notes. None are kept when absent. */
  readonly notes?: NoteStore | undefined;
  readonly allowances?: Pick<AllowanceStore, 'allowancesOf'> | undefined;
  /** What keeps figures, traces and the ledger of this process; nothing is measured when absent. */
  readonly measures?: Measures | undefined;
  /** How long a process that died keeps its runs from the others. */
  readonly leaseMs?: number | undefined;
  /** False for a rehearsal: observers, who tell others what happens, are left out. */
  readonly observed?: boolean | undefined;
  /** Looks at the file whenever something in its folder changes. */
  readonly watch?: boolean | undefined;
}

/** A bundle joined to the loop, the adapters and its plugins. The log is shared, and not its own. */
export interface OpenBundle {
  /** As it is for turns that begin now. */
  readonly loaded: LoadedBundle;
  /** Looks at the file again: an edit counts from the next turn on, a wrong one leaves what was. */
  reload(): Promise<'same' | 'new' | 'kept'>;
  /** An edit that nobody has saved, to compare with what runs: nothing is driven with it. Throws `bundle_invalid`. */
  edited(text: string): Promise<EditedBundle>;
  /** All that the bundle may activate. */
  readonly plugins: readonly Plugin[];
  /** What each active plugin registered. */
  readonly manifests: readonly Manifest[];
  /** The model that `auto` stands for, where the bundle leaves it open. */
  readonly model: ChosenModel | undefined;
  readonly bus: Bus;
  readonly ports: LoopPorts;
  readonly worker: Worker;
  /** Lets running slices finish for `drainMs`, then takes the plugins down and leaves the servers that it asks. */
  close(drainMs: number): Promise<void>;
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The one place where the loop, the adapters and the plugins meet. Throws what loading a bundle throws. */
export async function openBundle(options: OpenBundleOptions): Promise<OpenBundle> {
  const { environment = processEnvironment(), log, logger = silent, clock = systemClock, ids = randomIds } = options;
  const { measures = {} } = options;
  const plugins = [...allPlugins, ...(options.plugins ?? []).map(checkedPlugin)];
  const load = (more: Pick<LoadOptions, 'text' | 'servers'> = {}): Promise<LoadedBundle> =>
    loadBundle(options.bundle, {
      ...more,
      environment,
      builtins: builtinGroups,
      plugins: new Map(plugins.map((one) => [one.id, one.config])),
      // Where the process sends spans, every agent is heard.
      activeByDefault: new Set([...activeByDefault, ...(measures.telemetry === undefined ? [] : [otelObserver.id])]),
      clock,
      logger,
      accounts: options.accounts,
    });
  const bundle = await load();
  const { models, chosen } = await chooseModel(bundle, { environment, clock, models: options.models });
  const edition = (of: LoadedBundle, model: ChosenModel | undefined): Edition => {
    const settled = withChosenModel(of, model);
    const agents = settled.agentSource(options.selections, options.accounts, options.toolMemory);
    const { notes } = options;
    return {
      bundle: settled,
      agents: notes === undefined ? agents : withNotes(agents, { store: notes, bundle: settled.id, clock }),
    };
  };
  const reload = createReload({
    first: edition(bundle, chosen),
    async load() {
      const next = await load();
      return edition(next, (await chooseModel(next, { environment, clock, models })).chosen);
    },
    clock,
    logger,
  });
  const unwatch = options.watch === true ? reload.watch() : undefined;
  const bus = createBus({ clock, logger, record: async (id, draft) => (await log.post(id, draft)).fact });
  const isObserved = bundle.plugins.some(({ id }) => id === otelObserver.id);
  const telemetry = measures.telemetry ?? (isObserved ? await registeredTelemetry() : undefined);
  const spending = measures.metering === undefined ? undefined : createSpending(measures.metering.meter, clock);
  const modelsOf = (agent: string, role: string): readonly ModelRef[] | undefined =>
    modelsOfRole(reload.current.bundle.bundle, agent, role, chosen);
  const installed = await installPlugins(bundle.plugins, {
    known: plugins,
    observed: options.observed,
    ...{ bus, clock, logger, telemetry, spending, modelsOf, log },
  });
  const metered =
    measures.metering === undefined
      ? undefined
      : installMetering({
          ...measures.metering,
          ceilings: ceilingsOf(bundle.plugins),
          bus,
          bundle: bundle.bundle,
          clock,
          logger,
        });
  const endMeasures = [
    ...(metered === undefined ? [] : [() => metered.end()]),
    ...(measures.figures === undefined ? [] : [measures.figures.attach(bus)]),
  ];
  const ports: LoopPorts = {
    log,
    bus,
    clock,
    ids,
    models,
    logger,
    agents: reload.agents,
    allowances: options.allowances,
    blocks: [...installed.flatMap((one) => [...one.blocks]), ...groupBlocks()].sort(([left], [right]) =>
      left < right ? -1 : 1,
    ),
  };
  const endListening = bus.on('agent.turn.end', ({ conversationId }) => {
    for (const { onTurnEnd } of builtinGroups.values()) onTurnEnd?.(conversationId);
  });
  const worker = createWorker(ports, { leaseMs: options.leaseMs });
  return {
    get loaded() {
      return reload.current.bundle;
    },
    reload: () => reload.now(),
    edited: (text) => editedBundle({ text, running: reload.current.bundle, environment, load }),
    plugins,
    manifests: [...installed.map((one) => one.manifest), ...(metered === undefined ? [] : [metered.manifest])],
    model: chosen,
    bus,
    ports,
    worker,
    async close(drainMs) {
      unwatch?.();
      await worker.stop(drainMs);
      await Promise.all(installed.map((one) => one.settle()));
      for (const one of installed) one.uninstall();
      for (const end of endMeasures) end();
      endListening();
      await reload.close();
    },
  };
}

/** Those of every group: each is silent for an agent that has none of its tools. */
function groupBlocks(): readonly (readonly [title: string, block: AnnounceBlock])[] {
  return [...builtinGroups.values()].flatMap(({ announces }) => (announces === undefined ? [] : [announces]));
}

/** Spans go to whatever SDK the program has registered. Loaded with the first bundle that sends some. */
async function registeredTelemetry(): Promise<Telemetry> {
  const { createOtelTelemetry } = await import('../adapters/telemetry/otel-api.ts');
  return createOtelTelemetry();
}

/** Plugins may come from JavaScript, where nobody has checked their shape. */
function checkedPlugin(plugin: Plugin): Plugin {
  const given: Partial<Plugin> = plugin;
  const missing = (['id', 'config', 'setup'] as const).filter((key) => given[key] === undefined);
  if (missing.length === 0) return plugin;
  throw new TreadleError('plugin_failed', {
    place: given.id ?? 'a plugin without an id',
    found: `no ${missing.join(' and no ')}`,
    wanted: 'id, config (a zod schema) and setup',
    hint: 'write it with definePlugin',
  });
}

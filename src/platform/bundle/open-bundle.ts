import { randomIds, type IdSource } from '../../base/ids.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import { createBus, type Bus } from '../../kernel/bus.ts';
import type { NoteStore } from '../../kernel/notes.ts';
import type { Manifest, Plugin } from '../../kernel/plugin.ts';
import type { AccountStore, AllowanceStore, SelectionStore } from '../../kernel/choices.ts';
import type { Log } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ModelSource } from '../../kernel/model.ts';
import type { ToolMemory } from '../../kernel/stores.ts';
import type { Telemetry } from '../../kernel/telemetry.ts';
import type { LoopPorts } from '../../loop/work.ts';
import { otelObserver } from '../../plugins/observers/otel.ts';
import { activeByDefault } from '../../plugins/shipped.ts';
import { allPlugins } from './all-plugins.ts';
import { chooseModel, modelsOfRole, withChosenModel, type ChosenModel } from '../models/auto-model.ts';
import { builtinGroups, groupBlocks } from './builtins.ts';
import { processEnvironment, type Environment } from './environment.ts';
import { editedBundle, type EditedBundle, type Recorded } from './edited-bundle.ts';
import { loadBundle, type LoadedBundle, type LoadOptions } from './load.ts';
import { pluginParts } from './install-plugins.ts';
import { meteringPart, type Metering } from '../metering/install.ts';
import { createSpending } from '../metering/spending.ts';
import type { Measures } from '../hosting/measures.ts';
import { createPluginPool, type Part } from './plugin-pool.ts';
import { createReload, type Edition, type RefusedEdit } from './reload.ts';
import { EVERYTHING } from '../grant/grant.ts';
import { createServerPool } from '../grant/mcp-pool.ts';
import { withNotes } from '../grant/with-notes.ts';
import { createWorker, type Worker } from '../hosting/worker.ts';

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
  /** What is spent is counted so where `measures` have nothing that does; asked once, with the bundle as it was loaded. */
  readonly meteringOf?: ((bundle: LoadedBundle) => Promise<Metering | undefined>) | undefined;
  /** Where plugins keep what has to be there after this process. */
  readonly pluginFolder?: string | undefined;
  /** How long a process that died keeps its runs from the others. */
  readonly leaseMs?: number | undefined;
  /** False for a rehearsal: observers, who tell others what happens, are left out. */
  readonly observed?: boolean | undefined;
  /** Looks at the file whenever something of the bundle is saved. */
  readonly watch?: boolean | undefined;
  /** Throws where a bundle cannot stand beside what else is served. */
  readonly accepts?: ((bundle: LoadedBundle) => void) | undefined;
}

/** A bundle joined to the loop, the adapters and its plugins. The log is shared, and not its own. */
export interface OpenBundle {
  /** As it is for turns that begin now. */
  readonly loaded: LoadedBundle;
  /** Looks at the file again: an edit counts from the next turn on, a wrong one leaves what was. */
  reload(): Promise<'same' | 'new' | 'kept'>;
  /** The same, where one of its files was saved since. */
  reloadIfSaved(): Promise<'same' | 'new' | 'kept'>;
  /** The last edit of the file, where it does not count. */
  readonly refusedEdit: RefusedEdit | undefined;
  /** An edit that nobody has saved, to compare with what runs: nothing is driven with it. Throws `bundle_invalid`. */
  edited(text: string, recorded?: Recorded): Promise<EditedBundle>;
  /** All that the bundle may activate. */
  readonly plugins: readonly Plugin[];
  /** What each active plugin registered. */
  readonly manifests: readonly Manifest[];
  /** The model that `auto` stands for, where the bundle leaves it open. */
  readonly model: ChosenModel | undefined;
  readonly bus: Bus;
  /** As they are for turns that begin now. */
  readonly ports: LoopPorts;
  readonly worker: Worker;
  /** Lets running slices finish for `drainMs`, then takes the plugins down and leaves the servers that it asks. */
  close(drainMs: number): Promise<void>;
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** What a start that fails does with what it had loaded. */
function closing(bundle: LoadedBundle): (error: unknown) => Promise<never> {
  return async (error) => {
    await bundle.close();
    throw error;
  };
}

/** The one place where the loop, the adapters and the plugins meet. Throws what loading a bundle throws. */
export async function openBundle(options: OpenBundleOptions): Promise<OpenBundle> {
  const { environment = processEnvironment(), log, logger = silent, clock = systemClock, ids = randomIds } = options;
  const { measures = {} } = options;
  const plugins = [...allPlugins, ...(options.plugins ?? []).map(checkedPlugin)];
  const serverPool = createServerPool();
  const load = (more: Pick<LoadOptions, 'text' | 'servers' | 'recorded'> = {}): Promise<LoadedBundle> =>
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
      serverPool,
    });
  const first = await load();
  const metering = measures.metering ?? (await options.meteringOf?.(first).catch(closing(first)));
  const bus = createBus({ clock, logger, record: async (id, draft) => (await log.post(id, draft)).fact });
  const pool = createPluginPool(bus);
  const spending = metering === undefined ? undefined : createSpending(metering.meter, clock);
  let registered: Promise<Telemetry> | undefined;
  const telemetryOf = async (id: string): Promise<Telemetry | undefined> =>
    measures.telemetry ?? (id === otelObserver.id ? (registered ??= registeredTelemetry()) : undefined);
  const modelsOf = (agent: string, role: string): readonly ModelRef[] | undefined =>
    modelsOfRole(reload.current.bundle.bundle, agent, role, reload.current.model);
  const observed = { known: plugins, observed: options.observed, telemetryOf };
  const partsOf = (of: LoadedBundle): readonly Part[] => [
    ...pluginParts(of.plugins, { ...observed, clock, logger, spending, modelsOf, log, folder: options.pluginFolder }),
    ...(metering === undefined ? [] : [meteringPart(of, { ...metering, clock, logger })]),
  ];
  const open = async (of: LoadedBundle): Promise<Edition> => {
    options.accepts?.(of);
    const { models, chosen } = await chooseModel(of, { environment, clock, models: options.models });
    const bundle = withChosenModel(of, chosen);
    const running = await pool.take(partsOf(of));
    const source = bundle.agentSource(options.selections, options.accounts, options.toolMemory);
    const { notes, allowances } = options;
    const agents = notes === undefined ? source : withNotes(source, { store: notes, bundle: bundle.id, clock });
    const blocks = [...running.blocks, ...groupBlocks()].sort(([left], [right]) => (left < right ? -1 : 1));
    const ports = { log, bus: running.bus, clock, ids, models, logger, agents, allowances, blocks };
    const known = {
      problemOf: (agent: string) => problemOf(bundle, agent),
      isTakenOut: (agent: string, tool: ToolDefinition) => isTakenOut(bundle, agent, tool),
    };
    return { bundle, model: chosen, running, ports: { ...ports, ...known } };
  };
  const reload = createReload({
    first: await open(first).catch(closing(first)),
    load,
    open,
    clock,
    logger,
  });
  const unwatch = options.watch === true ? reload.watch() : undefined;
  const endFigures = measures.figures?.attach(bus);
  const endListening = bus.on('agent.turn.end', ({ conversationId }) => {
    for (const { onTurnEnd } of builtinGroups.values()) onTurnEnd?.(conversationId);
  });
  const now = (): LoopPorts => ({ ...reload.current.ports, bus });
  const worker = createWorker(now(), { leaseMs: options.leaseMs, portsFor: (id) => reload.portsFor(id) });
  return {
    get loaded() {
      return reload.current.bundle;
    },
    reload: () => reload.now(),
    reloadIfSaved: () => reload.ifSaved(),
    get refusedEdit() {
      return reload.refused;
    },
    edited: (text, recorded) => editedBundle({ text, running: reload.current.bundle, environment, load, recorded }),
    plugins,
    get manifests() {
      return reload.current.running.manifests;
    },
    get model() {
      return reload.current.model;
    },
    bus,
    get ports() {
      return now();
    },
    worker,
    async close(drainMs) {
      unwatch?.();
      await worker.stop(drainMs);
      await reload.close();
      endFigures?.();
      endListening();
    },
  };
}

/** What an agent is granted and nobody has for now is no such tool. */
function isTakenOut(bundle: LoadedBundle, agent: string, { name, group }: ToolDefinition): boolean {
  const { tools, unavailable } = bundle.agent(agent).grant;
  const isThere = tools.some(({ definition }) => definition.name === name && definition.group === group);
  const isAway = unavailable.some((one) => one.group === group && (one.name === name || one.own === EVERYTHING));
  return !isThere && !isAway;
}

function problemOf(bundle: LoadedBundle, agent: string): TreadleError | undefined {
  try {
    bundle.agentNamed(agent);
    return undefined;
  } catch (error) {
    if (!TreadleError.is(error)) throw error;
    return error;
  }
}

/** Spans go to whatever SDK the program has registered. Loaded with the first bundle that sends some. */
async function registeredTelemetry(): Promise<Telemetry> {
  const { createOtelTelemetry } = await import('../../adapters/telemetry/otel-api.ts');
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

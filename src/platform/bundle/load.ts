import path from 'node:path';
import type { z } from 'zod';
import { systemClock, type Clock } from '../../base/clock.ts';
import { digest } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import { isObject, toJson } from '../../base/json.ts';
import { MCP_CLIENT } from '../../adapters/mcp/client-package.ts';
import { optionalPackage } from '../../adapters/modules/optional-package.ts';
import { frameOf } from '../../assembly/frame.ts';
import { agentsOf, consumer, inventoryLevels, resolve, type Path } from '../../assembly/resolve.ts';
import type { Bundle } from '../../domain/bundle.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { McpTools, ToolsEntry } from '../../domain/inventory.ts';
import type { AccountStore, SelectionStore } from '../../kernel/choices.ts';
import type { AgentSource } from '../../kernel/agent-source.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ToolMemory } from '../../kernel/stores.ts';
import type { BuiltinGroup } from '../../kernel/tool.ts';
import { KNOWN_PROVIDERS } from '../../adapters/models/providers.ts';
import { agentGroup } from '../../plugins/tools/agent.ts';
import { activeByDefault as shippedByDefault } from '../../plugins/shipped.ts';
import { activePlugins, type ActivePlugin } from './active-plugins.ts';
import { asideOf, checkMemory } from '../models/aside-role.ts';
import type { Owner } from '../accounts/accounts.ts';
import { checkSearch } from './check-search.ts';
import { createAgentSource, type LoadedAgent } from '../grant/agent-source.ts';
import { readText } from './bundle-files.ts';
import { checkAccounts, checkPlanning, checkRoles, checkStructure, checkToolChoice } from './check-bundle.ts';
import { declare } from './declare.ts';
import { checkProviders, checkReach } from '../models/declared-models.ts';
import type { Environment } from './environment.ts';
import { eventSourcesOf, withEvents } from '../hosting/event-sources.ts';
import { explain, type Explained } from './explain.ts';
import { delegationOf } from '../grant/delegation.ts';
import { planningGroup } from './planning-group.ts';
import { grantOf } from '../grant/grant.ts';
import type { ToolGroup } from '../grant/group-members.ts';
import { canCompact, memoryLimits } from './memory-limits.ts';
import { createLiveAgents, type RemotePart } from '../grant/live-agents.ts';
import { NO_SERVERS, type McpServers } from '../grant/mcp-entry.ts';
import type { ServerPool } from '../grant/mcp-pool.ts';
import type { McpServersOptions } from '../grant/mcp-servers.ts';
import { checkPluginTools } from '../grant/plugin-tools.ts';
import { didYouMean, Notices, oneOf, Problems, type Notice } from './problems.ts';
import { NamedFiles } from './named-files.ts';
import { skillsOf } from '../grant/skills.ts';
import { withAccounts } from '../accounts/with-accounts.ts';
import { withToolMemory } from '../grant/with-tool-memory.ts';
import { createSelectionReader } from '../selections/selection-reader.ts';
import type { LoadedService } from '../grant/service-members.ts';
import { loadServices } from '../grant/services.ts';
import type { RecordedOperations } from '../grant/service-members.ts';
import { loadToolGroups } from '../grant/tool-groups.ts';

export type { LoadedAgent } from '../grant/agent-source.ts';
export type { Notice } from './problems.ts';

export interface LoadOptions {
  /** Variables for `${…}`. */
  readonly environment: Environment;
  /** Tool groups by the name after `builtin/`. */
  readonly builtins: ReadonlyMap<string, BuiltinGroup>;
  /** By plugin id: what it can be configured with. */
  readonly plugins: ReadonlyMap<string, z.ZodType>;
  /** Ids of plugins that are active without being named; those of the shipped plugins when absent. */
  readonly activeByDefault?: ReadonlySet<string>;
  readonly clock?: Clock;
  /** What tool servers do out of the ordinary is told here. */
  readonly logger?: Logger;
  /** Users' accounts, for servers that they sign in to. Nobody can when absent. */
  readonly accounts?: AccountStore | undefined;
  /** Instead of what is in the file: an edit that nobody has saved. */
  readonly text?: string | undefined;
  /** Instead of servers of its own. The bundle closes them with itself. */
  readonly servers?: McpServers | undefined;
  /** Servers that other editions of the bundle have, to go on with. */
  readonly serverPool?: ServerPool | undefined;
  /** Services elsewhere are not asked for what they have: by namespace, what they are known to have had. */
  readonly recorded?: RecordedOperations | undefined;
}

/** A bundle that has been read, checked and connected to its tools. Nothing in it changes; an edited file is loaded anew. */
export interface LoadedBundle {
  /** The file, as it was named. */
  readonly file: string;
  /** Where the files that a bundle names are, such as a model's script. */
  readonly folder: string;
  /** All that was read of it, the file itself too: whole paths. An edit of one is an edit of the bundle. */
  readonly files: readonly string[];
  /** Where its skills are. */
  readonly skillFolders: readonly string[];
  readonly id: string;
  readonly bundle: Bundle;
  /** Digest of the content, of the files that it names too: an edit changes it, a comment in the YAML does not. */
  readonly revision: string;
  /** Ids, in the order of the file. Never empty. */
  readonly agents: readonly string[];
  readonly defaultAgent: string;
  /** Plugins to install, in the order in which they were known. */
  readonly plugins: readonly ActivePlugin[];
  readonly notices: readonly Notice[];
  /** The id of an agent; the default one when no name is given. Throws `bundle_unknown_name`. */
  agentNamed(name?: string): string;
  /** With the tools that its servers were last known to have. Throws `bundle_unknown_name`. */
  agent(id: string): LoadedAgent;
  /** The same after asking its servers, where that is due, as they are to this user. Throws `bundle_unknown_name`; a server that is down is no error. */
  agentNow(id: string, owner?: Owner): MaybePromise<LoadedAgent>;
  readonly servers: McpServers;
  /** What is odd about the tool servers that were asked so far. */
  serverNotices(): readonly Notice[];
  /** `settle`: what is made of an agent before a turn is assembled with it. */
  agentSource(
    selections?: SelectionStore,
    accounts?: AccountStore,
    memory?: ToolMemory,
    settle?: (agent: LoadedAgent) => LoadedAgent,
  ): AgentSource;
  /** `file:line:column  path` of a key, by the keys that lead to it. */
  place(path: Path): string;
  /** What the file says where a variable was put in, else undefined: for people, who must not read its value. */
  written(path: Path): string | undefined;
  /** Each setting of an agent with the place that it comes from. */
  explain(agent: string): readonly Explained[];
  /** Leaves its tool servers, and ends those that are children. What still runs on them fails. */
  close(): Promise<void>;
}

/**
 * Load a bundle and the tool modules that it names.
 *
 * Throws a BundleError with all that is wrong, or nothing starts half-configured. Modules are imported: their code runs.
 */
export async function loadBundle(file: string, options: LoadOptions): Promise<LoadedBundle> {
  const problems = new Problems();
  const { clock = systemClock } = options;
  const declared = declare(options.text ?? readText(file, file), file, options.environment, problems);
  const { bundle, isPartial } = declared;
  const folder = path.dirname(path.resolve(file));
  const notices = new Notices();
  const { agents, defaultAgent } = agentsOf(bundle);
  // What was left out is missing where it is named: that would be told as a second mistake.
  if (!isPartial) checkStructure(declared, agents, problems);
  const providers = [...KNOWN_PROVIDERS, 'auto'];
  checkProviders(declared, providers, problems);
  checkReach(declared, providers, options.environment, problems, notices);
  const configs = options.plugins;
  const plugins = activePlugins(
    declared,
    { configs, byDefault: options.activeByDefault ?? shippedByDefault },
    problems,
  );
  const files = new NamedFiles(folder, declared, problems);
  const hasPlanner = plugins.some(({ id }) => id.startsWith('planner.'));
  const delegation = agentGroup(agents);
  const builtins = new Map([...options.builtins, [delegation.name, delegation]]);
  const loaded = await loadToolGroups(agents, {
    ...options,
    builtins,
    declared,
    folder,
    problems,
    notices,
  });
  const { groups, digests } = loaded;
  const services = await loadServices(agents, {
    ...{ declared, folder, problems, notices, clock },
    recorded: options.recorded,
  });
  const remote = new Map<string, RemotePart>();
  const skillDigests: Record<string, string> = {};
  const parts = agents.map((agent) => {
    const { role, models } = isPartial ? NO_ROLE : checkRoles(declared, agent, problems, notices);
    if (!isPartial) checkPlanning(declared, agent, hasPlanner, problems, notices);
    if (!isPartial) checkMemory(declared, agent, plugins, problems, notices);
    const aside = isPartial ? undefined : asideOf(declared, agent, plugins, problems);
    const groupOf = (entry: ToolsEntry): ToolGroup | undefined => groups.get(entry);
    const delegated = delegationOf(bundle, agent, delegation, groupOf);
    const { delegates } = delegated;
    const found = skillsOf({ declared, agent, role, folder, problems, notices });
    for (const { id, digest: ofText } of found.skills) skillDigests[id] = ofText;
    const { skills } = found;
    const planned = hasPlanner ? planningGroup(bundle, agent) : [];
    const implied = [...delegated.implied, ...planned, ...found.implied];
    const serviceOf = (namespace: string): LoadedService | undefined => services.known(namespace);
    const granted = grantOf({ declared, agent, models, problems, groupOf, serviceOf, implied, skills });
    const tools = resolve(inventoryLevels(bundle, agent), 'tools')?.value ?? [];
    const entries = tools.filter((one) => one.kind === 'mcp');
    const far = (granted.grant.services ?? []).flatMap(({ namespace }) =>
      services.remote.has(namespace) ? [namespace] : [],
    );
    if (entries.length + far.length > 0) {
      const grantWith = (live: ReadonlyMap<McpTools, ToolGroup>) =>
        grantOf({
          declared,
          agent,
          models,
          problems: new Problems(), // all that is wrong has been told by then
          groupOf: (entry) => (entry.kind === 'mcp' ? live.get(entry) : groups.get(entry)),
          serviceOf,
          implied,
          skills,
        });
      remote.set(agent, { entries, services: far, grantOf: grantWith });
    }
    const eventSources = isPartial ? [] : eventSourcesOf(declared, agent, serviceOf, problems);
    if (!isPartial) checkAccounts(bundle, granted.grant, file, notices);
    if (!isPartial) checkSearch(declared, agent, { grant: granted.grant, models, active: plugins, file }, notices);
    if (!isPartial) checkToolChoice(declared, agent, granted.grant, problems, notices);
    const gateIterations = iterationsOf(plugins);
    const systemPrompt = files.prompt(agent);
    const memory = { memory: memoryLimits(plugins), canCompact: canCompact(plugins) };
    const frame = frameOf(bundle, agent, { systemPrompt, gateIterations, hasPlanner, delegates, aside, ...memory });
    return { frame, role, eventSources, ...granted };
  });
  if (!isPartial && remote.size === 0)
    checkPluginTools(declared, plugins, [...new Set(parts.flatMap((part) => toolNames(part)))], notices);
  files.readScripts();
  if (
    bundle.models === undefined &&
    parts.some(({ grant }) => grant.models.some(({ provider }) => provider === 'auto'))
  ) {
    notices.add(file, 'no models are declared: the provider is chosen by the keys that there are');
  }
  if (problems.any) await Promise.all([services.close(), loaded.close()]);
  problems.throwIfAny(file);
  const id = bundle.id ?? idOf(file);
  const revision = digest({
    bundle: toJson(bundle),
    modules: { ...digests, ...services.digests },
    files: files.digests,
    ...(Object.keys(skillDigests).length === 0 ? {} : { skills: skillDigests }),
  });
  const whole = (named: string): string => path.resolve(folder, named);
  const read = [file, ...[...Object.keys(files.digests), ...Object.keys(services.digests)].map(whole)];
  const skillFolders = agents.flatMap((agent) => {
    const root = resolve(inventoryLevels(bundle, agent), 'skills')?.value.custom_root;
    return root === undefined ? [] : [whole(root)];
  });
  const byId = new Map(parts.map((part): [string, LoadedAgent] => [part.frame.id, { bundle: id, revision, ...part }]));
  const agentNamed = (name = defaultAgent): string => {
    if (byId.has(name)) return name;
    const hint = didYouMean(name, agents);
    const wanted = hint === undefined ? oneOf(agents) : undefined;
    throw new TreadleError('bundle_unknown_name', {
      place: file,
      found: `no agent ${JSON.stringify(name)}`,
      wanted,
      hint,
    });
  };
  const servers =
    options.servers ??
    (await openServers({
      services: consumer(bundle).block?.mcp?.services ?? {},
      folder,
      searchPath: options.environment['PATH'],
      clock,
      logger: options.logger ?? silent,
      accounts: options.accounts,
      pool: options.serverPool,
    }));
  const asked = options.recorded === undefined ? services : { now: () => undefined };
  const live = createLiveAgents({ loaded: byId, remote, servers, services: asked });
  const there = (found: LoadedAgent | undefined): LoadedAgent => {
    if (found === undefined) throw new Error('Treadle bug: an agent was named and is not there');
    return found;
  };
  const agent = (name: string): LoadedAgent => there(live.known(agentNamed(name)));
  return {
    file,
    folder,
    files: [...new Set([...read.map((one) => path.resolve(one)), ...loaded.files, ...services.files])],
    skillFolders: [...new Set(skillFolders)],
    id,
    bundle,
    revision,
    agents,
    defaultAgent,
    plugins,
    notices: notices.all,
    agentNamed,
    agent,
    agentNow(name, owner) {
      const found = live.now(agentNamed(name), owner);
      return isPromise(found) ? found.then(there) : there(found);
    },
    servers,
    serverNotices: () => servers.oddities().map(({ server, text }) => ({ place: `the MCP server ${server}`, text })),
    agentSource(selections, accounts, memory, settle = (one) => one) {
      const reader =
        selections === undefined
          ? undefined
          : createSelectionReader({ store: selections, clock, logger: options.logger });
      const settled = (known: (name: string) => LoadedAgent | undefined) => (name: string) => {
        const found = known(name);
        return found === undefined ? undefined : settle(found);
      };
      const source = live.source(
        (known) => createAgentSource({ agent: settled(known), agentNamed, selections: reader, accounts, clock }),
        agentNamed,
      );
      const heard = withEvents(source, {
        sourcesOf: (name) => live.known(agentNamed(name))?.eventSources ?? [],
        serviceOf: (namespace) => services.known(namespace),
        accounts,
        clock,
      });
      const remembering =
        memory === undefined
          ? heard
          : withToolMemory(heard, { memory, bundle: id, clock, logger: options.logger ?? silent });
      const asks = (name: string): boolean => byId.get(name)?.frame.asksForClaims === true;
      return withAccounts(remembering, {
        needs: (name, definition) => live.needs(name, definition),
        asks,
        accounts,
        clock,
      });
    },
    place: declared.place,
    written: declared.written,
    explain: (name) => explain(declared, agent(name)),
    async close() {
      await Promise.all([servers.close(), services.close(), loaded.close()]);
    },
  };
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function openServers(options: McpServersOptions): Promise<McpServers> {
  if (Object.keys(options.services).length === 0) return NO_SERVERS;
  const { createMcpServers } = await optionalPackage(() => import('../grant/mcp-servers.ts'), MCP_CLIENT);
  return createMcpServers(options);
}

function toolNames({ grant }: Pick<LoadedAgent, 'grant'>): readonly string[] {
  return [...grant.tools.map(({ definition }) => definition.name), ...grant.unavailable.map(({ name }) => name)];
}

const NO_ROLE = { role: '', models: [] } as const;

function iterationsOf(plugins: readonly ActivePlugin[]): number | undefined {
  const config = plugins.find(({ id }) => id === 'gate.endless_loop')?.config;
  const most = isObject(config) ? config['max_iterations'] : undefined;
  return typeof most === 'number' ? most : undefined;
}

/** `desk` for `agents/desk.yaml`. */
function idOf(file: string): string {
  const name = path
    .basename(file)
    .replace(/\.[^.]+$/, '')
    .replace(/[^\w.-]+/g, '-');
  return /^[A-Za-z0-9]/.test(name) ? name.slice(0, 64) : 'bundle';
}

import type { GroupEntry, McpTools, ModuleTools, PythonTools, ToolsEntry } from '../../domain/inventory.ts';
import { consumer, inventoryLevels, resolve, type Path } from '../../assembly/resolve.ts';
import { PLAN_GROUP } from '../../domain/plan.ts';
import type { MaybePromise } from '../../base/promise.ts';
import type { BuiltinGroup } from '../../kernel/tool.ts';
import { compileTool, type CompiledTool } from './catalog.ts';
import { checkConfig } from '../bundle/check-config.ts';
import type { Readable } from '../bundle/declare.ts';
import type { ToolGroup } from './group-members.ts';
import { notAsked, serverId } from './mcp-entry.ts';
import { didYouMean, oneOf, type Notices, type Problems } from '../bundle/problems.ts';
import { loadToolModule } from './tool-modules.ts';
import { reachOf, withReach, type Reach } from './tool-reach.ts';

export interface GroupOptions {
  readonly declared: Readable;
  readonly folder: string;
  readonly builtins: ReadonlyMap<string, BuiltinGroup>;
  readonly problems: Problems;
  readonly notices: Notices;
}

export interface LoadedGroups {
  readonly groups: ReadonlyMap<ToolsEntry, ToolGroup>;
  /** By the name in the bundle: the digest of each module file. */
  readonly digests: Readonly<Record<string, string>>;
  /** Those files, and what they import. */
  readonly files: readonly string[];
  /** Ends what the tools had opened. */
  close(): Promise<void>;
}

/** What loading has found so far. */
interface Loading {
  readonly digests: Record<string, string>;
  readonly files: string[];
  readonly reaches: Reach[];
}

/** What KDCube calls the group that is `context` here. */
const PYTHON_NAMES: Readonly<Record<string, string>> = { ctx: 'context' };

const BUILTIN = 'builtin/';

/** Loads every tool group that any of the agents is granted, each module once. Modules are imported: their code runs. */
export async function loadToolGroups(agents: readonly string[], options: GroupOptions): Promise<LoadedGroups> {
  const groups = new Map<ToolsEntry, ToolGroup>();
  const loading: Loading = { digests: {}, files: [], reaches: [] };
  for (const agent of agents) {
    const found = resolve(inventoryLevels(options.declared.bundle, agent), 'tools');
    for (const [index, entry] of (found?.value ?? []).entries()) {
      if (groups.has(entry) || entry.kind === 'named_service') continue;
      const path = [...(found?.from ?? []), index];
      const group = await groupOf(entry, path, options, loading);
      if (group !== undefined) groups.set(entry, group);
    }
  }
  return {
    groups,
    digests: loading.digests,
    files: loading.files,
    async close() {
      await Promise.all(loading.reaches.map((one) => one.close()));
    },
  };
}

function groupOf(
  entry: GroupEntry,
  path: Path,
  options: GroupOptions,
  loading: Loading,
): MaybePromise<ToolGroup | undefined> {
  switch (entry.kind) {
    case 'python':
      return pythonGroup(entry, path, options, loading);
    case 'mcp':
      return mcpGroup(entry, path, options);
    case 'module':
      return moduleGroup(entry, path, options, loading);
  }
}

/** What a server has is asked when a turn begins; here it has to be one that is known how to reach. */
function mcpGroup(entry: McpTools, path: Path, { declared, problems }: GroupOptions): ToolGroup | undefined {
  const ids = Object.keys(consumer(declared.bundle).block?.mcp?.services ?? {});
  const id = serverId(entry);
  // A service that does not fit was left out, and has been told.
  if (ids.includes(id) || declared.isPartial) return notAsked(entry);
  const at = [...path, entry.server_id === undefined ? 'name' : 'server_id'];
  const hint = didYouMean(id, ids);
  problems.add('bundle_unknown_name', {
    place: declared.place(at),
    found: `no MCP server ${declared.quoted(at, id)} in surfaces.as_consumer.mcp.services`,
    wanted: hint === undefined && ids.length > 0 ? oneOf(ids) : undefined,
    hint: hint ?? (ids.length === 0 ? 'add it there, with its transport' : undefined),
  });
  return undefined;
}

/** Groups that nobody grants, and what brings them. */
const IMPLIED: ReadonlyMap<string, string> = new Map([
  [`${BUILTIN}${PLAN_GROUP}`, 'leave it out: it comes by itself where an agent has `planning`'],
]);

async function moduleGroup(
  entry: ModuleTools,
  path: Path,
  options: GroupOptions,
  loading: Loading,
): Promise<ToolGroup | undefined> {
  const { module } = entry;
  const { declared, folder, builtins, problems } = options;
  const at = [...path, 'module'];
  const place = declared.place(at);
  const group = module.startsWith(BUILTIN) ? builtins.get(module.slice(BUILTIN.length)) : undefined;
  const handed = (tools: readonly CompiledTool[]): readonly CompiledTool[] | undefined => {
    const reach = reachOf(entry, path, { ...options, needsFiles: group?.needsFiles === true });
    if (reach === undefined) return undefined;
    loading.reaches.push(reach);
    return withReach(tools, reach);
  };
  try {
    if (!module.startsWith(BUILTIN)) {
      const loaded = await loadToolModule(module, folder, place, declared.quoted(at, module));
      loading.digests[module] = loaded.digest;
      loading.files.push(...loaded.files);
      notConfigured(entry, path, options);
      const tools = handed(loaded.tools);
      return tools && { locked: false, tools };
    }
    if (group !== undefined) {
      const specs = configured(group, entry, path, options);
      const tools = handed(compiledOf(group, specs));
      return tools && { locked: group.locked, builtin: group.name, tools, absent: group.absent };
    }
  } catch (error) {
    problems.take(error);
    return undefined;
  }
  const names = [...builtins.keys()].map((name) => `${BUILTIN}${name}`);
  const hint = IMPLIED.get(module) ?? didYouMean(module, names);
  const wanted = hint === undefined ? oneOf(names) : undefined;
  problems.add('bundle_unknown_name', { place, found: `no group ${declared.quoted(at, module)}`, wanted, hint });
  return undefined;
}

/** The tools of a group as the entry sets it up; as they are without one where the settings do not fit, which is told. */
function configured(group: BuiltinGroup, entry: ModuleTools, path: Path, options: GroupOptions): BuiltinGroup['tools'] {
  if (group.configured === undefined) notConfigured(entry, path, options, group.name);
  if (group.configured === undefined || entry.config === undefined) return group.tools;
  const fits = checkConfig(entry.config, group.configured.schema, {
    ...options.declared,
    problems: options.problems,
    code: 'bundle_invalid',
    what: `${BUILTIN}${group.name}`,
    path: [...path, 'config'],
  });
  return fits ? group.configured.tools(entry.config) : group.tools;
}

function notConfigured(
  { config = {}, module }: ModuleTools,
  path: Path,
  { declared, problems }: GroupOptions,
  group = module,
): void {
  if (Object.keys(config).length === 0) return;
  problems.add('bundle_invalid', {
    place: declared.place([...path, 'config']),
    found: `settings for ${group}`,
    wanted: 'none, because it has none',
  });
}

function pythonGroup(
  entry: PythonTools,
  path: Path,
  options: GroupOptions,
  { reaches }: Loading,
): ToolGroup | undefined {
  const { declared, builtins, problems, notices } = options;
  const at = [...path, entry.module === undefined ? 'ref' : 'module'];
  const written = entry.module ?? entry.ref ?? '';
  const last =
    written
      .replace(/\.py$/, '')
      .split(/[./\\]/)
      .at(-1) ?? '';
  const short = last.replace(/_tools$/, '');
  const name = PYTHON_NAMES[short] ?? short;
  const group = builtins.get(last) ?? builtins.get(name);
  const place = declared.place(at);
  // What reaches files or programs is named as what it is, or not at all.
  if (group !== undefined && group.needsFiles !== true) {
    notices.add(place, `the Python group ${last} is mapped to ${BUILTIN}${group.name}`);
    const reach = reachOf({}, path, { ...options, needsFiles: false });
    if (reach === undefined) return undefined;
    reaches.push(reach);
    const { tools, ...rest } = builtin(group);
    const unavailable = `the built-in group ${group.name} has no tool of this name`;
    return { ...rest, tools: withReach(tools, reach), absent: group.absent, unavailable };
  }
  problems.add('bundle_not_supported', {
    place,
    found: `the Python module ${declared.quoted(at, written)}`,
    wanted: `a name that ends in a built-in group: ${[...builtins.keys()].join(', ')}`,
    hint: 'write the tools in TypeScript and grant them with kind: module',
  });
  return undefined;
}

/** A group that comes with Treadle, as an entry that names it gets it. */
export function builtin({ name, locked, tools, needsNotes }: BuiltinGroup): ToolGroup {
  return { locked, builtin: name, tools: compiledOf({ name, needsNotes }, tools) };
}

function compiledOf(
  { name, needsNotes }: Pick<BuiltinGroup, 'name' | 'needsNotes'>,
  tools: BuiltinGroup['tools'],
): readonly CompiledTool[] {
  const compiled = tools.map((spec) => compileTool(spec, `${BUILTIN}${name}`));
  return needsNotes === true ? compiled.map((one) => ({ ...one, hands: { ...one.hands, needsNotes } })) : compiled;
}

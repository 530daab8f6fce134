import type { GroupEntry, McpTools, ModuleTools, PythonTools, ToolsEntry } from '../domain/inventory.ts';
import { consumer, inventoryLevels, resolve, type Path } from '../assembly/resolve.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { BuiltinGroup } from '../kernel/tool.ts';
import { compileTool } from './catalog.ts';
import type { Readable } from './declare.ts';
import type { ToolGroup } from './grant.ts';
import { notAsked, serverId } from './mcp-entry.ts';
import { didYouMean, oneOf, type Notices, type Problems } from './problems.ts';
import { loadToolModule } from './tool-modules.ts';

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
}

/** Groups of the design that this version does not bring. */
const LATER_GROUPS: ReadonlySet<string> = new Set(['web']);

/** What KDCube calls the group that is `context` here. */
const PYTHON_NAMES: Readonly<Record<string, string>> = { ctx: 'context' };

const BUILTIN = 'builtin/';

/** Loads every tool group that any of the agents is granted, each module once. Modules are imported: their code runs. */
export async function loadToolGroups(agents: readonly string[], options: GroupOptions): Promise<LoadedGroups> {
  const groups = new Map<ToolsEntry, ToolGroup>();
  const digests: Record<string, string> = {};
  for (const agent of agents) {
    const found = resolve(inventoryLevels(options.declared.bundle, agent), 'tools');
    for (const [index, entry] of (found?.value ?? []).entries()) {
      if (groups.has(entry) || entry.kind === 'named_service') continue;
      const path = [...(found?.from ?? []), index];
      const group = await groupOf(entry, path, options, digests);
      if (group !== undefined) groups.set(entry, group);
    }
  }
  return { groups, digests };
}

function groupOf(
  entry: GroupEntry,
  path: Path,
  options: GroupOptions,
  digests: Record<string, string>,
): MaybePromise<ToolGroup | undefined> {
  switch (entry.kind) {
    case 'python':
      return pythonGroup(entry, path, options);
    case 'mcp':
      return mcpGroup(entry, path, options);
    case 'module':
      return moduleGroup(entry, path, options, digests);
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

async function moduleGroup(
  { module }: ModuleTools,
  path: Path,
  { declared, folder, builtins, problems }: GroupOptions,
  digests: Record<string, string>,
): Promise<ToolGroup | undefined> {
  const at = [...path, 'module'];
  const place = declared.place(at);
  try {
    if (!module.startsWith(BUILTIN)) {
      const { tools, digest } = await loadToolModule(module, folder, place, declared.quoted(at, module));
      digests[module] = digest;
      return { locked: false, tools };
    }
    const group = builtins.get(module.slice(BUILTIN.length));
    if (group !== undefined) return builtin(group);
  } catch (error) {
    problems.take(error);
    return undefined;
  }
  const names = [...builtins.keys()].map((name) => `${BUILTIN}${name}`);
  if (LATER_GROUPS.has(module.slice(BUILTIN.length))) {
    problems.add('bundle_not_supported', {
      place,
      found: `${module}, not supported yet`,
      hint: `remove it; there is ${names.join(', ')}`,
    });
  } else {
    const hint = didYouMean(module, names);
    const wanted = hint === undefined ? oneOf(names) : undefined;
    problems.add('bundle_unknown_name', { place, found: `no group ${declared.quoted(at, module)}`, wanted, hint });
  }
  return undefined;
}

function pythonGroup(
  entry: PythonTools,
  path: Path,
  { declared, builtins, problems, notices }: GroupOptions,
): ToolGroup | undefined {
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
  if (group !== undefined) {
    notices.add(place, `the Python group ${last} is mapped to ${BUILTIN}${group.name}`);
    return { ...builtin(group), unavailable: `the built-in group ${group.name} has no tool of this name` };
  }
  if (LATER_GROUPS.has(name)) {
    const tools = entry.allowed?.join(', ') ?? 'its tools';
    notices.add(place, `${last} is not supported yet: ${tools} are granted and stay inactive`);
    return { locked: false, tools: [], unavailable: `this version has no ${name} tools` };
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
export function builtin({ name, locked, tools }: BuiltinGroup): ToolGroup {
  return { locked, builtin: name, tools: tools.map((spec) => compileTool(spec, `${BUILTIN}${name}`)) };
}

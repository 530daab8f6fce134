import { modelNames, remoteNames } from '../../assembly/names.ts';
import { modelOf } from '../../assembly/roles.ts';
import { behaviourLevels, inventoryLevels, resolve, type Path } from '../../assembly/resolve.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { FoundSkill } from '../../adapters/skills/discover.ts';
import type {
  Grant,
  GrantedService,
  GrantedSkill,
  GrantedTool,
  OpenGroup,
  PickableModel,
  UnavailableTool,
} from '../../domain/grant.ts';
import type { ToolsEntry, Traits } from '../../domain/inventory.ts';
import type { Toolset } from '../../kernel/running-tool.ts';
import { TOOLBOX_GROUP } from '../../domain/deferred.ts';
import { toolboxGroup } from '../../plugins/tools/toolbox.ts';
import { compileTool, toolOf, type CompiledTool } from './catalog.ts';
import type { Declared } from '../bundle/declare.ts';
import { membersOf, type ToolGroup } from './group-members.ts';
import type { Member } from './member.ts';
import { serviceMembers, type LoadedService } from './service-members.ts';
import type { Problems } from '../bundle/problems.ts';

/** A group that no entry names. */
export interface ImpliedGroup {
  readonly entry: ToolsEntry;
  readonly group: ToolGroup;
}

/** The tools that find deferred ones. */
const TOOLBOX: ImpliedGroup = {
  entry: { kind: 'module', name: TOOLBOX_GROUP, module: `builtin/${TOOLBOX_GROUP}` },
  group: { locked: true, tools: toolboxGroup.tools.map((spec) => compileTool(spec, `builtin/${TOOLBOX_GROUP}`)) },
};

export interface GrantOptions {
  readonly declared: Declared;
  readonly agent: string;
  /** The group of an entry, or undefined when it could not be loaded, which has been told. */
  readonly groupOf: (entry: ToolsEntry) => ToolGroup | undefined;
  /** A service by its namespace; undefined when there is none, or it could not be loaded. */
  readonly serviceOf?: ((namespace: string) => LoadedService | undefined) | undefined;
  /** Groups that another key of the bundle grants. */
  readonly implied?: readonly ImpliedGroup[];
  readonly models: readonly ModelRef[];
  readonly problems: Problems;
  readonly skills?: readonly FoundSkill[] | undefined;
}

export interface GrantWithHands {
  readonly grant: Grant;
  readonly tools: Toolset;
}

/** Stands for all that a server would have, where nobody knows what that is. */
export const EVERYTHING = '*';

/** All that the operator allows one agent, and the tools that do it. Wrong names are added to `problems`. */
export function grantOf({
  declared,
  agent,
  groupOf,
  serviceOf = () => undefined,
  implied = [],
  models,
  problems,
  skills = [],
}: GrantOptions): GrantWithHands {
  const found = resolve(inventoryLevels(declared.bundle, agent), 'tools');
  const members: Member[] = [];
  const open: OpenGroup[] = [];
  const services = new Map<string, GrantedService>();
  const aliases = new Map<string, Path>();
  for (const [index, entry] of (found?.value ?? []).entries()) {
    const path: Path = [...(found?.from ?? []), index];
    if (entry.kind === 'named_service') {
      const granted = serviceMembers({ entry, path, declared, serviceOf, known: services, problems });
      members.push(...granted.members);
      for (const service of granted.services) services.set(service.namespace, service);
      open.push(...granted.open);
      continue;
    }
    const alias = entry.alias ?? entry.name;
    const first = aliases.get(alias);
    if (first !== undefined) {
      problems.add('bundle_conflict', {
        place: declared.place([...path, entry.alias === undefined ? 'name' : 'alias']),
        found: `${declared.quoted([...path, 'alias'], alias)} again, first at ${declared.place(first)}`,
        wanted: 'another alias for each group',
      });
      continue;
    }
    aliases.set(alias, path);
    if (!/^[A-Za-z0-9_-]{1,48}$/.test(alias)) {
      problems.add('bundle_invalid', {
        place: declared.place([...path, 'name']),
        found: declared.quoted([...path, 'name'], alias),
        wanted: 'at most 48 letters, digits, _ and -',
        hint: 'or give the group an alias of these',
      });
      continue;
    }
    const group = groupOf(entry);
    if (group?.remote?.isOpen === true) open.push({ kind: 'mcp', group: alias });
    if (group !== undefined) members.push(...membersOf(entry, alias, group, path, declared, problems));
  }
  const imply = ({ entry, group }: ImpliedGroup): void => {
    if (entry.kind === 'named_service') return; // nothing implies a service
    const taken = aliases.get(entry.name);
    if (taken === undefined) members.push(...membersOf(entry, entry.name, group, [], declared, problems));
    else if (group.locked) {
      problems.add('bundle_conflict', {
        place: declared.place([...taken, 'name']),
        found: `a group ${entry.name}, which is the name of a system group`,
        wanted: 'another name or alias',
      });
    }
  };
  for (const one of implied) imply(one);
  const deferOver = resolve(behaviourLevels(declared.bundle, agent), 'cache')?.value.defer_over;
  const isDeferred = deferring(members, deferOver);
  if (members.some(isDeferred)) imply(TOOLBOX);
  const { grant, tools } = assembleGrant(members, isDeferred, pickable(declared, agent, models), models);
  return {
    grant: {
      ...grant,
      ...(skills.length === 0 ? {} : { skills: grantedSkills(skills, grant) }),
      ...(services.size === 0 ? {} : { services: inOrder([...services.values()]) }),
      ...(open.length === 0 ? {} : { open }),
    },
    tools,
  };
}

function inOrder(services: readonly GrantedService[]): readonly GrantedService[] {
  return services.toSorted((left, right) => (left.namespace < right.namespace ? -1 : 1));
}

/** The skills with the tools that they need, by the names that the model sees: authors know them by group or without. */
function grantedSkills(skills: readonly FoundSkill[], { tools, unavailable }: Grant): readonly GrantedSkill[] {
  const known = [
    ...tools.map(({ definition: { name, group }, own }) => ({ name, group, own })),
    ...unavailable.map(({ name, group, own }) => ({ name, group, own })),
  ];
  const nameOf = (written: string): string =>
    known.find(({ name, group, own }) => [name, own, `${group}.${own}`, `mcp.${group}.${own}`].includes(written))
      ?.name ?? written;
  return skills.map(({ id, name, description, digest, requires }) => ({
    id,
    name,
    description,
    digest,
    requires: [...new Set(requires.map(nameOf))],
  }));
}

/** Which of these tools stand in no prompt. System groups always do. */
function deferring(members: readonly Member[], over: number | undefined): (member: Member) => boolean {
  const isMany = over !== undefined && members.filter(({ tool }) => tool !== undefined).length > over;
  return ({ tool, locked, traits, defer = isMany }) =>
    tool !== undefined && tool.definition.native === undefined && !locked && (traits.defer ?? defer);
}

/** Ordered by the name that the model sees, so that the order in the file is never part of the prompt. */
function assembleGrant(
  members: readonly Member[],
  isDeferred: (member: Member) => boolean,
  supportedModels: readonly PickableModel[],
  models: readonly ModelRef[],
): GrantWithHands {
  const local = members.filter(({ tool, kind }) => tool !== undefined && kind === 'tools');
  const remote = members.filter(({ kind }) => kind !== 'tools');
  const localNames = modelNames(local);
  const names = new Map([
    ...local.map((member, index): [Member, string | undefined] => [member, localNames[index]]),
    // Ours come first: no server can rename or replace a tool of this process.
    ...remoteNames(remote.map(spoken), new Set(localNames)).map(
      (name, index) => [remote[index], name] as [Member, string],
    ), // one each
  ]);
  const granted: GrantedTool[] = [];
  const unavailable: UnavailableTool[] = [];
  const tools = new Map<string, ReturnType<typeof toolOf>>();
  for (const member of members) {
    const { alias, own, locked, traits, needs, tool, why, account } = member;
    const name = names.get(member) ?? own;
    const kind = member.kind === 'tools' ? {} : { kind: member.kind };
    if (tool === undefined) {
      const brought = account === undefined ? {} : { account };
      unavailable.push({ name: own === EVERYTHING ? alias : name, group: alias, own, ...kind, why, ...brought });
      continue;
    }
    const deferred = isDeferred(member) ? { deferred: true as const } : {};
    const definition = { name, ...tool.definition, ...traitsOf(traits), ...deferred, group: alias };
    granted.push({ definition, own, ...kind, locked, needs });
    tools.set(name, toolOf(tool, definition));
  }
  const order = (left: string, right: string) => (left < right ? -1 : 1);
  return {
    grant: {
      tools: granted.sort((left, right) => order(left.definition.name, right.definition.name)),
      unavailable: unavailable.sort((left, right) => order(left.name, right.name)),
      supportedModels,
      models,
    },
    tools,
  };
}

/** Operations are written with dots, which no provider takes; a service has no two that differ in these alone. */
function spoken({ kind, alias, own }: Member): Pick<Member, 'alias' | 'own'> {
  return { alias, own: kind === 'named_services' ? own.replaceAll('.', '_') : own };
}

function traitsOf(traits: Traits): Partial<CompiledTool['definition']> {
  const { effect, approval, timeout_ms, repeatable } = traits;
  return {
    ...(effect === undefined ? {} : { effect }),
    ...(approval === undefined ? {} : { approval }),
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    ...(repeatable === undefined ? {} : { repeatable }),
  };
}

/** A row that says no more than provider and model is the model that the agent would use anyway, with all that is said there. */
function pickable({ bundle }: Declared, agent: string, models: readonly ModelRef[]): readonly PickableModel[] {
  const rows = resolve(behaviourLevels(bundle, agent), 'supported_models')?.value ?? [];
  return rows.map(({ label, ...declared }) => {
    const ref = modelOf(declared);
    const same = models.find(({ provider, model }) => provider === ref.provider && model === ref.model);
    return { ref: { ...same, ...ref }, label: label ?? ref.model };
  });
}

import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { inventoryLevels, resolve, type Path } from '../../assembly/resolve.ts';
import type { Inventory, ToolsEntry } from '../../domain/inventory.ts';
import { SKILLS_GROUP } from '../../domain/skill.ts';
import { discoverSkills, type FoundSkill } from '../../adapters/skills/discover.ts';
import { listResources, readResource } from '../../adapters/skills/resources.ts';
import { skillsGroup, type SkillLibrary } from '../../plugins/tools/skills.ts';
import type { Declared } from '../bundle/declare.ts';
import type { ToolGroup } from './group-members.ts';
import { builtin } from './tool-groups.ts';
import { didYouMean, oneOf, type Notices, type Problems } from '../bundle/problems.ts';

export interface AgentSkills {
  /** In the order of their ids. */
  readonly skills: readonly FoundSkill[];
  /** The tools that read them: there with the first skill. */
  readonly implied: readonly { readonly entry: ToolsEntry; readonly group: ToolGroup }[];
}

const NONE: AgentSkills = { skills: [], implied: [] };
const ENTRY: ToolsEntry = { kind: 'module', name: SKILLS_GROUP, module: `builtin/${SKILLS_GROUP}` };

/** Beside `src` in the sources and beside `dist` in the package. */
const SHIPPED = path.join(import.meta.dirname, '../../../skills');

export interface SkillOptions {
  readonly declared: Declared;
  readonly agent: string;
  /** The role whose model decides: a consumer may be called so. */
  readonly role: string;
  readonly folder: string;
  readonly problems: Problems;
  readonly notices: Notices;
}

/** Finds the skills that an agent is granted. One that is wrong is told, and left out. */
export function skillsOf({ declared, agent, role, folder, problems, notices }: SkillOptions): AgentSkills {
  const found = resolve(inventoryLevels(declared.bundle, agent), 'skills');
  if (found === undefined) return NONE;
  const { value, from } = found;
  const all = [
    ...ownSkills(value.custom_root, [...from, 'custom_root'], folder, declared, problems, notices),
    ...shippedSkills(value.shipped ?? [], [...from, 'shipped'], declared, problems),
  ];
  const skills = new Map<string, FoundSkill>();
  for (const skill of all) {
    if (skills.has(skill.id))
      notices.add(declared.place([...from, 'shipped']), `the bundle has a skill ${skill.id} of its own`);
    else if (isSeen(skill.id, value.consumers, [agent, role])) skills.set(skill.id, skill);
  }
  if (skills.size === 0) return NONE;
  const sorted = [...skills.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  return { skills: sorted, implied: [{ entry: ENTRY, group: builtin(skillsGroup(libraryOf(skills))) }] };
}

function libraryOf(skills: ReadonlyMap<string, FoundSkill>): SkillLibrary {
  const none = { files: [], isCut: false };
  return {
    text: (id) => skills.get(id),
    files(id) {
      const skill = skills.get(id);
      return skill === undefined ? none : listResources(skill.folder);
    },
    read(id, named) {
      const skill = skills.get(id);
      return skill === undefined ? { ok: false, why: `There is no skill ${id}.` } : readResource(skill.folder, named);
    },
  };
}

function ownSkills(
  root: string | undefined,
  at: Path,
  folder: string,
  { place, quoted }: Declared,
  problems: Problems,
  notices: Notices,
): readonly FoundSkill[] {
  if (root === undefined) return [];
  const whole = path.resolve(folder, root);
  if (!existsSync(whole)) {
    notices.add(place(at), `there is no folder ${quoted(at, root)}: the agent has no skills`);
    return [];
  }
  if (!statSync(whole).isDirectory() || !isInside(folder, whole)) {
    problems.add('bundle_unreadable', {
      place: place(at),
      found: quoted(at, root),
      wanted: 'a folder in the folder of the bundle',
    });
    return [];
  }
  const { skills, diagnostics } = discoverSkills(whole);
  for (const { folder: where, text } of diagnostics)
    notices.add(place(at), `the skill in ${JSON.stringify(where)}: ${text}`);
  return skills;
}

function shippedSkills(
  names: readonly string[],
  at: Path,
  { place, quoted }: Declared,
  problems: Problems,
): readonly FoundSkill[] {
  if (names.length === 0) return [];
  const { skills } = discoverSkills(SHIPPED);
  const known = skills.map(({ name }) => name);
  return names.flatMap((name, index) => {
    const skill = skills.find((one) => one.name === name || one.id === name);
    if (skill !== undefined) return [skill];
    const hint = didYouMean(name, known);
    problems.add('bundle_unknown_name', {
      place: place([...at, index]),
      found: `no skill ${quoted([...at, index], name)} comes with Treadle`,
      wanted: hint === undefined ? oneOf(known) : undefined,
      hint,
    });
    return [];
  });
}

type Consumers = NonNullable<NonNullable<Inventory['skills']>['consumers']>;

/** By the agent or its role: what is enabled, less what is disabled. For everybody there is only a deny. */
function isSeen(id: string, consumers: Consumers | undefined, names: readonly string[]): boolean {
  if (consumers === undefined) return true;
  const of = (name: string) => (Object.hasOwn(consumers, name) ? consumers[name] : undefined);
  const own = names.map(of).find((one) => one !== undefined);
  const enabled = own?.enabled ?? [];
  const disabled = [...(own?.disabled ?? []), ...(of('*')?.disabled ?? [])];
  return (enabled.length === 0 || enabled.some((one) => matches(one, id))) && !disabled.some((one) => matches(one, id));
}

function matches(pattern: string, id: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(id);
}

function isInside(folder: string, target: string): boolean {
  const relative = path.relative(realpathSync(folder), realpathSync(target));
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

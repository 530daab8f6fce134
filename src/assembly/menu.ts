import type { ModelRef } from '../domain/agent.ts';
import type { Claim, Grant, GrantedSkill, PickableModel } from '../domain/grant.ts';
import { GROUP_KINDS, type GroupKind } from '../domain/selection.ts';
import type { SelectionPatch } from '../domain/selection-patch.ts';

/** One line of the menu: something a user can switch off. */
export interface MenuEntry {
  /** The name that selections use. */
  readonly own: string;
  /** The name that the model sees; absent while nobody has it. */
  readonly name?: string;
  readonly description?: string;
  /** Rights in a connected account without which it is inactive. */
  readonly needs?: Claim;
  /** Why nobody has it for now. */
  readonly unavailable?: string;
}

export interface MenuGroup {
  readonly kind: GroupKind;
  readonly group: string;
  /** For an MCP server: its own name, which selections may use too. */
  readonly server?: string;
  /** A system group: on for everybody, whatever a record says. */
  readonly locked: boolean;
  /** More entries may exist than are listed. */
  readonly open: boolean;
  readonly entries: readonly MenuEntry[];
}

/** What a user can choose from: the grant, seen from its user. Never a second list. */
export interface Menu {
  readonly groups: readonly MenuGroup[];
  readonly skills: readonly GrantedSkill[];
  readonly models: readonly PickableModel[];
  /** The model without a pick. */
  readonly defaultModel: ModelRef | undefined;
}

/** The menu of a grant, in the order of kinds and names. Pure. */
export function menuOf({ tools, unavailable, skills = [], open = [], supportedModels, models }: Grant): Menu {
  const groups = new Map<string, { -readonly [K in keyof MenuGroup]: MenuGroup[K] } & { entries: MenuEntry[] }>();
  const groupOf = (kind: GroupKind, group: string) => {
    const key = `${kind}\n${group}`;
    let found = groups.get(key);
    if (found === undefined) groups.set(key, (found = { kind, group, locked: false, open: false, entries: [] }));
    return found;
  };
  for (const { definition, own, locked, needs, kind = 'tools' } of tools) {
    const group = groupOf(kind, definition.group);
    group.locked ||= locked;
    if (definition.remote !== undefined) group.server = definition.remote.server;
    const { name, description } = definition;
    group.entries.push({ own, name, description, ...(needs === undefined ? {} : { needs }) });
  }
  for (const { own, group, kind = 'tools', why } of unavailable)
    groupOf(kind, group).entries.push({ own, unavailable: why });
  for (const { kind, group } of open) groupOf(kind, group).open = true;
  for (const { entries } of groups.values()) entries.sort((left, right) => (left.own < right.own ? -1 : 1));
  const place = ({ kind, group }: MenuGroup): string => `${GROUP_KINDS.indexOf(kind)}${group}`;
  return {
    groups: [...groups.values()].sort((left, right) => (place(left) < place(right) ? -1 : 1)),
    skills,
    models: supportedModels,
    defaultModel: models[0],
  };
}

/** Something in a change that was left out, and why. */
export interface Dropped {
  /** `disabled.tools.web.web_fetch`, `model`. */
  readonly path: string;
  readonly why: string;
}

/**
 * A change less what the menu does not have: unknown groups, entries, skills and models, and what is locked.
 *
 * Switching on is never left out: it takes a denial away, also one of something that is gone. Pure and total; clamping
 * twice is clamping once.
 */
export function clampPatch(
  patch: SelectionPatch,
  menu: Menu,
): { readonly patch: SelectionPatch; readonly dropped: readonly Dropped[] } {
  const dropped: Dropped[] = [];
  const disabled: NonNullable<SelectionPatch['disabled']> = {};
  for (const kind of GROUP_KINDS) {
    const given = patch.disabled?.[kind];
    if (given === undefined) continue;
    const kept = Object.entries(given).flatMap(([name, said]): [string, typeof said][] => {
      const path = `disabled.${kind}.${name}`;
      if (said === false || said === null || (Array.isArray(said) && said.length === 0)) return [[name, said]];
      const group = menu.groups.find((one) => one.kind === kind && (one.group === name || one.server === name));
      const why =
        group === undefined ? 'the agent has no such group' : group.locked ? 'system groups stay on' : undefined;
      if (group === undefined || why !== undefined) {
        dropped.push({ path, why: why ?? '' });
        return [];
      }
      if (said === true || group.open) return [[name, said]];
      const isKnown = (own: string): boolean => group.entries.some((entry) => entry.own === own);
      for (const own of said.filter((one) => !isKnown(one))) {
        dropped.push({ path: `${path}.${own}`, why: 'the group has no such entry' });
      }
      const known = said.filter(isKnown);
      return known.length === 0 ? [] : [[name, known]];
    });
    if (kept.length > 0) disabled[kind] = Object.fromEntries(kept);
  }
  const skills = clampSkills(patch.disabled?.skills, menu, dropped);
  if (skills !== undefined) disabled.skills = skills;
  const { model, cache_policy } = patch;
  const isOffered =
    model === undefined ||
    model === null ||
    menu.models.some(({ ref }) => ref.provider === model.provider && ref.model === model.model);
  if (!isOffered) dropped.push({ path: 'model', why: 'users of this agent cannot pick that model' });
  return {
    patch: {
      ...(Object.keys(disabled).length === 0 ? {} : { disabled }),
      ...(model === undefined || !isOffered ? {} : { model }),
      ...(cache_policy === undefined ? {} : { cache_policy }),
    },
    dropped,
  };
}

function clampSkills(
  given: NonNullable<SelectionPatch['disabled']>['skills'],
  { skills }: Menu,
  dropped: Dropped[],
): typeof given {
  if (given === undefined) return undefined;
  const isKnown = (id: string): boolean => {
    const known = skills.some((skill) => skill.id === id);
    if (!known) dropped.push({ path: `disabled.skills.${id}`, why: 'the agent has no such skill' });
    return known;
  };
  if (Array.isArray(given)) return given.filter(isKnown);
  const kept = Object.entries(given).filter(([id, isOff]) => !isOff || isKnown(id));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

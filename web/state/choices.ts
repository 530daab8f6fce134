import type { Capabilities, CapabilityGroup, ChangeSelection, GroupKind } from '../api/types.ts';

type Selection = Capabilities['selection'];

/** Whether one tool, or with no name the whole group, is switched off. */
export function isOff({ disabled }: Selection, { kind, group }: CapabilityGroup, own?: string): boolean {
  const off = disabled[kind][group];
  if (off === true) return true;
  return own !== undefined && off !== undefined && off.includes(own);
}

/** The change that switches one tool of a group on or off. Others of the group stay as they are. */
export function switchEntry(selection: Selection, group: CapabilityGroup, own: string, isOn: boolean): ChangeSelection {
  const names = group.entries.map((entry) => entry.own);
  const off = new Set(names.filter((name) => isOff(selection, group, name)));
  if (isOn) off.delete(own);
  else off.add(own);
  const isAll = !group.open && off.size === names.length;
  return { disabled: { [group.kind]: { [group.group]: isAll ? true : [...off].sort() } } };
}

export function switchGroup({ kind, group }: CapabilityGroup, isOn: boolean): ChangeSelection {
  return { disabled: { [kind]: { [group]: !isOn } } };
}

/** How many choices differ from what the operator set up. */
export function choiceCount({ disabled, model }: Selection): number {
  const groups = [disabled.tools, disabled.mcp, disabled.named_services].flatMap((kind) => Object.values(kind));
  return groups.length + disabled.skills.length + (model === undefined ? 0 : 1);
}

/** The selection as the server will have it after a change: the same merge, without the schemas that come along with it. */
export function patched(selection: Selection, { disabled = {}, model }: ChangeSelection): Selection {
  const { model: picked, ...rest } = selection;
  const pick = model === undefined ? picked : model;
  const after = {
    tools: groupsAfter(selection.disabled.tools, disabled.tools),
    mcp: groupsAfter(selection.disabled.mcp, disabled.mcp),
    named_services: groupsAfter(selection.disabled.named_services, disabled.named_services),
    skills: skillsAfter(selection.disabled.skills, disabled.skills),
  };
  return { ...rest, disabled: after, ...(pick === undefined || pick === null ? {} : { model: pick }) };
}

/** One change that does what the two do one after the other. */
export function joined(first: ChangeSelection, second: ChangeSelection): ChangeSelection {
  const disabled: NonNullable<ChangeSelection['disabled']> = {};
  for (const kind of ['tools', 'mcp', 'named_services'] as const) {
    const both = { ...first.disabled?.[kind], ...second.disabled?.[kind] };
    if (Object.keys(both).length > 0) disabled[kind] = both;
  }
  const [before, after] = [first.disabled?.skills, second.disabled?.skills];
  const skills =
    before === undefined || after === undefined || Array.isArray(after)
      ? (after ?? before)
      : Array.isArray(before)
        ? skillsAfter(before, after)
        : { ...before, ...after };
  if (skills !== undefined) disabled.skills = skills;
  const model = second.model === undefined ? first.model : second.model;
  return {
    ...(Object.keys(disabled).length === 0 ? {} : { disabled }),
    ...(model === undefined ? {} : { model }),
  };
}

type Groups = Selection['disabled'][GroupKind];
type Disabled = NonNullable<ChangeSelection['disabled']>;

function groupsAfter(before: Groups, change: Disabled[GroupKind]): Groups {
  const entries = Object.entries(before).filter(([name]) => !Object.hasOwn(change ?? {}, name));
  for (const [name, said] of Object.entries(change ?? {})) {
    if (said === true) entries.push([name, true]);
    else if (Array.isArray(said) && said.length > 0) entries.push([name, [...new Set(said)].sort()]);
  }
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function skillsAfter(before: readonly string[], change: Disabled['skills']): string[] {
  if (Array.isArray(change)) return [...new Set(change)].sort();
  const off = new Set(before);
  for (const [id, isOff] of Object.entries(change ?? {})) {
    if (isOff) off.add(id);
    else off.delete(id);
  }
  return [...off].sort();
}

/** Why a skill is not there although it is on: a tool that it needs is switched off. */
export function hiddenBecause(
  { groups, selection }: Pick<Capabilities, 'groups' | 'selection'>,
  requires: readonly string[],
) {
  for (const group of groups)
    for (const { own, name } of group.entries)
      if (name !== undefined && requires.includes(name) && isOff(selection, group, own)) return name;
  return undefined;
}

/** What one choice would cost if it were made now, where the server has said so. */
export function priceOf({ consequences = [] }: Capabilities, change: ChangeSelection) {
  const wanted = JSON.stringify(change);
  return consequences.find(({ patch }) => JSON.stringify(patch) === wanted)?.consequence;
}

/** Whether a change is among those that wait. */
export function isPending({ pending }: Capabilities, change: ChangeSelection): boolean {
  return pending.some(({ patch }) => names(patch).some((name) => names(change).includes(name)));
}

/** What a change speaks of, one by one. */
function names({ disabled = {}, model }: Capabilities['pending'][number]['patch']): readonly string[] {
  const { skills = [], ...kinds } = disabled;
  return [
    ...Object.entries(kinds).flatMap(([kind, groups]) => Object.keys(groups ?? {}).map((group) => `${kind} ${group}`)),
    ...(Array.isArray(skills) ? skills : Object.keys(skills)).map((id) => `skill ${id}`),
    ...(model === undefined ? [] : ['model']),
  ];
}

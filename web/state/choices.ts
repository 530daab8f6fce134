import type { Capabilities, CapabilityGroup, ChangeSelection } from '../api/types.ts';

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

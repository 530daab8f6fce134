import type { Instant } from '../../base/clock.ts';
import { consequence, type Consequence } from '../../assembly/consequence.ts';
import type { Menu } from '../../assembly/menu.ts';
import type { GroupKind, Selection } from '../../domain/selection.ts';
import { mergeSelection, type SelectionPatch } from '../../domain/selection-patch.ts';
import { agentWith, type Affected, type SelectionState } from '../selections/selection-state.ts';

/** What it would cost to switch one thing of the menu to its other state. */
export interface ToggleConsequence {
  readonly patch: SelectionPatch;
  readonly consequence: Consequence;
}

/** Of each group, skill and model of the menu, in one conversation. An entry costs what its group costs. */
export function toggleConsequences(
  state: SelectionState,
  menu: Menu,
  { conversation }: Affected,
  now: Instant,
): readonly ToggleConsequence[] {
  const { selection } = state;
  const sent = conversation.agent ?? agentWith(state, selection);
  const priced = (patch: SelectionPatch): ToggleConsequence => {
    const after = agentWith(state, mergeSelection(selection, patch));
    return { patch, consequence: consequence(sent, after, { conversation, now }, state.price) };
  };
  const groups = menu.groups
    .filter(({ locked }) => !locked)
    .map(({ kind, group }) => priced({ disabled: { [kind]: { [group]: !isOff(selection, kind, group) } } }));
  const skills = menu.skills.map(({ id }) =>
    priced({ disabled: { skills: { [id]: !selection.disabled.skills.includes(id) } } }),
  );
  const models = menu.models.map(({ ref: { provider, model } }) => priced({ model: { provider, model } }));
  return [...groups, ...skills, ...models];
}

function isOff({ disabled }: Selection, kind: GroupKind, group: string): boolean {
  return Object.hasOwn(disabled[kind], group) && disabled[kind][group] === true;
}

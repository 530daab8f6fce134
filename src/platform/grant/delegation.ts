import { subagentsOf } from '../../assembly/frame.ts';
import { behaviourLevels, inventoryLevels, resolve } from '../../assembly/resolve.ts';
import type { Bundle } from '../../domain/bundle.ts';
import type { ToolsEntry } from '../../domain/inventory.ts';
import type { BuiltinGroup } from '../../kernel/tool.ts';
import type { ToolGroup } from './group-members.ts';
import { builtin } from './tool-groups.ts';

export interface Delegation {
  /** The agent has the tool and may use it. */
  readonly delegates: boolean;
  /** The group, where `subagents` grants it and no entry of the inventory does. */
  readonly implied: readonly { readonly entry: ToolsEntry; readonly group: ToolGroup }[];
}

/** Whether an agent may hand tasks to others: by an entry of its inventory, or by `subagents` alone. */
export function delegationOf(
  bundle: Bundle,
  agent: string,
  group: BuiltinGroup,
  groupOf: (entry: ToolsEntry) => ToolGroup | undefined,
): Delegation {
  const declared = resolve(behaviourLevels(bundle, agent), 'subagents')?.value;
  const entries = resolve(inventoryLevels(bundle, agent), 'tools')?.value ?? [];
  const named = entries.some((entry) => groupOf(entry)?.builtin === group.name);
  if (named) return { delegates: subagentsOf(declared ?? true) !== undefined, implied: [] };
  if (subagentsOf(declared) === undefined) return { delegates: false, implied: [] };
  const entry: ToolsEntry = { kind: 'module', name: group.name, module: `builtin/${group.name}` };
  return { delegates: true, implied: [{ entry, group: builtin(group) }] };
}

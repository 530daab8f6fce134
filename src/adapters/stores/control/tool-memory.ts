import { canonicalJson } from '../../../base/json.ts';
import type { KnownTool, ToolUser } from '../../../kernel/stores.ts';

interface MemoryToolMemory {
  toolsOf(user: ToolUser): readonly KnownTool[];
  rememberTool(user: ToolUser, tool: KnownTool): void;
}

/** Under which descriptions users have let tools run, for as long as the process lives. */
export function createMemoryToolMemory(): MemoryToolMemory {
  const users = new Map<string, Map<string, KnownTool>>();
  const place = ({ tenant, userId, bundle }: ToolUser): string => canonicalJson([tenant, userId, bundle]);
  return {
    toolsOf: (user) => [...(users.get(place(user)) ?? new Map<string, KnownTool>()).values()].sort(inOrder),
    rememberTool(user, tool) {
      const known = users.get(place(user)) ?? new Map<string, KnownTool>();
      users.set(place(user), known.set(canonicalJson([tool.server, tool.tool]), tool));
    },
  };
}

function inOrder(left: KnownTool, right: KnownTool): number {
  const [one, other] = [left, right].map(({ server, tool }) => `${server}\n${tool}`);
  return (one ?? '') < (other ?? '') ? -1 : 1;
}

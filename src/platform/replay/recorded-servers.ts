import type { Fact } from '../../domain/event.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import { checkOf } from '../../adapters/mcp/remote-tool.ts';
import { ownName } from '../../adapters/mcp/resources.ts';
import type { CompiledTool } from '../grant/catalog.ts';
import type { Recorded } from '../bundle/edited-bundle.ts';
import { serverId, type McpServers } from '../grant/mcp-entry.ts';
import { recordingOf, type RecordedTurn } from './recording.ts';

/** What a log knows of servers and services, so that none is asked. */
export function recordedReach(meta: ConversationMeta, facts: readonly Fact[]): Recorded {
  return { servers: recordedServers(meta, facts), recorded: recordedOperations(meta, facts) };
}

/** The operations that the log says a service had, which do nothing. */
function recordedOperations(meta: ConversationMeta, facts: readonly Fact[]): Recorded['recorded'] {
  const { turns } = recordingOf(meta, facts, () => false);
  return (namespace) => {
    const known = new Map<string, CompiledTool>();
    for (const { agent } of turns.values())
      for (const { name, group, approval: _, ...definition } of agent?.tools ?? []) {
        if (group !== namespace) continue;
        const own = name.startsWith(`${namespace}_`) ? name.slice(namespace.length + 1) : name;
        const hands = { validate: checkOf(definition.inputSchema), run: () => undefined };
        known.set(own, { own, definition, hands });
      }
    return { operations: [...known.values()], said: saidOf(namespace, [...turns.values()]) };
  };
}

/** How the model was told of a service: see `assembly/roster.ts`. */
function saidOf(namespace: string, turns: readonly RecordedTurn[]): string {
  const head = `- ${namespace}_*`;
  const lines = turns.flatMap(({ agent }) => agent?.gallery?.split('\n') ?? []);
  return lines.find((one) => one.startsWith(head))?.slice(`${head}: `.length) ?? '';
}

/** Servers that have the tools which the log says they had, and do nothing. */
export function recordedServers(meta: ConversationMeta, facts: readonly Fact[]): McpServers {
  const { turns } = recordingOf(meta, facts, () => false);
  const known = new Map<string, ToolDefinition>();
  for (const { agent } of turns.values())
    for (const tool of [...(agent?.tools ?? []), ...(agent?.listed ?? [])])
      if (tool.remote !== undefined) known.set(`${tool.remote.server}\n${tool.remote.name}`, tool);
  const hands = (definition: Pick<ToolDefinition, 'inputSchema'>) => ({
    validate: checkOf(definition.inputSchema),
    run: () => undefined,
  });
  return {
    ids: [...new Set([...known.values()].flatMap(({ remote }) => (remote === undefined ? [] : [remote.server])))],
    group(entry) {
      const tools = [...known.values()].flatMap(({ name: _, group: __, approval: ___, ...definition }) => {
        const { remote } = definition;
        if (remote?.server !== serverId(entry)) return [];
        const own = ownName(remote.name);
        const isAllowed = entry.allowed?.includes(own) ?? true;
        return isAllowed ? [{ own, definition, hands: hands(definition) }] : [];
      });
      const missing = (entry.allowed ?? [])
        .filter((own) => tools.every((tool) => tool.own !== own))
        .map((own) => ({ own, why: `the run was not told of it by the MCP server ${serverId(entry)}` }));
      return { locked: false, tools, remote: { missing, isOpen: false }, version: 1 };
    },
    needs: () => undefined,
    hand: (_, definition) => ({ definition, ...hands(definition) }),
    health: () => [],
    ask: () => Promise.resolve(false),
    oddities: () => [],
    close: () => Promise.resolve(),
  };
}

import type { JsonObject } from '../../base/json.ts';
import type { Claim } from '../../domain/grant.ts';
import type { McpTools } from '../../domain/inventory.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { Tool, ToolContext, ToolReturn } from '../../kernel/running-tool.ts';
import { checkOf, type RemoteTool } from '../../adapters/mcp/remote-tool.ts';
import { ONLY_WHEN_NAMED } from '../../adapters/mcp/resources.ts';
import type { Listing } from '../../adapters/mcp/standing.ts';
import type { CompiledTool } from './catalog.ts';
import { EVERYTHING } from './grant.ts';
import type { ToolGroup } from './group-members.ts';

/** Runs a tool of a server. */
export type CallRemote = (
  definition: Pick<ToolDefinition, 'effect' | 'inputSchema' | 'remote'>,
  args: JsonObject,
  context: ToolContext,
) => Promise<ToolReturn>;

export function allows({ allowed }: McpTools, own: string): boolean {
  return allowed === undefined ? !ONLY_WHEN_NAMED.has(own) : allowed.includes(own);
}

/** What an entry grants of what its server offers. */
export function groupOf(entry: McpTools, id: string, listing: Listing, call: CallRemote): ToolGroup {
  if (listing.status === 'down') {
    const why = `the MCP server ${id} cannot be used: ${listing.why}`;
    const known = listing.known?.tools.map(({ own }) => own).filter((own) => allows(entry, own));
    const names = entry.allowed ?? known ?? [];
    // A server that was never reached is named itself: the model should know that something is missing.
    const missing = (names.length === 0 ? [EVERYTHING] : names).map((own) => ({ own, why }));
    return { locked: false, tools: [], remote: { missing, isOpen: entry.allowed === undefined } };
  }
  const { tools, refused } = listing.listed;
  const missing = (entry.allowed ?? refused.map(({ name }) => name)).flatMap((own) => {
    if (tools.some((tool) => tool.own === own)) return [];
    const reason = refused.find(({ name }) => name === own)?.why;
    return [
      {
        own,
        why: `the MCP server ${id} ${reason === undefined ? 'does not offer it' : `offers it in a form that cannot be used: ${reason}`}`,
      },
    ];
  });
  return {
    locked: false,
    tools: tools.filter(({ own }) => allows(entry, own)).map((tool) => compiled(tool, call)),
    remote: { missing, isOpen: false },
  };
}

/** The group of a server whose tools nobody knows before its user has signed in. */
export function unmetGroup(entry: McpTools, { provider }: Claim, standIn: CompiledTool | undefined): ToolGroup {
  const why = `needs a connected ${provider} account`;
  const missing = (entry.allowed ?? [EVERYTHING]).map((own) => ({ own, why, account: provider }));
  return {
    locked: false,
    tools: standIn === undefined ? [] : [standIn],
    remote: { missing, isOpen: entry.allowed === undefined },
  };
}

export function handOf(definition: ToolDefinition, call: CallRemote): Tool {
  return { definition, ...handsOf(definition, call) };
}

function compiled({ own, definition }: RemoteTool, call: CallRemote): CompiledTool {
  return { own, definition, hands: handsOf(definition, call) };
}

function handsOf(definition: RemoteTool['definition'], call: CallRemote): CompiledTool['hands'] {
  return {
    validate: (args) => checkOf(definition.inputSchema)(args),
    run: (args, context) => call(definition, args, context),
  };
}

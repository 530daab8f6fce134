import type { MaybePromise } from '../../base/promise.ts';
import type { McpTools } from '../../domain/inventory.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { Claim } from '../../domain/grant.ts';
import type { Tool } from '../../kernel/running-tool.ts';
import type { ServerHealth } from '../../adapters/mcp/standing.ts';
import type { Owner } from '../accounts/accounts.ts';
import type { ToolGroup } from './group-members.ts';

/** Who a group is asked for: servers that users sign in to themselves have another one for each. */
export interface Asker {
  /** Absent: nobody, such as a check. */
  readonly owner?: Owner | undefined;
  /** The user is asked for the account at the attempt. */
  readonly asks: boolean;
}

/** The MCP servers of one bundle. None is connected before a turn needs it. */
export interface McpServers {
  readonly ids: readonly string[];
  /** What an entry grants of its server now. Asks the server where that is not known; never rejects. */
  group(entry: McpTools, asker: Asker): MaybePromise<ToolGroup & { readonly version: number | string }>;
  /** What every tool of an entry needs of its user's account. */
  needs(entry: McpTools): Claim | undefined;
  /** The tool as it was described, as long as the entry grants it, whatever its server says by now. */
  hand(entry: McpTools, definition: ToolDefinition): Tool | undefined;
  /** How each server stands, those too that nobody has asked yet. */
  health(): readonly ServerHealth[];
  /** Asks a server now. False where there is none of this id. Never rejects. */
  ask(id: string): Promise<boolean>;
  /** What is odd about each server that was asked, in sentences for the operator. */
  oddities(): readonly { readonly server: string; readonly text: string }[];
  close(): Promise<void>;
}

/** Of a bundle that names none: what talks to servers is not even loaded. */
export const NO_SERVERS: McpServers = {
  ids: [],
  group: (entry) => ({ ...notAsked(entry), version: 0 }),
  needs: () => undefined,
  hand: () => undefined,
  health: () => [],
  ask: () => Promise.resolve(false),
  oddities: () => [],
  close: () => Promise.resolve(),
};

export function serverId({ server_id, name }: McpTools): string {
  return server_id ?? name;
}

/** The group of a server before anybody has asked it. */
export function notAsked(entry: McpTools): ToolGroup {
  const why = `the MCP server ${serverId(entry)} has not been asked yet`;
  const missing = (entry.allowed ?? []).map((own) => ({ own, why }));
  return { locked: false, tools: [], remote: { missing, isOpen: entry.allowed === undefined } };
}

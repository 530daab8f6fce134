import { z } from 'zod';
import { optionalPackage } from '../../adapters/modules/optional-package.ts';
import type { Handlers } from '../endpoint.ts';
import type { RouteTable } from '../wire.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Mcp } from './handler.ts';
import type { McpPorts } from './tools.ts';

export const mcpRoutes = {
  call: {
    method: 'POST',
    path: '/mcp',
    about:
      'The Model Context Protocol over streamable HTTP: each agent is a tool, and so is what can be done with runs.',
    scope: 'read',
    body: z.unknown(),
    status: 200,
    contentType: 'application/json',
    refuses: [],
  },
} as const satisfies RouteTable;

const MCP_SERVER = { purpose: 'POST /mcp', needs: ['@modelcontextprotocol/server'] };

/** The library is loaded with the first call: a server that has none starts without it. */
export function mcpHandlers(
  ports: McpPorts,
  logger: Logger,
): { readonly handlers: Handlers<typeof mcpRoutes>; readonly close: () => Promise<void> } {
  let mcp: Promise<Mcp> | undefined;
  const load = async (): Promise<Mcp> =>
    (await optionalPackage(() => import('./handler.ts'), MCP_SERVER)).createMcp(ports, logger);
  return {
    handlers: {
      call: async ({ body }, { caller, context }) => (await (mcp ??= load())).answer(context.req.raw, caller, body),
    },
    // Where it could not be loaded, there is nothing to close; whoever called has been told.
    close: async () => (await mcp?.catch(() => undefined))?.close(),
  };
}

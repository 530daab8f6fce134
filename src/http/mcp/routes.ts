import { z } from 'zod';
import type { Handlers } from '../endpoint.ts';
import type { RouteTable } from '../wire.ts';
import type { Mcp } from './handler.ts';

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

export function mcpHandlers(mcp: Mcp): Handlers<typeof mcpRoutes> {
  return { call: ({ body }, { caller, context }) => mcp.answer(context.req.raw, caller, body) };
}

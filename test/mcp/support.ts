import path from 'node:path';
import process from 'node:process';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { createMcpServer } from '../../src/adapters/mcp/server.ts';
import type { McpServer } from '../../src/adapters/mcp/standing.ts';
import { openTransport } from '../../src/adapters/mcp/transport.ts';
import type { McpService } from '../../src/domain/mcp.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import { aContext } from '../support/tool-context.ts';

const FAKE = path.join(import.meta.dirname, 'fake-server.ts');

/** The service of a server that does as it is told; see the server for what it understands. */
export function fake(behaviour: object, more: object = {}): McpService {
  return { transport: 'stdio', command: process.execPath, args: [FAKE, JSON.stringify(behaviour)], ...more };
}

export interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function aLogger(lines: Line[]): Logger {
  const write = (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    void lines.push({ message, fields });
  return { debug: () => undefined, info: write, warn: write, error: write };
}

/** Runs with a server, and leaves it afterwards. */
export async function withServer<T>(
  service: McpService,
  run: (server: McpServer, lines: readonly Line[]) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const lines: Line[] = [];
  const open = () => openTransport(service, { folder: import.meta.dirname, searchPath: process.env['PATH'] });
  const server = createMcpServer({ id: 'fake', service, open, clock, logger: aLogger(lines) });
  try {
    return await run(server, lines);
  } finally {
    await server.close();
  }
}

/** What a tool of a server gives for arguments, as the loop would be given it. */
export async function call(
  server: McpServer,
  name: string,
  args: JsonObject = {},
  more: Partial<ToolContext> = {},
): Promise<unknown> {
  const definition = { effect: 'read' as const, inputSchema: { type: 'object' }, remote: { server: server.id, name } };
  return server.call(definition, args, aContext(more));
}

/** The names of what a server offers, or why it offers nothing. */
export async function offered(server: McpServer): Promise<readonly string[] | string> {
  const listing = await server.listing();
  return listing.status === 'up' ? listing.listed.tools.map(({ own }) => own) : listing.why;
}

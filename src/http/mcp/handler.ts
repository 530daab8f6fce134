import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Logger } from '../../kernel/logger.ts';
import type { Caller } from '../../platform/runs/caller.ts';
import { callerName } from '../identify.ts';
import { createTools, type McpPorts } from './tools.ts';

export interface Mcp {
  /** Answers one request of a caller that is known, and may ask. `body` is its JSON, where it had any. */
  answer(request: Request, caller: Caller, body: unknown): Promise<Response>;
  /** Lets go of every call that is still waited for. The runs go on. */
  close(): Promise<void>;
}

/**
 * Agents as tools for whatever speaks MCP. No session is kept: every request has all that is needed, so any process may
 * answer it, and a client may be of the protocol's newest revision or of an older one.
 */
export function createMcp(ports: McpPorts, logger: Logger): Mcp {
  const handler = createMcpHandler(
    ({ authInfo }) => createTools(ports, authInfo?.extra?.['caller'] as Caller), // put there below
    { onerror: (error) => logger.warn('an MCP request was refused', { error }) },
  );
  return {
    answer: (request, caller, body) =>
      handler.fetch(request, {
        authInfo: { token: '', clientId: callerName(caller), scopes: [...caller.scopes], extra: { caller } },
        parsedBody: body,
      }),
    close: () => handler.close(),
  };
}

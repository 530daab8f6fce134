import {
  StreamableHTTPClientTransport,
  type AuthProvider,
  type FetchLike,
  type OAuthClientProvider,
  type Transport,
} from '@modelcontextprotocol/client';
import type { HttpService, McpService, StdioService } from '../../domain/mcp.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { childTransport } from './stdio.ts';

/** Bytes of one message from a server: what is larger is not read to its end. */
export const MOST_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface TransportOptions {
  /** Where a child starts when its service does not say. */
  readonly folder: string;
  /** Where programs are looked for. */
  readonly searchPath: string | undefined;
  /** Who shows a server of `auth: oauth2` who we are. */
  readonly oauth?: AuthProvider | OAuthClientProvider | undefined;
  /** Instead of the platform's. */
  readonly fetch?: FetchLike | undefined;
}

export interface Opened {
  readonly transport: Transport;
  /** Why it ended, as far as the other side told, or nothing. */
  readonly lastWords: () => string;
}

export function openTransport(service: McpService, options: TransportOptions): Opened {
  return service.transport === 'stdio' ? openChild(service, options) : openHttp(service, options);
}

function openChild(service: StdioService, { folder, searchPath }: TransportOptions): Opened {
  const transport = childTransport({
    command: service.command,
    args: service.args ?? [],
    // A program is looked up in PATH, and most start others; nothing else of this process is the child's business.
    env: { ...(searchPath === undefined ? {} : { PATH: searchPath }), ...service.env },
    cwd: service.cwd ?? folder,
    maxMessageBytes: MOST_MESSAGE_BYTES,
  });
  return { transport, lastWords: transport.lastWords };
}

function openHttp(service: HttpService, { oauth, fetch }: TransportOptions): Opened {
  const headers = { ...service.headers, ...fixedHeader(service.auth) };
  const transport = new StreamableHTTPClientTransport(new URL(service.url), {
    requestInit: { headers },
    fetch: boundedFetch(MOST_MESSAGE_BYTES, fetch),
    ...(oauth === undefined ? {} : { authProvider: oauth }),
  });
  return { transport: withBrokenAnswers(transport), lastWords: () => '' };
}

/** The code of an error that we say ourselves, for a server that did not. */
export const BROKEN_OFF = -32_099;
/** Milliseconds in which an answer that came with the last piece of its stream is still on its way. */
const LAST_PIECE_MS = 250;

/** The client would wait for an answer whose stream has ended without it. */
function withBrokenAnswers(transport: StreamableHTTPClientTransport): StreamableHTTPClientTransport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (Array.isArray(message) || !('id' in message) || !('method' in message)) return send(message, options);
    const { id } = message;
    const onRequestStreamEnd = (): void => {
      const error = { code: BROKEN_OFF, message: 'its answer broke off' };
      // To a request that has its answer this says nothing.
      setTimeout(() => transport.onmessage?.({ jsonrpc: '2.0', id, error }), LAST_PIECE_MS).unref();
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return transport;
}

function fixedHeader(auth: HttpService['auth']): Readonly<Record<string, string>> {
  switch (auth?.type) {
    case 'bearer':
      return { authorization: `Bearer ${auth.token}` };
    case 'header':
    case 'api_key':
      return { [auth.header ?? 'X-API-Key']: auth.value };
    case 'oauth2':
    case undefined:
      return {};
  }
}

import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { TreadleError } from '../base/errors.ts';
import { createApp, type AppOptions } from './app.ts';
import { isLoopback } from './browser.ts';
import { Refusal } from './refusal.ts';
import { errorBody } from './reply.ts';
import type { WireErrorCode } from './wire.ts';

export interface ServerOptions extends AppOptions {
  readonly hostname: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly patience?: Partial<Patience> | undefined;
}

export interface TreadleServer {
  /** Where it listens: `http://127.0.0.1:4114`. */
  readonly url: string;
  readonly streams: () => number;
  /**
   * Takes no more connections, ends streams after their last whole frame, lets replies under way finish for up to
   * `drainMs`, then cuts what is left. A second call only waits with the first.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Milliseconds. */
export interface Patience {
  /** A client that sends its head, or all of its request, more slowly than this is let go. */
  readonly headMs: number;
  readonly requestMs: number;
  /** Between two looks at who is slow. */
  readonly lookMs: number;
  /** For the next request of a connection. */
  readonly idleMs: number;
}

const PATIENCE: Patience = { headMs: 15_000, requestMs: 30_000, lookMs: 5_000, idleMs: 30_000 };
const PURGE_MS = 10 * 60_000;

/**
 * Listens. Throws `address_unavailable` where it cannot, and `usage` for an address that others could reach while the
 * server has no way to tell them apart.
 */
export async function startServer(options: ServerOptions): Promise<TreadleServer> {
  const { hostname, port, control, clock, ids, logger } = options;
  if (!isLoopback(hostname) && options.oidc === undefined && !(await control.any())) {
    throw new TreadleError('usage', {
      place: '--host',
      found: `${hostname}, which others can reach, and no key`,
      wanted: 'a key first',
      hint: 'make one with `treadle keys create`, or listen on 127.0.0.1',
    });
  }
  const app = createApp(options);
  const patience = { ...PATIENCE, ...options.patience };
  const server = createHttpServer(
    {
      headersTimeout: patience.headMs,
      requestTimeout: patience.requestMs,
      connectionsCheckingInterval: patience.lookMs,
      keepAliveTimeout: patience.idleMs,
      noDelay: true,
    },
    // Node never looks at what a listener returns; ours answers every problem itself.
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
  const answered = async (request: Request, env: HttpBindings): Promise<Response> => {
    const reply = await app.hono.fetch(request, env);
    // A stream has written its own head. What stands for it was copied on its way here, and lost what it says.
    return env.outgoing.headersSent ? RESPONSE_ALREADY_SENT : reply;
  };
  const listener = getRequestListener((request, env) => answered(request, env as HttpBindings), {
    // it is HTTP/1
    errorHandler: (problem) => {
      logger.debug('a request was not well-formed', { error: problem });
      const refusal = new Refusal('invalid_request', 'The address or the Host header is malformed.');
      return Response.json(errorBody(refusal, ids.next('req')), { status: 400 });
    },
  });
  server.on('clientError', (problem: NodeJS.ErrnoException, socket: Socket) => {
    refuseBytes(problem, socket, ids.next('req'));
  });
  await listening(server, port, hostname);
  const stopPurging = every(PURGE_MS, async () => {
    try {
      await control.purge();
    } catch (error) {
      logger.warn('old replies could not be forgotten', { error });
    }
  });

  let closed: Promise<void> | undefined;
  async function shut(drainMs: number): Promise<void> {
    stopPurging();
    app.drain();
    const done = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const cancel = clock.after(drainMs, () => server.closeAllConnections());
    await done;
    cancel();
  }

  function every(ms: number, work: () => Promise<void>): () => void {
    let stop = clock.after(ms, function again() {
      void work(); // it never rejects
      stop = clock.after(ms, again);
    });
    return () => stop();
  }

  const { address, family, port: at } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${at}`,
    streams: () => app.streams.count(),
    close: ({ drainMs = 10_000 } = {}) => (closed ??= shut(drainMs)),
  };
}

function listening(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const inUse = cause.code === 'EADDRINUSE';
      reject(
        new TreadleError('address_unavailable', {
          place: `${hostname}:${port}`,
          found: inUse ? 'another program that listens there' : cause.message,
          hint: inUse ? 'name another with --port, or 0 for any that is free' : 'check --host and --port',
          cause,
        }),
      );
    });
    server.listen(port, hostname, () => resolve());
  });
}

/** What no request could be made of: not HTTP, headers without end, or nothing for too long. */
function refuseBytes(problem: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (!socket.writable || problem.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [code, line]: [WireErrorCode, string] =
    problem.code === 'HPE_HEADER_OVERFLOW'
      ? ['headers_too_large', '431 Request Header Fields Too Large']
      : ['invalid_request', problem.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request'];
  const message = problem.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'The request took too long to arrive.' : undefined;
  const body = JSON.stringify(errorBody(new Refusal(code, message ?? 'This is not a request of HTTP.'), requestId));
  const head = `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
}

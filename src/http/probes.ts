import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TreadleError } from '../base/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Figures } from './figures.ts';

export interface ProbesOptions {
  readonly hostname: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Rejects while nothing can be driven. */
  readonly check: () => Promise<unknown>;
  readonly figures: Figures;
  readonly logger: Logger;
}

export interface Probes {
  readonly url: string;
  close(): Promise<void>;
}

/** Says of a process that serves no API whether it lives, whether it can work, and what it does. Throws `address_unavailable`. */
export async function startProbes({ hostname, port, check, figures, logger }: ProbesOptions): Promise<Probes> {
  const server = createServer((request, response) => {
    // Anybody may ask, so what is wrong, which may name the database, is in the lines of the log alone.
    answer(request.url ?? '', response).catch((problem: unknown) => {
      logger.warn('a probe failed', { path: request.url, error: problem });
      say(response, 503, { ready: false });
    });
  });

  async function answer(path: string, response: ServerResponse): Promise<void> {
    if (path === '/health') say(response, 200, { status: 'ok' });
    else if (path === '/ready') {
      await check();
      say(response, 200, { ready: true });
    } else if (path === '/metrics') {
      const { contentType, text } = await figures.read();
      response.writeHead(200, { 'content-type': contentType }).end(text);
    } else say(response, 404, { error: 'there are /health, /ready and /metrics' });
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new TreadleError('address_unavailable', { place: `${hostname}:${port}`, found: cause.message, cause })),
    );
    server.listen(port, hostname, resolve);
  });
  const { port: at } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${at}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function say(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type Client, type ClientOptions } from '../../src/client/index.ts';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A reply: a status with a body and headers, or a hand that writes it itself. */
export type Reply =
  | { readonly status?: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | ((request: Received, response: ServerResponse) => void | Promise<void>);

export interface ScriptedServer {
  readonly url: string;
  /** Every request, in order. */
  readonly received: Received[];
  client(options?: Partial<ClientOptions>): Client;
}

/** A real HTTP server that answers as it is told: by a list, whose last reply repeats, or by a function. */
export async function serveScript(
  t: { after(undo: () => Promise<void>): void },
  script: readonly Reply[] | ((request: Received) => Reply),
): Promise<ScriptedServer> {
  const received: Received[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of incoming.setEncoding('utf8')) body += String(chunk);
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body };
      const reply =
        typeof script === 'function' ? script(request) : script[Math.min(received.length, script.length - 1)];
      received.push(request);
      if (typeof reply === 'function') await reply(request, response);
      else {
        const { status = 200, body: value = {}, headers: more = {} } = reply ?? {};
        response.writeHead(status, { 'content-type': 'application/json', ...more });
        response.end(typeof value === 'string' ? value : JSON.stringify(value));
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  const url = `http://127.0.0.1:${port}`;
  return { url, received, client: (options) => createClient({ url, key: 'sk-test', ...options }) };
}

/** A page as the server writes it. */
export function aPage(events: readonly object[], more: Readonly<Record<string, unknown>> = {}): { body: object } {
  return {
    body: {
      events,
      nextCursor: `c${events.length}`,
      hasMore: false,
      supersededFirst: false,
      status: 'running',
      needsInput: false,
      terminal: false,
      version: 1,
      ...more,
    },
  };
}

export const ended = { status: 'completed', terminal: true, version: 9 };

export function anEntry(id: string, text = id, digest = `d-${text}`): object {
  return { id, digest, role: 'assistant', text, position: 1, revision: 1, at: '2026-01-01T00:00:00.000Z' };
}

export function aSnapshot(more: Readonly<Record<string, unknown>> = {}): { body: object } {
  return {
    body: { id: 'run_1', status: 'running', statusKind: 'working', terminal: false, version: 1, requests: [], ...more },
  };
}

export function aRequest(id: string, more: Readonly<Record<string, unknown>> = {}): object {
  return { id, kind: 'action', question: 'May it?', run: 'run_1', digest: `d-${id}`, decisions: ['allow'], ...more };
}

export function refusal(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: { error: { code, message: `It is ${code}.` } } };
}

/** Frames as a stream; the connection stays open when `open`. */
export function aStream(frames: readonly object[], { open = false } = {}): Reply {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of frames) response.write(`data: ${JSON.stringify(frame)}\n\n`);
    if (!open) response.end();
  };
}

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { McpService } from '../../src/domain/mcp.ts';
import { call, offered, withServer } from './support.ts';

interface Asked {
  readonly headers: IncomingMessage['headers'];
  readonly message: {
    readonly id?: number;
    readonly method?: string;
    readonly params?: Readonly<Record<string, unknown>>;
  };
}

type Answer = (asked: Asked, response: ServerResponse) => object | undefined;

/** Runs with a server on this machine. What `answer` gives is the result; undefined when it has answered by itself. */
async function serving<T>(answer: Answer, run: (url: string, asked: readonly Asked[]) => Promise<T>): Promise<T> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const one = { headers: request.headers, message: JSON.parse(body) as Asked['message'] };
      asked.push(one);
      const result = answer(one, response);
      if (response.headersSent || response.writableEnded) return undefined;
      if (one.message.id === undefined) return void response.writeHead(202).end();
      const said = result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result };
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: one.message.id, ...said }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo; // of a server that listens on a port
    return await run(`http://127.0.0.1:${port}/mcp`, asked);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const usual: Answer = ({ message: { method, params } }) => {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: { name: 'web', version: '1' },
      };
    case 'tools/list':
      return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return { content: [{ type: 'text', text: JSON.stringify(params?.['arguments']) }] };
    default:
      return undefined;
  }
};

const at = (url: string, more: object = {}): McpService => ({ transport: 'http', url, ...more });
const echoed = { kind: 'result', content: [{ type: 'text', text: '{"a":1}' }] };

test('tools are listed and called over streamable HTTP', async () => {
  await serving(usual, (url) =>
    withServer(at(url), async (server) => {
      assert.deepEqual(await offered(server), ['echo']);
      assert.deepEqual(await call(server, 'echo', { a: 1 }), echoed);
    }),
  );
});

test('every request carries the token and the headers of the service', async () => {
  const auth = { type: 'bearer', token: 'the-token' };
  await serving(usual, (url, asked) =>
    withServer(at(url, { auth, headers: { 'x-team': 'blue' } }), async (server) => {
      await server.listing();
      assert.ok(asked.length >= 3);
      assert.ok(
        asked.every(({ headers }) => headers.authorization === 'Bearer the-token' && headers['x-team'] === 'blue'),
      );
    }),
  );
});

test('a key goes into the header that the service names', async () => {
  const auth = { type: 'header', header: 'x-kb-key', value: 'the-key' };
  await serving(usual, (url, asked) =>
    withServer(at(url, { auth }), async (server) => {
      await server.listing();
      assert.equal(asked[0]?.headers['x-kb-key'], 'the-key');
    }),
  );
});

test('a server that refuses the token is down, and nobody is told the token', async () => {
  const refusing: Answer = ({ headers }, response) =>
    void response.writeHead(403).end(`no access with ${headers.authorization ?? ''}`);
  await serving(refusing, (url) =>
    withServer(at(url, { auth: { type: 'bearer', token: 'the-token' } }), async (server, lines) => {
      assert.match(String(await offered(server)), /403|[Ff]orbidden/);
      assert.doesNotMatch(JSON.stringify([await server.listing(), lines]), /the-token/);
    }),
  );
});

test('where nobody listens the server is down, and is tried again later', async () => {
  const url = await serving(usual, (open) => Promise.resolve(open));
  let now = 0;
  const clock = { now: () => now, after: () => () => undefined };
  await withServer(
    at(url),
    async (server, lines) => {
      assert.match(String(await offered(server)), /ECONNREFUSED|fetch failed/);
      await server.listing();
      assert.equal(lines.length, 1);
      now += 1_001;
      await server.listing();
      now += 1_001;
      await server.listing();
      assert.equal(lines.length, 2);
    },
    clock,
  );
});

test('a server that has forgotten the session is greeted again, and the call is made once more', async () => {
  let sessions = 0;
  let forgotten = false;
  const forgetful: Answer = (asked, response) => {
    if (asked.message.method === 'initialize') response.setHeader('mcp-session-id', `s${++sessions}`);
    if (asked.message.method === 'tools/call' && !forgotten) {
      forgotten = true;
      return void response.writeHead(404).end('no such session');
    }
    return usual(asked, response);
  };
  await serving(forgetful, (url) =>
    withServer(at(url), async (server) => {
      await server.listing();
      assert.deepEqual(await call(server, 'echo', { a: 1 }), echoed);
      assert.equal(sessions, 2);
    }),
  );
});

test('an answer of fifty megabytes is not read to its end, in one piece or as an event', async () => {
  const piece = 'x'.repeat(1_000_000);
  for (const type of ['application/json', 'text/event-stream']) {
    const huge: Answer = (asked, response) => {
      if (asked.message.method !== 'tools/call') return usual(asked, response);
      response.writeHead(200, { 'content-type': type });
      response.write(type === 'application/json' ? '{"x":"' : 'data: {"x":"');
      for (let count = 0; count < 50; count++) response.write(piece);
      return void response.end(type === 'application/json' ? '"}' : '"}\n\n');
    };
    await serving(huge, (url) =>
      withServer(at(url), async (server) => {
        const result = (await call(server, 'echo')) as { kind: string };
        assert.equal(result.kind, 'failure');
      }),
    );
  }
});

test('a redirect to another place is not followed with the token', async () => {
  const elsewhere: string[] = [];
  await serving(
    (asked, response) => {
      elsewhere.push(String(asked.headers.authorization));
      return usual(asked, response);
    },
    (other) =>
      serving(
        (_, response) => void response.writeHead(307, { location: other }).end(),
        (url) =>
          withServer(at(url, { auth: { type: 'bearer', token: 'the-token' } }), async (server) => {
            assert.notDeepEqual(await offered(server), ['echo']);
            assert.deepEqual(elsewhere, []);
          }),
      ),
  );
});

for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
  test(`a server that speaks ${protocolVersion} tells how far it is, and is told that a call is given up`, async () => {
    const ofThatTime: Answer = (asked, response) => {
      const { id, method, params } = asked.message;
      // What came later it does not know.
      if (method === 'server/discover') return undefined;
      if (method === 'initialize') return { ...usual(asked, response), protocolVersion };
      if (method !== 'tools/call') return usual(asked, response);
      const meta = (params?.['_meta'] ?? {}) as Readonly<Record<string, unknown>>;
      const told = { progressToken: meta['progressToken'], progress: 1, total: 2, message: 'half way' };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const say = (message: object): void =>
        void response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
      say({ method: 'notifications/progress', params: told });
      const { hang } = (params?.['arguments'] ?? {}) as { readonly hang?: boolean };
      if (hang !== true) {
        say({ id, result: { content: [{ type: 'text', text: 'done' }] } });
        response.end();
      }
      return undefined;
    };
    await serving(ofThatTime, (url, asked) =>
      withServer(at(url), async (server) => {
        const heard: unknown[] = [];
        await call(server, 'echo', {}, { progress: (report) => void heard.push(report) });
        assert.deepEqual(heard, [{ text: 'half way', fraction: 0.5 }]);
        const stop = new AbortController();
        const hanging = call(server, 'echo', { hang: true }, { signal: stop.signal, progress: () => stop.abort() });
        await assert.rejects(hanging);
        const given = (): object | undefined =>
          asked.find(({ message }) => message.method === 'notifications/cancelled')?.message.params;
        for (let tries = 0; given() === undefined && tries < 200; tries++)
          await new Promise((resolve) => setTimeout(resolve, 5));
        const hung = asked.filter(({ message }) => message.method === 'tools/call').at(-1)?.message.id;
        assert.deepEqual(given(), { ...given(), requestId: hung });
      }),
    );
  });
}

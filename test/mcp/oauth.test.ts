import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ownAccess } from '../../src/adapters/mcp/oauth.ts';
import { createMcpServer } from '../../src/adapters/mcp/server.ts';
import type { McpServer } from '../../src/adapters/mcp/standing.ts';
import { openTransport, type TransportOptions } from '../../src/adapters/mcp/transport.ts';
import { systemClock } from '../../src/base/clock.ts';
import { problemsOf } from '../support/bundles.ts';
import { aLogger, offered } from './support.ts';

/** An MCP server that wants a token, and the authorization server that gives one, in one process. */
class Guarded {
  readonly granted: URLSearchParams[] = [];
  valid = '';
  #count = 0;
  #url = '';
  readonly #server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    request.on('end', () => {
      const { status, json, headers } = this.#answer(
        request.method ?? '',
        request.url ?? '',
        body,
        request.headers.authorization,
      );
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(json === undefined ? '' : JSON.stringify(json));
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // listens on a port
    return this.#url;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #token(): object {
    this.valid = `access-${++this.#count}`;
    return {
      access_token: this.valid,
      token_type: 'Bearer',
      expires_in: 3600,
    };
  }

  #answer(method: string, path: string, body: string, authorization: string | undefined) {
    const ok = (json: unknown) => ({ status: 200, json, headers: {} });
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return ok({ resource: `${this.#url}/mcp`, authorization_servers: [this.#url] });
    if (path.startsWith('/.well-known/')) {
      return ok({
        issuer: this.#url,
        authorization_endpoint: `${this.#url}/authorize`,
        token_endpoint: `${this.#url}/token`,
        registration_endpoint: `${this.#url}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      });
    }
    if (path === '/register')
      return { ...ok({ ...(JSON.parse(body) as object), client_id: 'registered' }), status: 201 };
    if (path === '/token') {
      const form = new URLSearchParams(body);
      this.granted.push(form);
      return ok(this.#token());
    }
    if (authorization !== `Bearer ${this.valid}`) {
      const found = `Bearer resource_metadata="${this.#url}/.well-known/oauth-protected-resource/mcp"`;
      return { status: 401, json: undefined, headers: { 'www-authenticate': found } };
    }
    if (method !== 'POST') return { status: 405, json: undefined, headers: {} };
    const {
      id,
      method: asked,
      params,
    } = JSON.parse(body) as { id?: number; method: string; params?: Record<string, unknown> };
    if (id === undefined) return { status: 202, json: undefined, headers: {} };
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: params?.['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: { name: 'g', version: '1' },
      },
      'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'hello' }] },
    };
    const result = results[asked];
    return ok(
      result === undefined
        ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }
        : { jsonrpc: '2.0', id, result },
    );
  }
}

async function guarded<T>(run: (server: Guarded, url: string) => Promise<T>): Promise<T> {
  const server = new Guarded();
  const url = await server.start();
  try {
    return await run(server, url);
  } finally {
    await server.stop();
  }
}

function connected(url: string, oauth: TransportOptions['oauth']): McpServer {
  const service = { transport: 'http' as const, url: `${url}/mcp` };
  const open = () => openTransport(service, { folder: '.', searchPath: undefined, oauth });
  let now = 0;
  // Time passes between two attempts, so that nobody waits.
  const clock = { ...systemClock, now: () => (now += 120_000) };
  return createMcpServer({ id: 'g', service, open, clock, logger: aLogger([]) });
}

test('the app itself gets a token by its own rights', async () => {
  await guarded(async (server, url) => {
    const settings = {
      type: 'oauth2' as const,
      grant: 'client_credentials' as const,
      client_id: 'app',
      client_secret: 's',
      issuer: url,
    };
    const mcp = connected(url, ownAccess(settings));
    assert.deepEqual(await offered(mcp), ['echo']);
    assert.equal(server.granted[0]?.get('grant_type'), 'client_credentials');
    await mcp.close();
  });
});

test('a bundle names the client whole, so that no other server is given its secret', async () => {
  const service = (auth: string) =>
    `surfaces: {as_consumer: {mcp: {services: {kb: {transport: http, url: 'https://a.test/', auth: ${auth}}}}}}`;
  assert.match(
    await problemsOf(service('{type: oauth2, grant: client_credentials, client_id: a}')),
    /client_credentials without a whole client, wanted client_id, client_secret or private_key, and issuer/,
  );
  assert.match(await problemsOf(service('{type: oauth2, client_secret: a}')), /a client_secret without an issuer/);
  const whole = 'type: oauth2, grant: client_credentials, client_id: a, issuer: "https://i.test"';
  assert.match(
    await problemsOf(service(`{${whole}, client_secret: s, private_key: k}`)),
    /a client_secret and a private_key, wanted one of them/,
  );
  assert.match(await problemsOf(service('{type: oauth2, private_key: k}')), /a private_key without the grant/);
  assert.equal(await problemsOf(service(`{${whole}, private_key: k}`)), '');
  assert.equal(await problemsOf(service('{type: oauth2}')), '');
});

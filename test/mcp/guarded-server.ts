// An MCP server that wants its users to sign in, and the authorization server that lets them, each on a port of its own.
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Ending {
  after(undo: () => unknown): void;
}

interface Given {
  readonly user: string;
  readonly scope: string;
}

export interface GuardedServer {
  /** The endpoint of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** Who called what, by the token that was shown. */
  readonly calls: { readonly user: string; readonly tool: string }[];
  /** In which session each call was made; who began a session is in its name. */
  readonly sessions: string[];
  /** What the token endpoint was asked, in order. */
  readonly granted: URLSearchParams[];
  readonly registered: Record<string, unknown>[];
  /** Every secret that was ever given out. */
  readonly secrets: Set<string>;
  /** Tools by user; `*`: of everybody else. */
  readonly tools: Record<string, readonly string[]>;
  /** The right that a tool wants. */
  readonly wants: Record<string, string>;
  /** Further lines of what the authorization server says of itself. */
  readonly metadata: Record<string, unknown>;
  /** A person who is sent there says yes: where they are sent back to. */
  consent(authorizationUrl: string, user: string): URL;
  /** What was given to a user so far is good no longer; `renewable`: but may be renewed. */
  revoke(user: string, how?: 'renewable'): void;
  /** Answers before anything else, where it gives something. */
  answer: ((path: string) => { readonly status: number; readonly body?: string } | undefined) | undefined;
}

export async function aGuardedServer(t: Ending): Promise<GuardedServer> {
  const access = new Map<string, Given>();
  const refresh = new Map<string, Given>();
  const codes = new Map<
    string,
    Given & { readonly challenge: string; readonly redirect: string; readonly client: string }
  >();
  const secret = (): string => {
    const made = `tok-${randomBytes(12).toString('hex')}`;
    fake.secrets.add(made);
    return made;
  };

  const give = (given: Given): object => {
    const [token, again] = [secret(), secret()];
    access.set(token, given);
    refresh.set(again, given);
    return { access_token: token, token_type: 'Bearer', refresh_token: again, expires_in: 3_600, scope: given.scope };
  };

  function authorization(path: string, body: string): Reply {
    const { issuer } = fake;
    if (path === '/.well-known/oauth-authorization-server') {
      const endpoints = {
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        revocation_endpoint: `${issuer}/revoke`,
      };
      const says = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] };
      return { status: 200, json: { issuer, ...endpoints, ...says, ...fake.metadata } };
    }
    if (path === '/register') {
      const asked = JSON.parse(body) as Record<string, unknown>;
      fake.registered.push(asked);
      return { status: 201, json: { ...asked, client_id: `client-${fake.registered.length}` } };
    }
    const form = new URLSearchParams(body);
    if (path === '/revoke') {
      const given = refresh.get(form.get('token') ?? '') ?? access.get(form.get('token') ?? '');
      if (given !== undefined) fake.revoke(given.user);
      return { status: 200 };
    }
    if (path !== '/token') return { status: 404 };
    fake.granted.push(form);
    if (form.get('resource') !== fake.url) return { status: 400, json: { error: 'invalid_target' } };
    if (form.get('grant_type') === 'refresh_token') {
      const key = form.get('refresh_token') ?? '';
      const given = refresh.get(key);
      refresh.delete(key);
      return given === undefined
        ? { status: 400, json: { error: 'invalid_grant' } }
        : { status: 200, json: give(given) };
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood =
      code?.challenge === challenge &&
      code.redirect === form.get('redirect_uri') &&
      code.client === form.get('client_id');
    return isGood ? { status: 200, json: give(code) } : { status: 400, json: { error: 'invalid_grant' } };
  }

  function mcp(path: string, body: string, { method, headers }: IncomingMessage): Reply {
    const metadata = `${new URL(fake.url).origin}/meta/of-the-server`;
    if (path === '/meta/of-the-server')
      return { status: 200, json: { resource: fake.url, authorization_servers: [fake.issuer] } };
    if (path !== '/mcp') return { status: 404 };
    const given = access.get(/^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1] ?? '');
    const challenge = `Bearer resource_metadata="${metadata}", scope="kb:read"`;
    if (given === undefined) return { status: 401, headers: { 'www-authenticate': challenge } };
    if (method !== 'POST') return { status: 405 };
    const asked = JSON.parse(body) as { id?: number; method: string; params?: Record<string, unknown> };
    if (asked.id === undefined) return { status: 202 };
    const answer = (result: unknown): Reply => ({ status: 200, json: { jsonrpc: '2.0', id: asked.id, result } });
    switch (asked.method) {
      case 'initialize': {
        const serverInfo = { name: 'kb', version: '1' };
        const { protocolVersion } = asked.params ?? {};
        const session = `${given.user}-${randomBytes(4).toString('hex')}`;
        const greeted = answer({ protocolVersion, capabilities: { tools: {} }, serverInfo });
        return { ...greeted, headers: { 'mcp-session-id': session } };
      }
      case 'tools/list': {
        const names = fake.tools[given.user] ?? fake.tools['*'] ?? [];
        const annotations = { readOnlyHint: true };
        return answer({
          tools: names.map((name) => ({
            name,
            description: `Does ${name}.`,
            inputSchema: { type: 'object' },
            annotations,
          })),
        });
      }
      case 'tools/call': {
        const tool = String(asked.params?.['name']);
        const wanted = fake.wants[tool];
        if (wanted !== undefined && !given.scope.split(' ').includes(wanted)) {
          const lacking = `Bearer error="insufficient_scope", scope="${wanted}", resource_metadata="${metadata}"`;
          return { status: 403, headers: { 'www-authenticate': lacking } };
        }
        fake.calls.push({ user: given.user, tool });
        fake.sessions.push(String(headers['mcp-session-id']));
        return answer({ content: [{ type: 'text', text: `${tool} for ${given.user}` }] });
      }
      default:
        return { status: 200, json: { jsonrpc: '2.0', id: asked.id, error: { code: -32_601, message: 'no' } } };
    }
  }

  const fake: GuardedServer = {
    url: `${await listening(t, (path, body, request) => fake.answer?.(path) ?? mcp(path, body, request))}/mcp`,
    issuer: await listening(t, (path, body) => fake.answer?.(path) ?? authorization(path, body)),
    calls: [],
    sessions: [],
    granted: [],
    registered: [],
    secrets: new Set(),
    tools: { '*': ['search', 'write'] },
    wants: {},
    metadata: {},
    answer: undefined,
    consent(authorizationUrl, user) {
      const { searchParams } = new URL(authorizationUrl);
      const said = (name: string): string => searchParams.get(name) ?? '';
      if (said('code_challenge_method') !== 'S256' || said('resource') !== fake.url) throw new Error('no PKCE');
      const code = randomBytes(8).toString('hex');
      const [challenge, redirect, client] = [said('code_challenge'), said('redirect_uri'), said('client_id')];
      codes.set(code, { user, scope: said('scope'), challenge, redirect, client });
      const back = new URL(redirect);
      back.searchParams.set('code', code);
      back.searchParams.set('state', said('state'));
      return back;
    },
    revoke(user, how) {
      for (const [token, given] of access) if (given.user === user) access.delete(token);
      if (how === 'renewable') return;
      for (const [token, given] of refresh) if (given.user === user) refresh.delete(token);
    },
  };
  return fake;
}

interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function listening(
  t: Ending,
  answer: (path: string, body: string, request: IncomingMessage) => Reply,
): Promise<string> {
  const server: Server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    request.on('end', () => {
      const { status, json, body, headers } = answer(request.url ?? '', text, request);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body ?? (json === undefined ? '' : JSON.stringify(json)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

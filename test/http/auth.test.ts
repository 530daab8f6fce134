// Who is let in, and what they may do.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { StillClock } from '../conformance/log-samples.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { nexustradeRoutes, runRoutes, API, NEXUSTRADE_API, type RouteShape } from '../../src/http/wire.ts';
import { aServer } from './server.ts';

const everyRoute: readonly (readonly [method: string, path: string])[] = [
  ...Object.values<RouteShape>(runRoutes).map(({ method, path }) => [method, `${API}${path}`] as const),
  ...Object.values<RouteShape>(nexustradeRoutes).map(
    ({ method, path }) => [method, `${NEXUSTRADE_API}${path}`] as const,
  ),
].map(([method, path]) => [method, path.replace('{id}', 'run_1').replace('{iteration}', '1')] as const);

test('without any key, the local user may do everything', async (t) => {
  const { call } = await aServer(t);
  assert.equal((await call('GET', '/api/v1/runs')).status, 200);
});

test('once a key was made, nobody is let in without one, also after it is revoked', async (t) => {
  const { call, key, control } = await aServer(t);
  const made = await key();
  assert.deepEqual(
    [(await call('GET', '/api/v1/runs')).code, (await call('GET', '/api/v1/runs', { as: made })).status],
    ['invalid_token', 200],
  );
  const [kept] = await control.list();
  await control.revoke(kept?.id ?? '', 1);
  assert.equal((await call('GET', '/api/v1/runs', { as: made })).code, 'invalid_token');
  assert.equal((await call('GET', '/api/v1/runs')).code, 'invalid_token');
});

test('a key is kept as a hash, and its last use is noted', async (t) => {
  const { call, key, control } = await aServer(t);
  const made = await key();
  await call('GET', '/api/v1/runs', { as: made });
  const [kept] = await control.list();
  assert.equal(JSON.stringify(kept).includes(made.slice(20)), false);
  assert.ok(kept?.lastUsedAt !== undefined);
});

test('a key that is wrong in its last letter is not known', async (t) => {
  const { call, key } = await aServer(t);
  const made = await key();
  const other = `${made.slice(0, -1)}${made.endsWith('A') ? 'B' : 'A'}`;
  assert.equal((await call('GET', '/api/v1/runs', { as: other })).code, 'invalid_token');
});

test('a key that is out of date is refused', async (t) => {
  const clock = new StillClock();
  const { call, key } = await aServer(t, { clock });
  const made = await key({ expiresAt: clock.now() + 1000 });
  assert.equal((await call('GET', '/api/v1/runs', { as: made })).status, 200);
  clock.pass(1000);
  assert.equal((await call('GET', '/api/v1/runs', { as: made })).code, 'invalid_token');
});

test('what is no bearer token is refused with a challenge', async (t) => {
  const { call, key } = await aServer(t);
  await key();
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer sk-', 'Bearer eyJhbGciOiJub25lIn0.e30.']) {
    const { code, headers } = await call('GET', '/api/v1/runs', { headers: { authorization } });
    assert.deepEqual([code, headers.get('www-authenticate')], ['invalid_token', 'Bearer'], authorization);
  }
});

test('reading needs read, starting needs run, and approving needs approve', async (t) => {
  const { call, key, begin } = await aServer(t);
  const [reader, runner] = [await key({ scopes: ['read'] }), await key({ scopes: ['read', 'run'] })];
  const id = await begin('hello', { as: runner });
  const create = { body: { prompt: 'x' } };
  assert.deepEqual(
    [
      (await call('GET', `/api/v1/runs/${id}`, { as: reader })).status,
      (await call('POST', '/api/v1/runs', { ...create, as: reader })).code,
      (await call('POST', `/api/v1/nexustrade/agents/${id}/approve`, { as: runner })).code,
      (await call('POST', `/api/v1/nexustrade/agents/${id}/reject`, { as: runner })).code,
    ],
    [200, 'insufficient_scope', 'insufficient_scope', 'nothing_pending'],
  );
});

test('a compute key is refused on every route of a run, and told why', async (t) => {
  const { call, key } = await aServer(t);
  const as = await key({ kind: 'compute', scopes: ['read', 'run', 'approve', 'admin'] });
  for (const [method, path] of everyRoute) {
    const { status, code } = await call(method, path, { as, ...(method === 'GET' ? {} : { body: {} }) });
    assert.deepEqual([status, code], [403, 'compute_forbidden'], `${method} ${path}`);
  }
});

test('the run of somebody else and one that does not exist are the same 404', async (t) => {
  const { call, key, begin } = await aServer(t);
  const [ana, bo] = [await key({ userId: 'ana' }), await key({ userId: 'bo' })];
  const id = await begin('hello', { as: ana });
  for (const [method, path] of everyRoute.filter(([, one]) => one.includes('run_1'))) {
    const body =
      method === 'PATCH'
        ? { title: 'x' }
        : path.endsWith('/answers')
          ? [{ request: 'r', digest: 'd', decision: 'allow' }]
          : bodyFor(path);
    const ask = async (run: string) => {
      const given = await call(method, path.replace('run_1', run), { as: bo, ...(method === 'GET' ? {} : { body }) });
      return [given.status, given.code, String((given.body['error'] as { message?: string } | undefined)?.message)];
    };
    const [foreign, unknown] = [await ask(id), await ask('run_none')];
    assert.deepEqual(foreign, unknown, `${method} ${path}`);
    assert.deepEqual(foreign.slice(0, 2), [404, 'not_found'], `${method} ${path}`);
  }
});

function bodyFor(path: string): unknown {
  if (path.endsWith('/messages')) return { content: 'hello' };
  if (path.endsWith('/events')) return { source: 'task', events: [{ text: 'rain' }] };
  return path.endsWith('/computations') ? { ticket: 't', outcome: 'ok' } : {};
}

test('an address that others can reach needs a key', async (t) => {
  await assert.rejects(
    aServer(t, { hostname: '0.0.0.0' }),
    (error) => TreadleError.is(error) && error.code === 'usage',
  );
});

test('without keys, a name that was rebound to this machine is refused', async (t) => {
  const { call } = await aServer(t);
  assert.equal((await call('GET', '/api/v1/runs', { headers: { host: 'evil.example' } })).code, undefined); // fetch says its own
  const { hostOf } = await import('./raw.ts');
  const { url } = await aServer(t);
  assert.deepEqual(
    [await hostOf(url, 'evil.example'), await hostOf(url, 'localhost:1'), await hostOf(url, '127.0.0.1')],
    ['host_refused', 'ok', 'ok'],
  );
});

test('without keys, a page of another site can do nothing; one of this server can', async (t) => {
  const { call, url } = await aServer(t);
  const ask = async (headers: Record<string, string>) =>
    (await call('POST', '/api/v1/runs', { body: { prompt: 'x' }, headers })).code ?? 'ok';
  assert.deepEqual(
    [
      await ask({ origin: 'https://evil.example' }),
      await ask({ origin: 'null' }),
      await ask({ 'sec-fetch-site': 'cross-site' }),
      await ask({ origin: url }),
      await ask({}),
    ],
    ['origin_refused', 'origin_refused', 'origin_refused', 'ok', 'ok'],
  );
});

test('pages are let in where they are named, and nowhere else', async (t) => {
  const page = 'https://page.example';
  const { call } = await aServer(t, { cors: [page] });
  const preflight = await call('OPTIONS', '/api/v1/runs', {
    headers: { origin: page, 'access-control-request-method': 'POST' },
  });
  const other = await call('GET', '/api/v1/runs', { headers: { origin: 'https://evil.example' } });
  const mine = await call('GET', '/api/v1/runs', { headers: { origin: page } });
  assert.deepEqual(
    [preflight, other, mine].map(({ status, headers }) => [status, headers.get('access-control-allow-origin')]),
    [
      [204, page],
      [403, null],
      [200, page],
    ],
  );
});

test('a caller that asks too often is told how long to wait, and others are not', async (t) => {
  const { call, key } = await aServer(t, { clock: new StillClock(), rate: { perSecond: 1, burst: 3 } });
  const [ana, bo] = [await key({ userId: 'ana' }), await key({ userId: 'bo' })];
  const asked = [];
  for (let count = 0; count < 4; count++) asked.push(await call('GET', '/api/v1/runs', { as: ana }));
  assert.deepEqual(
    asked.map(({ status }) => status),
    [200, 200, 200, 429],
  );
  assert.deepEqual([asked[3]?.code, asked[3]?.headers.get('retry-after')], ['rate_limit_exceeded', '1']);
  assert.equal((await call('GET', '/api/v1/runs', { as: bo })).status, 200);
});

test('whoever guesses keys is slowed down', async (t) => {
  const { call, key } = await aServer(t, { clock: new StillClock(), rate: { perSecond: 1, burst: 2 } });
  await key();
  const asked = [];
  for (let count = 0; count < 3; count++) asked.push((await call('GET', '/api/v1/runs', { as: `sk-${count}` })).status);
  assert.deepEqual(asked, [401, 401, 429]);
});

/** An identity provider: its discovery document, its keys, and tokens of it. */
async function anIssuer(t: TestContext) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' };
  const server = createServer((request, response) => {
    const body = request.url?.includes('openid') ? { issuer: issuer(), jwks_uri: `${issuer()}/keys` } : { keys: [jwk] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const issuer = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = (claims: Record<string, unknown>, { aud = 'treadle', exp = '1h', key = privateKey } = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(issuer())
      .setAudience(aud)
      .setIssuedAt()
      .setExpirationTime(exp)
      .sign(key);
  return { issuer: issuer(), token };
}

test('a token of the issuer says who it is, of which tenant, and what they may do', async (t) => {
  const { issuer, token } = await anIssuer(t);
  const { call, begin } = await aServer(t, { oidc: { issuer, audience: 'treadle', tenantClaim: 'org' } });
  const ana = await token({ sub: 'ana', org: 'acme', scope: 'openid treadle:read run' });
  const id = await begin('hello', { as: ana });
  const other = await token({ sub: 'ana', org: 'other', scope: 'read' });
  assert.deepEqual(
    [
      (await call('GET', `/api/v1/runs/${id}`, { as: ana })).status,
      (await call('GET', `/api/v1/runs/${id}`, { as: other })).status,
      (await call('POST', '/api/v1/runs', { as: other, body: { prompt: 'x' } })).code,
    ],
    [200, 404, 'insufficient_scope'],
  );
});

test('a token for another service, of another key, without its claims or out of date is refused', async (t) => {
  const { issuer, token } = await anIssuer(t);
  const { call } = await aServer(t, { oidc: { issuer, audience: 'treadle', tenantClaim: 'org' } });
  const { privateKey } = await generateKeyPair('ES256');
  const claims = { sub: 'ana', org: 'acme', scope: 'read' };
  const tokens = [
    await token(claims, { aud: 'mail' }),
    await token(claims, { key: privateKey }),
    await token({ sub: 'ana', scope: 'read' }),
    await token({ org: 'acme', scope: 'read' }),
    await token(claims, { exp: '-5m' }),
  ];
  for (const as of tokens) assert.equal((await call('GET', '/api/v1/runs', { as })).code, 'invalid_token');
  assert.equal((await call('GET', '/api/v1/runs', { as: await token(claims) })).status, 200);
});

test('the requirement wire takes keys and no tokens', async (t) => {
  const { issuer, token } = await anIssuer(t);
  const { call } = await aServer(t, { oidc: { issuer, audience: 'treadle', scopes: ['read'] } });
  const as = await token({ sub: 'ana' });
  assert.deepEqual(
    [(await call('GET', '/api/v1/runs', { as })).status, (await call('GET', '/api/v1/nexustrade/agents', { as })).code],
    [200, 'invalid_token'],
  );
});

test('an issuer that is away is not the fault of the token', async (t) => {
  const { token } = await anIssuer(t);
  const { call } = await aServer(t, { oidc: { issuer: 'http://127.0.0.1:9', audience: 'treadle' } });
  const { status, code } = await call('GET', '/api/v1/runs', { as: await token({ sub: 'ana' }) });
  assert.deepEqual([status, code], [503, 'identity_unavailable']);
});

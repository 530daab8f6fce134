// Keys over HTTP: who may make which, and what becomes of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiKey, keyRoutes } from '../../src/http/wire.ts';
import { aServer, type Served } from './server.ts';

const listed = async ({ call }: Served, as: string) =>
  ((await call('GET', '/api/v1/keys', { as })).body['keys'] as { id: string; name: string; revokedAt?: string }[]).map(
    ({ name, revokedAt }) => `${name}${revokedAt === undefined ? '' : ' revoked'}`,
  );

test('the first key is made without one, is shown once, and ends that', async (t) => {
  const served = await aServer(t);
  const { call } = served;
  assert.deepEqual((await call('GET', '/api/v1/me')).body, {
    ...{ userId: 'local', tenant: 'local', scopes: ['read', 'run', 'approve', 'admin'], isOpen: true },
  });
  const { body, status } = await call('POST', '/api/v1/keys', { body: { name: 'laptop', scopes: ['read', 'admin'] } });
  assert.deepEqual([status, keyRoutes.createKey.reply.safeParse(body).success], [201, true]);
  const as = String(body['key']);
  assert.equal((await call('GET', '/api/v1/me')).code, 'invalid_token');
  const me = (await call('GET', '/api/v1/me', { as })).body;
  assert.deepEqual([me['scopes'], me['isOpen'], me['keyId']], [['read', 'admin'], false, body['id']]);
  const { keys } = (await call('GET', '/api/v1/keys', { as })).body as { keys: object[] };
  assert.deepEqual(Object.keys(apiKey.strict().parse(keys[0])).includes('key'), false);
  assert.ok(!JSON.stringify(keys).includes(as));
});

test('a revoked key opens nothing, and revoking is for admins of its tenant', async (t) => {
  const served = await aServer(t);
  const { call, key } = served;
  const [admin, plain, stranger] = [
    await key({ scopes: ['admin'], name: 'admin' }),
    await key({ name: 'plain' }),
    await key({ scopes: ['admin'], name: 'stranger', tenant: 'other' }),
  ];
  const { id } = (
    (await call('GET', '/api/v1/keys', { as: admin })).body['keys'] as { id: string; name: string }[]
  ).find(({ name }) => name === 'plain') ?? { id: '' };
  assert.equal((await call('DELETE', `/api/v1/keys/${id}`, { as: plain })).code, 'insufficient_scope');
  assert.equal((await call('DELETE', `/api/v1/keys/${id}`, { as: stranger })).code, 'not_found');
  assert.equal((await call('DELETE', `/api/v1/keys/${id}`, { as: admin })).status, 204);
  assert.equal((await call('GET', '/api/v1/me', { as: plain })).code, 'invalid_token');
  assert.deepEqual(await listed(served, stranger), ['stranger']);
  assert.deepEqual((await listed(served, admin)).sort(), ['admin', 'plain revoked']);
});

test('a key is made for the tenant of who makes it, with scopes that it is given and none by mistake', async (t) => {
  const { call, key } = await aServer(t);
  const as = await key({ scopes: ['admin'], tenant: 'acme' });
  const make = async (body: Record<string, unknown>) => call('POST', '/api/v1/keys', { body, as });
  const { body } = await make({ name: 'bo', user: 'bo@acme' });
  const me = (await call('GET', '/api/v1/me', { as: String(body['key']) })).body;
  assert.deepEqual([me['userId'], me['tenant'], me['scopes']], ['bo@acme', 'acme', ['read', 'run', 'approve']]);
  const sandbox = (await make({ name: 'box', kind: 'compute' })).body;
  assert.equal((await call('GET', '/api/v1/me', { as: String(sandbox['key']) })).code, 'compute_forbidden');
  assert.deepEqual([(await make({ name: 'x', scopes: [] })).status, (await make({ name: ' ' })).status], [422, 422]);
  assert.equal((await make({ name: 'x', user: 'a b' })).code, 'invalid_request');
  assert.equal(
    (await call('POST', '/api/v1/keys', { body: { name: 'x' }, as: await key() })).code,
    'insufficient_scope',
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ClientError, createClient } from '../../src/client/index.ts';
import { aPage, aSnapshot, refusal, serveScript, type Reply } from './scripted-server.ts';

const now = { 'retry-after': '0' };
const later = { 'retry-after': '3600' };
const cut: Reply = (_, response) => void response.destroy();

for (const [name, url] of Object.entries({
  'that is not absolute': '/api',
  'with a user': 'https://me@host',
  'with a query': 'https://host?x=1',
  'with a fragment': 'https://host#x',
  'of another scheme': 'ftp://host',
  'in plain HTTP to another machine': 'http://host',
})) {
  test(`an address ${name} is refused`, () => {
    assert.throws(() => createClient({ url }), { code: 'invalid_option', field: 'url' });
  });
}

for (const key of ['', 'sk a', 'sk\n', 'schlüssel']) {
  test(`the key ${JSON.stringify(key)} is refused`, () => {
    assert.throws(() => createClient({ url: 'http://localhost:1', key }), { code: 'invalid_option', field: 'key' });
  });
}

test('an option that nothing reads is refused', () => {
  const slip = { url: 'http://localhost:1', timeout: 3 };
  assert.throws(() => createClient(slip), { code: 'invalid_option', field: 'timeout' });
  const client = createClient({ url: 'http://localhost:1' });
  assert.throws(() => client.run('run_1', { giveUpMs: 0 }), { code: 'invalid_option', field: 'giveUpMs' });
});

test('a key is in no printed form of a client, a run or an error', async (t) => {
  const server = await serveScript(t, [refusal(404, 'not_found')]);
  const client = server.client({ key: 'sk-secret' });
  const error = await client.snapshot('run_1').catch((thrown: unknown) => thrown);
  const printed = inspect([client, client.run('run_1'), error], { depth: 9, showHidden: true });
  assert.ok(!(printed + JSON.stringify([client, error])).includes('secret'));
  assert.equal(server.received[0]?.headers.authorization, 'Bearer sk-secret');
});

test('ids are written the same by every client', async (t) => {
  const server = await serveScript(t, [aSnapshot()]);
  await server.client().snapshot("a b/c!'()*ä?#");
  assert.equal(server.received[0]?.url, '/api/v1/runs/a%20b%2Fc%21%27%28%29%2A%C3%A4%3F%23');
});

for (const id of ['', '.', '..']) {
  test(`the id ${JSON.stringify(id)} leads nowhere else`, async () => {
    const client = createClient({ url: 'http://localhost:1' });
    assert.throws(() => client.run(id), { code: 'invalid_option' });
    await assert.rejects(client.snapshot(id), { code: 'invalid_option' });
  });
}

test('a refusal keeps its status, code, field and details', async (t) => {
  const body = { error: { code: 'insufficient_scope', message: 'No.', field: 'key', details: { why: 'not yours' } } };
  const server = await serveScript(t, [{ status: 403, body }]);
  await assert.rejects(server.client().snapshot('run_1'), {
    name: 'ClientError',
    status: 403,
    code: 'insufficient_scope',
    message: 'No.',
    field: 'key',
    details: { why: 'not yours' },
  });
  assert.equal(server.received.length, 1);
});

test('an error that is a plain text keeps its text', async (t) => {
  const server = await serveScript(t, [{ status: 400, body: { error: 'out of paper' } }]);
  await assert.rejects(server.client().snapshot('run_1'), { code: 'api_error', message: 'out of paper' });
});

for (const status of [429, 500, 503]) {
  test(`a read that meets ${status} is sent again when Retry-After is over`, async (t) => {
    const server = await serveScript(t, [refusal(status, 'busy', now), refusal(status, 'busy', now), aSnapshot()]);
    assert.equal((await server.client().snapshot('run_1')).id, 'run_1');
    assert.equal(server.received.length, 3);
  });
}

test('a Retry-After beyond the deadline is not waited for', async (t) => {
  const server = await serveScript(t, [refusal(429, 'rate_limit_exceeded', later)]);
  await assert.rejects(server.client().snapshot('run_1'), { code: 'rate_limit_exceeded', retryAfter: 3600 });
  assert.equal(server.received.length, 1);
});

test('a date in Retry-After is read by the clock of the server', async (t) => {
  const date = (second: number): string => `Wed, 21 Oct 2015 07:28:0${second} GMT`;
  const server = await serveScript(t, [
    refusal(503, 'busy', { date: date(1), 'retry-after': date(1) }),
    refusal(503, 'busy', { date: date(1), 'retry-after': 'Wed, 21 Oct 2065 07:28:00 GMT' }),
  ]);
  await assert.rejects(server.client().snapshot('run_1'), { code: 'busy' });
  assert.equal(server.received.length, 2);
});

test('a change that is lost on the way is sent again with its key', async (t) => {
  const server = await serveScript(t, [cut, refusal(409, 'idempotency_in_progress', now), aSnapshot()]);
  await server.client().create({ prompt: 'go' });
  const keys = server.received.map((one) => one.headers['idempotency-key']);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
});

test('two calls never share a key', async (t) => {
  const server = await serveScript(t, [aSnapshot()]);
  const client = server.client();
  const run = client.run('run_1');
  await Promise.all([run.say('one'), run.say('one'), client.run('run_1').say('one')]);
  assert.equal(new Set(server.received.map((one) => one.headers['idempotency-key'])).size, 3);
});

test('a change whose outcome stays unknown says so with the key, and the key finds the run', async (t) => {
  let isUp = false;
  const server = await serveScript(t, () => (isUp ? aSnapshot() : refusal(502, 'bad_gateway', later)));
  const error: unknown = await server
    .client()
    .create({ prompt: 'go' })
    .catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ClientError && error.code === 'outcome_unknown' && error.status === 502);
  isUp = true;
  const run = await server.client().create({ prompt: 'go' }, { idempotencyKey: error.idempotencyKey });
  assert.equal(run.id, 'run_1');
  assert.equal(server.received[1]?.headers['idempotency-key'], server.received[0]?.headers['idempotency-key']);
});

test('a change that was refused outright is no unknown outcome', async (t) => {
  const server = await serveScript(t, [cut, refusal(422, 'input_invalid')]);
  await assert.rejects(server.client().create({ prompt: '' }), { code: 'input_invalid', status: 422 });
});

test('a socket that cannot be opened is a transport error without a status', async () => {
  const client = createClient({ url: 'http://127.0.0.1:9', deadlineMs: 1 });
  await assert.rejects(client.snapshot('run_1'), { code: 'transport_error', status: 0 });
});

test('an answer that does not come in time is given up', async (t) => {
  const server = await serveScript(t, [() => undefined]);
  const client = server.client({ requestTimeoutMs: 20, deadlineMs: 30 });
  await assert.rejects(client.snapshot('run_1'), { code: 'request_timeout', status: 0 });
});

test('a caller that aborts gets its own reason', async (t) => {
  const server = await serveScript(t, [() => undefined]);
  const signal = AbortSignal.timeout(10);
  await assert.rejects(server.client().snapshot('run_1', { signal }), { name: 'TimeoutError' });
});

for (const [name, body] of Object.entries({ 'not JSON': '<html>', 'a list': '[]', 'another thing': '{"run": 1}' })) {
  test(`an answer that is ${name} makes no sense`, async (t) => {
    const server = await serveScript(t, [{ body }]);
    await assert.rejects(server.client().snapshot('run_1'), { code: 'invalid_response', status: 0 });
  });
}

test('an answer without end is cut off', async (t) => {
  const server = await serveScript(t, [
    (_, response) => {
      const chunk = Buffer.alloc(1 << 20, 'a');
      const write = (): void => {
        if (!response.destroyed) response.write(chunk, () => setImmediate(write));
      };
      write();
    },
  ]);
  await assert.rejects(server.client().snapshot('run_1'), { code: 'response_too_large' });
});

test('a read follows a redirect within the server, five times at most', async (t) => {
  const server = await serveScript(t, ({ url }) =>
    url.endsWith('/end') ? aSnapshot() : { status: 307, headers: { location: url.includes('loop') ? url : '/end' } },
  );
  assert.equal((await server.client().snapshot('run_1')).id, 'run_1');
  await assert.rejects(server.client().snapshot('loop'), { code: 'redirect_refused' });
  assert.equal(server.received.length, 2 + 6);
});

test('the key follows no redirect to another server, and no change is redirected', async (t) => {
  const other = await serveScript(t, [aSnapshot()]);
  const server = await serveScript(t, [{ status: 302, headers: { location: other.url } }]);
  await assert.rejects(server.client().snapshot('run_1'), { code: 'redirect_refused' });
  await assert.rejects(server.client().run('run_1').stop(), { code: 'redirect_refused' });
  assert.equal(server.received.length, 2);
  assert.equal(other.received.length, 0);
});

test('304 is no redirect', async (t) => {
  const server = await serveScript(t, [(_, response) => void response.writeHead(304).end()]);
  await assert.rejects(server.client().snapshot('run_1'), { code: 'not_modified', status: 304 });
});

test('a query leaves out what was not asked for', async (t) => {
  const server = await serveScript(t, [{ body: { runs: [], hasMore: false } }, aPage([])]);
  await server.client().list({ q: 'a&b', limit: 5, agent: undefined });
  assert.equal(server.received[0]?.url, '/api/v1/runs?q=a%26b&limit=5');
});

test('a route without a method of its own is called like all others', async (t) => {
  const server = await serveScript(t, [{ status: 503, headers: now }, { body: { title: 'x' } }]);
  const call = { method: 'PATCH', query: { dry: true }, body: { title: 'x' }, idempotencyKey: 'k1' } as const;
  assert.deepEqual(await server.client().request('/runs/run_1', call), { title: 'x' });
  assert.deepEqual(
    server.received.map(({ method, url, headers }) => [method, url, headers['idempotency-key']]),
    Array(2).fill(['PATCH', '/api/v1/runs/run_1?dry=true', 'k1']),
  );
});

test('a POST without a key is sent again where it was surely not done, and nowhere else', async (t) => {
  const server = await serveScript(t, [{ status: 429, headers: now }, cut]);
  const call = { method: 'POST', body: { name: 'laptop' } } as const;
  await assert.rejects(server.client().request('/keys', call), { code: 'transport_error' });
  assert.equal(server.received.length, 2);
});

test('the frames of a stream are handed out as they came, until it ends or is cut', async (t) => {
  const gap = `event: gap\ndata: {"dropped":2}\n\n`;
  const server = await serveScript(t, [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`: still here\n\n${gap}event: newer\ndata: {}\n\n${gap}`, () =>
        setTimeout(() => response.destroy(), 50),
      );
    },
    refusal(404, 'not_found'),
  ]);
  const client = server.client();
  const frames: unknown[] = [];
  for await (const frame of await client.frames('run_1', { cursor: 'c1', until: 'removed' })) frames.push(frame);
  assert.deepEqual(frames, Array(2).fill({ type: 'gap', dropped: 2 }));
  assert.equal(server.received[0]?.url, '/api/v1/runs/run_1/stream?cursor=c1&until=removed');
  await assert.rejects(client.frames('run_1'), { code: 'not_found' });
});

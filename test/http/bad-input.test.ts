// Whatever is sent, the server answers with a stable code and goes on.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { TreadleError, type ErrorCode } from '../../src/base/errors.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { isObject } from '../../src/base/json.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Log } from '../../src/kernel/log.ts';
import { open, raw } from './raw.ts';
import { aServer } from './server.ts';

const json = { 'content-type': 'application/json' };
const RUNS = '/api/v1/runs';

test('every error has its code, a message, whether to retry, and the id of the request', async (t) => {
  const { call } = await aServer(t);
  const { body, headers } = await call('GET', `${RUNS}/run_none`, { headers: { 'x-request-id': 'mine-1' } });
  assert.deepEqual(body, {
    error: {
      code: 'not_found',
      message: 'It does not exist or is not yours; the two are not told apart.',
      retryable: false,
      requestId: 'mine-1',
    },
  });
  assert.equal(headers.get('x-request-id'), 'mine-1');
});

test('a path that does not exist is not found', async (t) => {
  const { call } = await aServer(t);
  for (const path of ['/', '/api', '/api/v2/runs', '/api/v1/runs/', '/api/v1/runs/a/b', '/%00', '/api/v1/runs/%ff%fe'])
    assert.deepEqual([path, (await call('GET', path)).code], [path, 'not_found']);
});

test('a wrong method is told which are right', async (t) => {
  const { call } = await aServer(t);
  const allowed = async (method: string, path: string) => {
    const { status, code, headers } = await call(method, path);
    return [status, code, headers.get('allow')];
  };
  assert.deepEqual(await allowed('DELETE', RUNS), [405, 'method_not_allowed', 'POST, GET, HEAD']);
  assert.deepEqual(await allowed('GET', `${RUNS}/x/stop`), [405, 'method_not_allowed', 'POST']);
  assert.deepEqual(await allowed('PROPFIND', RUNS), [405, 'method_not_allowed', 'POST, GET, HEAD']);
  assert.deepEqual(await allowed('POST', '/health'), [405, 'method_not_allowed', 'GET, HEAD']);
});

test('a body that cannot be read is refused and says why', async (t) => {
  const { call } = await aServer(t);
  const deep = `{"prompt":"x","metadata":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const bodies: readonly (readonly [body: string, status: number, says: RegExp])[] = [
    ['{', 400, /not JSON/],
    ['{"prompt": NaN}', 400, /not JSON/],
    [deep, 400, /too deep/],
    ['{"__proto__": {"prompt": "x"}}', 400, /no object may have/],
    ['null', 422, /./],
    ['[]', 422, /./],
    ['"x"', 422, /./],
    ['{}', 422, /prompt/],
    ['{"prompt": 1}', 422, /prompt/],
    ['{"prompt": "x", "model": "y"}', 422, /model is not known here/],
    ['{"prompt": "x", "limits": {"maxTurns": 1}}', 422, /limits.maxTurns is not known/],
    ['{"prompt": "x", "maxIterations": 0}', 422, /maxIterations/],
    ['{"prompt": "x", "maxIterations": 1.5}', 422, /maxIterations/],
    ['{"prompt": "x", "maxIterations": "3"}', 422, /maxIterations/],
    [`{"prompt": "x", "metadata": {"a": "${'b'.repeat(600)}"}}`, 422, /metadata/],
    ['{"prompt": " "}', 422, /empty/],
  ];
  for (const [body, status, says] of bodies) {
    const given = await call('POST', RUNS, { body, headers: json });
    const { message, code } = given.body['error'] as { message: string; code: string };
    assert.deepEqual([given.status, says.test(message)], [status, true], `${body.slice(0, 60)}: ${code} ${message}`);
  }
});

test('a body that is JSON and does not fit is 422, also where more than its schema says so', async (t) => {
  const { call, begin } = await aServer(t);
  const id = await begin('hello');
  for (const [method, path, body, field] of [
    ['PATCH', `${RUNS}/${id}`, { title: '' }, 'title'],
    ['PATCH', `${RUNS}/${id}`, { title: ' \n' }, 'title'],
    ['PATCH', `${RUNS}/${id}`, { title: 'x'.repeat(201) }, 'title'],
    ['PATCH', `${RUNS}/${id}`, {}, 'title'],
    ['POST', `${RUNS}/${id}/fork`, { at: 'nothing' }, 'at'],
    ['POST', RUNS, { prompt: 'x', metadata: { 'treadle.own': 'x' } }, 'metadata'],
  ] as const) {
    const { status, code, body: given } = await call(method, path, { body });
    const { field: named } = given['error'] as { field?: string };
    assert.deepEqual([status, code, named], [422, 'invalid_request', field], `${path} ${JSON.stringify(body)}`);
  }
  const document = await call('GET', '/api/openapi.json');
  const says = (path: string, method: string, status: number): boolean => {
    let at: unknown = document.body['paths'];
    for (const name of [path, method, 'responses', String(status), 'description']) at = isObject(at) ? at[name] : '';
    return String(at).includes('`invalid_request`');
  };
  const both = [400, 422];
  assert.deepEqual(
    both.map((one) => says(`${RUNS}/{id}`, 'patch', one)),
    [true, true],
  );
  assert.deepEqual(
    both.map((one) => says('/api/v1/nexustrade/agents', 'post', one)),
    [true, false],
  );
});

test('the requirement wire answers 400 to everything malformed', async (t) => {
  const { call } = await aServer(t);
  for (const body of ['{', '{}', '{"prompt": 1}', '{"prompt": "x", "agent": "main"}', '{"prompt": ""}']) {
    const { status, code } = await call('POST', '/api/v1/nexustrade/agents', { body, headers: json });
    assert.deepEqual([status, code], [400, 'invalid_request'], body);
  }
});

test('parameters that are unknown, out of range or given twice are refused with their name', async (t) => {
  const { call, begin } = await aServer(t);
  const id = await begin('hello');
  const queries = ['limit=0', 'limit=-1', 'limit=101', 'limit=1.5', 'limit=x', 'limit=', 'limit=5&limit=5', 'limit=05'];
  for (const query of [...queries, 'page=2', 'order=up', 'view=', '__proto__=1']) {
    for (const path of [`${RUNS}/${id}/events`, `/api/v1/nexustrade/agents/${id}/events`]) {
      const { status, code, body } = await call('GET', `${path}?${query}`);
      const { field } = body['error'] as { field?: string };
      assert.deepEqual([status, code, field], [400, 'invalid_request', query.split('=')[0]], `${path}?${query}`);
    }
  }
});

test('a body of another type or encoding is refused', async (t) => {
  const { call } = await aServer(t);
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/json; charset=latin1' },
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  ]) {
    const { status, code } = await call('POST', RUNS, { body: '{"prompt":"x"}', headers });
    assert.deepEqual([status, code], [415, 'unsupported_media_type'], JSON.stringify(headers));
  }
});

test('a body that is not UTF-8 is refused', async (t) => {
  const { url } = await aServer(t);
  const head =
    'POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n';
  const body = Buffer.from([...Buffer.from('{"prompt":"'), 0xff, 0xfe, ...Buffer.from('"}')]);
  assert.match(
    await raw(url, [`${head}Content-Length: ${body.length}\r\n\r\n`, body]),
    /400 Bad Request[^]*is not UTF-8/,
  );
});

test('a body that is too large is refused, announced or not, and the connection ends', async (t) => {
  const { url, call } = await aServer(t);
  const head = 'POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  const announced = await raw(url, `${head}Content-Length: 9000000\r\n\r\n`);
  const megabyte = Buffer.from(`100000\r\n${'x'.repeat(0x100000)}\r\n`);
  const chunked = await raw(url, [`${head}Transfer-Encoding: chunked\r\n\r\n`, ...Array<Buffer>(12).fill(megabyte)]);
  for (const said of [announced, chunked]) assert.match(said, /413 Payload Too Large[^]*body_too_large/);
  assert.equal((await call('GET', '/health')).status, 200);
});

test('bytes that are no request get an answer, and the server goes on', async (t) => {
  const { url, call } = await aServer(t);
  assert.match(await raw(url, 'hello\r\n\r\n'), /400 Bad Request[^]*invalid_request/);
  assert.match(
    await raw(url, `GET / HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(40_000)}\r\n\r\n`),
    /431 [^]*headers_too_large/,
  );
  assert.match(await raw(url, 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'), /400 Bad Request/);
  assert.match(await raw(url, 'GET //\\ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'), /40[04] /);
  assert.equal((await call('GET', '/health')).status, 200);
});

test('a body that is cut off changes nothing', async (t) => {
  const { url, host, call } = await aServer(t);
  const head =
    'POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
  const socket = await open(url, `${head}{"prompt":`);
  socket.destroy();
  await pause(20);
  const { body } = await call('GET', RUNS);
  assert.deepEqual([body['runs'], host.agents().length], [[], 1]);
});

test('whoever sends a head or a body without end is let go, and others are served meanwhile', async (t) => {
  const { url, call } = await aServer(t, { patience: { headMs: 150, requestMs: 300, lookMs: 20 } });
  const head = raw(url, 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: a');
  const body = raw(
    url,
    'POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
  );
  assert.equal((await call('GET', '/health')).status, 200);
  for (const said of await Promise.all([head, body])) assert.match(said, /^HTTP\/1.1 408 [^]*took too long/);
});

test('an idempotency key has its alphabet and its length', async (t) => {
  const { call } = await aServer(t);
  const codes = [];
  for (const key of ['', 'a b', 'ä', 'x'.repeat(161), 'a/b'])
    codes.push(
      (
        await call('POST', RUNS, {
          body: { prompt: 'x' },
          headers: { 'idempotency-key': Buffer.from(key).toString('latin1') },
        })
      ).code,
    );
  assert.deepEqual(new Set(codes), new Set(['invalid_idempotency_key']));
});

test('a cursor that was altered in one letter, or belongs to another run, is refused', async (t) => {
  const { call, begin, rest } = await aServer(t);
  const [one, two] = [await begin('hello'), await begin('hello')];
  await rest(one);
  const { body } = await call('GET', `${RUNS}/${one}/events?limit=1`);
  const cursor = String(body['nextCursor']);
  const middle = Math.floor(cursor.length / 2);
  const altered = `${cursor.slice(0, middle)}${cursor[middle] === 'A' ? 'B' : 'A'}${cursor.slice(middle + 1)}`;
  for (const path of [
    `${RUNS}/${one}/events?cursor=${altered}`,
    `${RUNS}/${one}/stream?cursor=${altered}`,
    `${RUNS}/${two}/events?cursor=${cursor}`,
    `${RUNS}/${one}/events?cursor=x`,
  ]) {
    const { status, code } = await call('GET', path);
    assert.deepEqual([status, code], [400, 'invalid_cursor'], path);
  }
});

/** A log that fails with this code once it is told to. */
function failing(): { readonly log: Log; fail: (code: ErrorCode | undefined) => void } {
  let failure: ErrorCode | undefined;
  const log = createMemoryLog({ clock: systemClock });
  const methods = Object.entries(log).map(([name, method]) => [
    name,
    (...given: never[]): unknown => {
      if (failure !== undefined && !['close', 'watch', 'release', 'onWork', 'ready'].includes(name))
        throw new TreadleError(failure, { place: '/var/secret/treadle.db', found: 'trouble', hint: 'look' });
      return method(...given);
    },
  ]);
  return { log: Object.fromEntries(methods) as Log, fail: (code) => (failure = code) };
}

test('a log that is full, locked, corrupt or away has a code each, and its path is told to nobody', async (t) => {
  const { log, fail } = failing();
  const { call, lines } = await aServer(t, { log });
  for (const [code, status] of [
    ['log_full', 507],
    ['log_locked', 503],
    ['log_corrupt', 500],
    ['log_unavailable', 503],
  ] as const) {
    fail(code);
    const given = await call('POST', RUNS, { body: { prompt: 'x' } });
    assert.deepEqual([given.status, given.code, /secret|look/.test(JSON.stringify(given.body))], [status, code, false]);
    assert.equal((await call('GET', '/ready')).status, code === 'log_full' ? 507 : 503);
  }
  fail(undefined);
  assert.equal((await call('POST', RUNS, { body: { prompt: 'x' } })).status, 202);
  assert.equal((await call('GET', '/ready')).status, 200);
  assert.ok(lines.some((line) => line.startsWith('error a request failed')));
});

test('a fault of the server tells nothing of itself', async (t) => {
  const { call, lines } = await aServer(t, {
    wrap: (host) => ({
      ...host,
      agents: () => {
        throw new TypeError('cannot read a secret place');
      },
    }),
  });
  const { status, code, body } = await call('GET', '/api/v1/agents');
  assert.deepEqual([status, code, JSON.stringify(body).includes('secret')], [500, 'internal_error', false]);
  assert.ok(lines.some((line) => line.includes('cannot read')));
});

test('replies say how they may be used', async (t) => {
  const { call } = await aServer(t);
  const { headers } = await call('GET', RUNS);
  assert.deepEqual(
    ['x-content-type-options', 'cache-control', 'content-security-policy'].map((name) => headers.get(name)),
    ['nosniff', 'no-store', "default-src 'none'; frame-ancestors 'none'"],
  );
});

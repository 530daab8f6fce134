// Every mutation happens once, however often it is sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryControlStore } from '../../src/adapters/stores/control/memory.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { StillClock } from '../conformance/log-samples.ts';
import { aServer, linesFile, type Served } from './server.ts';
import { readFileSync } from 'node:fs';

const RUNS = '/api/v1/runs';
const withKey = (key: string, body: unknown = { prompt: 'hello' }) => ({ body, headers: { 'idempotency-key': key } });

async function count({ call }: Served): Promise<number> {
  const { body } = await call('GET', RUNS);
  return (body['runs'] as unknown[]).length;
}

test('creating twice with one key gives one run, and the second reply says that it is a repetition', async (t) => {
  const served = await aServer(t);
  const first = await served.call('POST', RUNS, withKey('k1'));
  const second = await served.call('POST', RUNS, withKey('k1'));
  assert.deepEqual(second.body, first.body);
  assert.deepEqual(
    [first, second].map(({ status, headers }) => [status, headers.get('idempotency-replayed')]),
    [
      [202, null],
      [202, 'true'],
    ],
  );
  assert.equal(await count(served), 1);
});

test('the same key for another request is a conflict and does nothing', async (t) => {
  const served = await aServer(t);
  await served.call('POST', RUNS, withKey('k1'));
  const { status, code } = await served.call('POST', RUNS, withKey('k1', { prompt: 'other' }));
  assert.deepEqual([status, code, await count(served)], [409, 'idempotency_conflict', 1]);
});

test('the order of keys in a body is no other request', async (t) => {
  const { call } = await aServer(t);
  const first = await call('POST', RUNS, withKey('k1', '{"prompt":"a","metadata":{"x":"1","y":"2"}}'));
  const second = await call('POST', RUNS, withKey('k1', '{"metadata":{"y":"2","x":"1"},"prompt":"a"}'));
  assert.equal(second.body['id'], first.body['id']);
});

test('one key serves several operations and several users', async (t) => {
  const { call, key } = await aServer(t);
  const [ana, bo] = [await key({ userId: 'ana' }), await key({ userId: 'bo' })];
  const first = await call('POST', RUNS, { ...withKey('k1'), as: ana });
  const second = await call('POST', RUNS, { ...withKey('k1'), as: bo });
  const said = await call('POST', `${RUNS}/${String(first.body['id'])}/messages`, {
    ...withKey('k1', { content: 'more' }),
    as: ana,
  });
  assert.deepEqual([second.status, said.status, first.body['id'] === second.body['id']], [202, 202, false]);
});

test('of many at once with one key, one acts, and the others are told to wait or get its reply', async (t) => {
  const served = await aServer(t);
  const asked = await Promise.all(Array.from({ length: 20 }, () => served.call('POST', RUNS, withKey('k1'))));
  const ids = new Set(asked.filter(({ status }) => status === 202).map(({ body }) => body['id']));
  const others = new Set(asked.filter(({ status }) => status !== 202).map(({ code }) => code));
  others.delete('idempotency_in_progress');
  assert.deepEqual([ids.size, [...others]], [1, []]);
  assert.equal(await count(served), 1);
});

test('a refusal is not kept: the same key may be used again once the request is right', async (t) => {
  const { call } = await aServer(t);
  const wrong = await call('POST', RUNS, withKey('k1', { prompt: 'x', agent: 'nobody' }));
  const right = await call('POST', RUNS, withKey('k1'));
  assert.deepEqual([wrong.code, right.status], ['agent_unknown', 202]);
});

test('a message sent twice with one key is said once', async (t) => {
  const { call, begin, rest } = await aServer(t);
  const id = await begin('hello');
  await rest(id);
  const sent = [];
  for (let round = 0; round < 2; round++)
    sent.push(await call('POST', `${RUNS}/${id}/messages`, withKey('k1', { content: 'again' })));
  await rest(id);
  const { body } = await call('GET', `${RUNS}/${id}/events?view=messages`);
  const said = (body['events'] as { role: string; text: string }[]).filter(({ role }) => role === 'user');
  assert.deepEqual(
    said.map(({ text }) => text),
    ['hello', 'again'],
  );
});

/** A server that was killed between an effect and the keeping of its reply, and the next one over the same stores. */
async function killedInBetween(t: Parameters<typeof aServer>[0], path: (id: string) => string, body: unknown) {
  const clock = new StillClock();
  const log = createMemoryLog({ clock: systemClock });
  const control = createMemoryControlStore({ clock });
  const dying = { ...control, settle: () => undefined };
  const first = await aServer(t, { log, control: dying });
  const id = await first.begin('hello');
  await first.rest(id);
  const before = await first.call('POST', path(id), withKey('k1', body));
  const busy = await first.call('POST', path(id), withKey('k1', body));
  clock.pass(60_000);
  const second = await aServer(t, { log: { ...log, close: () => undefined }, control });
  const after = await second.call('POST', path(id), withKey('k1', body));
  return { id, before, busy, after, second };
}

test('a run whose reply was never kept is not begun again', async (t) => {
  const { before, busy, after, second } = await killedInBetween(t, () => RUNS, { prompt: 'once' });
  assert.deepEqual([before.status, busy.code, after.status], [202, 'idempotency_in_progress', 202]);
  assert.deepEqual([after.body['id'], after.headers.get('idempotency-replayed')], [before.body['id'], 'true']);
  assert.equal(await count(second), 2);
});

test('a message whose reply was never kept is not said again', async (t) => {
  const { id, after, second } = await killedInBetween(t, (run) => `${RUNS}/${run}/messages`, { content: 'once' });
  assert.deepEqual([after.status, after.headers.get('idempotency-replayed')], [202, 'true']);
  const { body } = await second.call('GET', `${RUNS}/${id}/events?view=messages`);
  const said = (body['events'] as { role: string; text: string }[]).filter(({ text }) => text === 'once');
  assert.equal(said.length, 1);
});

test('a fork whose reply was never kept is not made again', async (t) => {
  const { before, after, second } = await killedInBetween(t, (run) => `${RUNS}/${run}/fork`, {});
  assert.equal(after.body['id'], before.body['id']);
  assert.equal(await count(second), 2);
});

test('an approval that is sent by two people at once is one execution', async (t) => {
  const served = await aServer(t);
  const file = linesFile(t);
  const id = await served.begin(`write ${file}`);
  const { requests } = (await served.rest(id)) as unknown as { requests: { id: string; digest: string }[] };
  const answer = requests.map(({ id: request, digest }) => ({ request, digest, decision: 'allow' }));
  const given = await Promise.all([1, 2].map(() => served.call('POST', `${RUNS}/${id}/answers`, { body: answer })));
  assert.deepEqual(
    given.map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await served.rest(id))['status'], 'completed');
  assert.equal(readFileSync(file, 'utf8'), 'one\n');
});

test('stop, resume, archive and delete bear being repeated with one key', async (t) => {
  const { call, begin, rest } = await aServer(t);
  const id = await begin('hang');
  const again = async (method: string, verb: string) => {
    const headers = { 'idempotency-key': `k1${verb.slice(1)}` };
    const first = await call(method, `${RUNS}/${id}${verb}`, { headers });
    const second = await call(method, `${RUNS}/${id}${verb}`, { headers });
    return [first.status, second.status, second.headers.get('idempotency-replayed')];
  };
  assert.deepEqual(await again('POST', '/stop'), [202, 202, 'true']);
  await rest(id);
  assert.deepEqual(await again('POST', '/archive'), [200, 200, 'true']);
  assert.deepEqual(await again('DELETE', ''), [204, 204, 'true']);
  assert.equal((await call('GET', `${RUNS}/${id}`)).status, 404);
});

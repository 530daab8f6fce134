// Acceptance cases 48, 51, 53 and 55 to 58: what operators count on.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { RunEntry, RunRequest } from '../../src/client/index.ts';
import { temporaryFolder } from '../stores/temporary.ts';
import { act, aHouse, does, mails } from './house.ts';

test('48 A parked run nobody woke is found by the detector within its limit', async (t) => {
  const log = createMemoryLog({ clock: systemClock });
  // Every word of new work is lost on the way to this engine, and its sweep comes sooner than usual.
  const clock: Clock = { now: () => systemClock.now(), after: (ms, ring) => systemClock.after(Math.min(ms, 50), ring) };
  const house = await aHouse(t, { log, clock, drives: false });
  await house.replica({ drives: true, log: { ...log, onWork: () => () => undefined } });
  const id = await house.begin('hello');
  assert.equal((await house.until(id, ({ terminal }) => terminal)).status, 'completed');
});

test('51 Clock set back one hour during a wait: no effect', async (t) => {
  let ahead = 0;
  const clock: Clock = { now: () => systemClock.now() + ahead, after: (ms, ring) => systemClock.after(ms, ring) };
  const house = await aHouse(t, { clock });
  const run = house.client().run(await house.begin(mails), { giveUpMs: 10_000 });
  const told: string[] = [];
  for await (const event of run) {
    told.push(event.type);
    if (event.type !== 'request') continue;
    ahead = -3_600_000;
    await run.allow(event.request);
  }
  const { status } = await run.snapshot();
  assert.deepEqual([status, house.did, told.includes('request')], ['completed', ['mail Bo'], true]);
  assert.doesNotMatch(JSON.stringify(run.entries()), /"\w*ms":-/i);
});

test('53 Event over the size cap: artifact link, digest over the whole', async (t) => {
  const house = await aHouse(t);
  const [one, other] = [2_000_000, 2_000_001];
  const entryOf = async (bytes: number): Promise<RunEntry> => {
    const id = await house.begin(does({ actions: [act('big', { bytes })] }));
    await house.until(id, ({ terminal }) => terminal);
    const { events } = await house.page(id, { limit: 100 });
    const entry = events.find(({ role }) => role === 'action') as RunEntry; // it ran
    assert.ok(JSON.stringify(entry).length < 1 << 20);
    return entry;
  };
  const [small, large] = [await entryOf(one), await entryOf(other)];
  const { ref, size } = (small.data as { observation: { ref: string; size: number } }).observation;
  assert.match(ref, /^\w/);
  assert.ok(size >= one);
  assert.notEqual(small.digest, large.digest);
});

test('55 Delete: later reads 404, cursors 400, nothing is listed', async (t) => {
  const house = await aHouse(t);
  const [id, other] = [await house.begin('hello'), await house.begin('hello')];
  await house.until(id, ({ terminal }) => terminal);
  const { nextCursor } = await house.page(id);
  assert.equal((await house.call('DELETE', `/api/v1/runs/${id}`)).status, 204);
  for (const route of ['', '/events', '/stream', '/log', `/events?cursor=${nextCursor}`])
    assert.equal((await house.call('GET', `/api/v1/runs/${id}${route}`)).status, 404);
  const stale = await house.call('GET', `/api/v1/runs/${other}/events?cursor=${nextCursor}`);
  assert.deepEqual([stale.status, stale.code], [400, 'invalid_cursor']);
  const { runs } = await house.client().list({ archived: 'any' });
  assert.deepEqual(
    runs.map((one) => one.id),
    [other],
  );
});

test('56 Log sequence is dense under 100 concurrent writers', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.until(id, ({ requests }) => requests.length === 1);
  const run = house.client().run(id);
  await Promise.all(Array.from({ length: 100 }, (_, n) => run.say(`word ${n}`)));
  const seqs: unknown[] = [];
  const said = new Set<string>();
  for await (const fact of house.client().facts(id)) {
    const { seq, type, payload } = fact as { seq: number; type: string; payload: { text: string } };
    seqs.push(seq);
    if (type === 'io.input') said.add(payload.text);
  }
  assert.deepEqual(
    seqs,
    Array.from(seqs, (_, index) => index + 1),
  );
  assert.equal(said.size, 101);
});

test('57 Delivery repeated and reordered: a consumer can restore order', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  const handed: RunEntry[] = [];
  const run = house.client().run(id);
  for await (const event of run) {
    if (event.type === 'entry') handed.push(event.entry);
    if (event.type === 'request') await run.allow(event.request);
  }
  // Twice, and from the last to the first: revision says which is newest, position says where it stands.
  const kept = new Map<string, RunEntry>();
  for (const entry of [...handed, ...handed].reverse())
    if ((kept.get(entry.id)?.revision ?? 0) <= entry.revision) kept.set(entry.id, entry);
  const restored = [...kept.values()].sort((one, other) => one.position - other.position);
  const { events } = await house.page(id, { limit: 100 });
  assert.deepEqual(restored, events);
});

test('58 Two replicas: request made on one, answered on the other', async (t) => {
  const file = path.join(temporaryFolder(t), 'treadle.db');
  const log = await openSqliteLog({ file, clock: systemClock });
  const house = await aHouse(t, { log, drives: false });
  const id = await house.begin(mails);
  const otherLog = await openSqliteLog({ file, clock: systemClock });
  const other = await house.replica({ log: otherLog, drives: true });
  const { requests } = await house.until(id, (run) => run.requests.length === 1);
  const [request] = requests as [RunRequest];
  const answer = [{ request: request.id, digest: request.digest, decision: 'allow' }];
  assert.equal((await house.call('POST', `/api/v1/runs/${id}/answers`, { body: answer })).status, 200);
  await house.until(id, ({ terminal }) => terminal);
  const again = await other.call('POST', `/api/v1/runs/${id}/answers`, { body: answer });
  assert.equal((again.body['receipts'] as readonly { repeated: boolean }[])[0]?.repeated, true);
  assert.deepEqual(house.did, ['mail Bo']);
  await other.end();
  await otherLog.close();
});

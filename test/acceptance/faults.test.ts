// Faults that were found in other runtimes, each with its trigger, tried through the run API.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { TreadleError } from '../../src/base/errors.ts';
import type { RunEntry, RunRequest, Snapshot } from '../../src/client/index.ts';
import type { Log } from '../../src/kernel/log.ts';
import { temporaryFolder } from '../stores/temporary.ts';
import { act, aHouse, does, mails, type House } from './house.ts';

const ended = ({ terminal }: Snapshot): boolean => terminal;
const asks = ({ requests }: Snapshot): boolean => requests.length > 0;
const two = does({ actions: [act('mail', { to: 'Bo' }), act('mail', { to: 'Cy' })] });

/** Answers the first open request. */
async function answer(house: House, id: string, more: object = { decision: 'allow' }): Promise<void> {
  const [request] = (await house.until(id, asks)).requests as [RunRequest];
  const body = [{ request: request.id, run: request.run, digest: request.digest, ...more }];
  const { status } = await house.call('POST', `/api/v1/runs/${id}/answers`, { body });
  assert.equal(status, 200);
}

async function factTypes(house: House, id: string): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const fact of house.client({ as: 'admin' }).facts(id)) types.push((fact as { type: string }).type);
  return types;
}

/** A log that will not take facts of one type, so many times. */
function refusing(log: Log, type: string, times = Infinity): Log {
  let left = times;
  return {
    ...log,
    append(lease, expected, drafts, row) {
      if (left > 0 && drafts.some((one) => one.type === type)) {
        left--;
        throw new TreadleError('log_locked', { place: 'a test' });
      }
      return log.append(lease, expected, drafts, row);
    },
  };
}

test('B104 cursor: entries of one millisecond concatenate to the same list at every page size', async (t) => {
  const now = systemClock.now();
  const clock: Clock = { now: () => now, after: (ms, ring) => systemClock.after(ms, ring) };
  const house = await aHouse(t, { clock });
  const id = await house.begin(does({ actions: [act('look'), act('look'), act('look')] }));
  await house.until(id, ended);
  const all = (await house.page(id, { limit: 100 })).events;
  assert.ok(all.length >= 7 && new Set(all.map(({ at }) => at)).size === 1);
  for (let limit = 1; limit <= all.length + 1; limit++) {
    const read: RunEntry[] = [];
    for (let cursor: string | undefined, hasMore = true; hasMore;) {
      const page = await house.page(id, { limit, ...(cursor !== undefined && { cursor }) });
      read.push(...page.events);
      ({ nextCursor: cursor, hasMore } = page);
    }
    assert.deepEqual(read, all);
  }
});

test('B108 stream/resume: an insert that fails once and a process that is gone leave no gap and no run without an end', async (t) => {
  const log = createMemoryLog({ clock: systemClock });
  const house = await aHouse(t, { log, drives: false });
  const first = await house.replica({ log: refusing(log, 'tool.result', 1), drives: true });
  const id = await house.begin(does({ actions: [act('look')] }, { actions: [act('mail', { to: 'Bo' })] }));
  const seen = new Map<string, RunEntry>();
  const reader = house.client().run(id, { firstPollMs: 5, longestPollMs: 20 });
  for await (const event of reader) {
    if (event.type === 'entry') seen.set(event.entry.id, event.entry);
    if (event.type === 'request') break;
  }
  await first.end();
  await house.replica({ drives: true });
  await answer(house, id);
  await house.until(id, ended);
  const rest = house.client().run(id, { cursor: reader.cursor });
  for await (const event of rest) if (event.type === 'entry') seen.set(event.entry.id, event.entry);
  const kept = [...seen.values()].sort((one, other) => one.position - other.position);
  assert.deepEqual(kept, (await house.page(id, { limit: 100 })).events);
});

test('B109 stream/resume: a reader that comes back twice at once is handed the same, twice', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.until(id, asks);
  const { nextCursor } = await house.page(id, { limit: 1 });
  await answer(house, id);
  const read = async (): Promise<readonly RunEntry[]> => {
    const run = house.client().run(id, { cursor: nextCursor });
    for await (const event of run) assert.notEqual(event.type, 'gap');
    return run.entries();
  };
  const [one, other] = await Promise.all([read(), read()]);
  assert.deepEqual(one, other);
});

test('B013 approval/pairing: a message during an approval leaves no call without a result', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.until(id, asks);
  await house.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'never mind', mode: 'steer' } });
  await house.until(id, ended);
  const { messages } = await house.client().prompt(id, 2);
  const roles = (messages as readonly { role: string }[]).map(({ role }) => role);
  assert.deepEqual(roles.slice(-3), ['assistant', 'tool', 'user']);
  assert.deepEqual(house.did, []);
});

test('B015 approval/resume: after a yes the approved call runs, and only then the model is called', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await answer(house, id);
  await house.until(id, ended);
  const types = await factTypes(house, id);
  const after = types.slice(types.indexOf('hitl.responded'));
  assert.ok(after.indexOf('tool.invoke') < after.indexOf('llm.request'));
});

test('B044 approval/restart: a yes in a fresh process, with nothing but the database', async (t) => {
  const file = path.join(temporaryFolder(t), 'treadle.db');
  const house = await aHouse(t, { log: await openSqliteLog({ file, clock: systemClock }), drives: false });
  const worker = await house.replica({ drives: true });
  const id = await house.begin(mails);
  await house.until(id, asks);
  await worker.end();
  const log = await openSqliteLog({ file, clock: systemClock });
  const fresh = await house.replica({ log, drives: true });
  const { status } = await fresh.call('POST', `/api/v1/nexustrade/agents/${id}/approve`, { body: {} });
  assert.equal(status, 200);
  await house.until(id, ended);
  assert.deepEqual(house.did, ['mail Bo']);
  await fresh.end();
  await log.close();
});

test('B045 approval/restart: a yes the moment a run of several megabytes pauses', async (t) => {
  const house = await aHouse(t);
  const big = { actions: [act('big', { bytes: 2_000_000 }), act('big', { bytes: 2_000_001 })] };
  const run = house.client().run(await house.begin(does(big, { actions: [act('mail', { to: 'Bo' })] })));
  for await (const event of run) if (event.type === 'request') await run.allow(event.request);
  assert.deepEqual([(await run.snapshot()).status, house.did], ['completed', ['mail Bo']]);
});

test('B046 approval/security: a call without a decision on record is not run, in a copy either', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  const [request] = (await house.until(id, asks)).requests as [RunRequest];
  const { body } = await house.call('POST', `/api/v1/runs/${id}/fork`, { body: { at: request.action } });
  const copy = await house.until(String(body['id']), ({ statusKind }) => statusKind !== 'working');
  assert.deepEqual([copy.requests, house.did], [[], []]);
});

test('B047 approval/restart: whoever speaks next does not shadow what was approved', async (t) => {
  const house = await aHouse(t, { drives: false });
  const worker = await house.replica({ drives: true });
  const id = await house.begin(two);
  await house.until(id, ({ requests }) => requests.length === 2);
  await worker.end();
  await answer(house, id);
  const reply = await house.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'hurry' }, as: 'admin' });
  assert.equal(reply.status, 202);
  await house.replica({ drives: true });
  const { requests } = await house.until(id, () => house.did.length === 1);
  assert.deepEqual([house.did, requests.length], [['mail Bo'], 1]);
});

test('B049 approval/resume: a gate that was in force at the pause is in force after a restart', async (t) => {
  const house = await aHouse(t, { drives: false });
  const worker = await house.replica({ drives: true });
  const id = await house.begin(
    does({ actions: [act('mail', { to: 'Bo' })] }, { actions: [act('mail', { to: 'Cy' })] }),
  );
  await house.until(id, asks);
  await worker.end();
  await house.replica({ drives: true });
  await answer(house, id);
  const { requests } = await house.until(id, (run) => asks(run) && house.did.length === 1);
  assert.deepEqual(
    requests.map((one) => one.arguments),
    [{ to: 'Cy' }],
  );
});

test('B110 subagent/approval: an answer goes to the child that asks, and settled siblings do not run again', async (t) => {
  const house = await aHouse(t);
  const task = (prompt: string) => act('delegate', { agent: 'clerk', task: prompt });
  const looks = does({ actions: [act('look')] });
  const id = await house.begin(does({ actions: [task(looks), task(mails)] }), { agent: 'chief' });
  await house.until(id, (run) => asks(run) && run.children.some(({ status }) => status === 'completed'));
  await answer(house, id);
  const { status, children } = await house.until(id, ended);
  assert.deepEqual([status, children.map((one) => one.status)], ['completed', ['completed', 'completed']]);
  assert.deepEqual(house.did.sort(), ['look', 'mail Bo']);
});

test('B111 subagent/approval: where the pause cannot be stored, the tool does not run', async (t) => {
  const log = createMemoryLog({ clock: systemClock });
  let tries = 0;
  const broken: Log = {
    ...refusing(log, 'hitl.requested'),
    take(id, owner, ttlMs) {
      tries++;
      return log.take(id, owner, ttlMs);
    },
  };
  const house = await aHouse(t, { log, drives: false });
  await house.replica({ log: broken, drives: true });
  const task = act('delegate', { agent: 'clerk', task: mails });
  const id = await house.begin(does({ actions: [task] }), { agent: 'chief' });
  await house.until(id, () => tries > 3);
  assert.deepEqual(house.did, []);
});

test('B145 approval/edit: the model sees the call as it ran and that a person changed it; the first is kept for audit', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await answer(house, id, { decision: 'edit', arguments: { to: 'Cy' } });
  await house.until(id, ended);
  const { messages } = await house.client().prompt(id, 2);
  const after = JSON.stringify((messages as readonly { role: string }[]).filter(({ role }) => role !== 'user'));
  assert.match(after, /"to":"Cy"/);
  assert.doesNotMatch(after, /"to":"Bo"/);
  assert.match(after, /changed by ana before it ran/);
  const { events } = await house.page(id, { limit: 100 });
  const data = events.find(({ role }) => role === 'action')?.data as { arguments: unknown; askedFor: unknown };
  assert.deepEqual([data.arguments, data.askedFor, house.did], [{ to: 'Cy' }, { to: 'Bo' }, ['mail Cy']]);
});

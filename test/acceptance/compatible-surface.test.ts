// Acceptance cases 1 to 20: the surface that clients were written for before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auroraCall, AuroraError, type AuroraPage } from './aurora-client.ts';
import { act, aHouse, does, mails, type Call, type House } from './house.ts';

const AGENTS = '/api/v1/nexustrade/agents';

interface Read extends AuroraPage {
  readonly version: number;
}

async function page(house: House, id: string, query = ''): Promise<Read> {
  const { status, body } = await house.call('GET', `${AGENTS}/${id}/events${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Read; // what the cases compare
}

const ids = (one: Pick<AuroraPage, 'events'>): readonly string[] => one.events.map(({ id }) => id);

/** A run of so many messages, with nothing left to do. */
async function aTalk(house: House, messages: number): Promise<string> {
  const id = await house.begin('1');
  await house.rest(id);
  for (let turn = 2; turn <= Math.ceil(messages / 3); turn++) {
    await house.call('POST', `${AGENTS}/${id}/messages`, { body: { content: String(turn) } });
    await house.until(id, ({ turns, terminal }) => terminal && turns === turn);
  }
  return id;
}

/** Reads to the end of what is there. */
async function walk(house: House, id: string, limit: number, cursor?: string): Promise<{ read: Read[]; next: string }> {
  const read: Read[] = [];
  for (let next = cursor; ;) {
    const one = await page(house, id, `?limit=${limit}${next === undefined ? '' : `&cursor=${next}`}`);
    read.push(one);
    next = one.nextCursor;
    if (!one.hasMore) return { read, next };
  }
}

test('1 A page has no wrapper; a snapshot has one', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin('hello');
  await house.rest(id);
  const snapshot = await house.call('GET', `${AGENTS}/${id}`);
  assert.deepEqual(Object.keys(snapshot.body), ['agent']);
  const { events, nextCursor, hasMore, supersededFirst, status, needsInput, terminal } = await page(house, id);
  assert.deepEqual(
    [events.length, typeof nextCursor, hasMore, supersededFirst, status, needsInput, terminal],
    [3, 'string', false, false, 'completed', false, true],
  );
});

test('2 No cursor, limit absent: 50, oldest first', async (t) => {
  const house = await aHouse(t);
  const id = await aTalk(house, 60);
  const { events, hasMore } = await page(house, id);
  assert.deepEqual([events.length, events[0]?.text, events[0]?.role, hasMore], [50, '1', 'user', true]);
});

test('3 limit 1 walks 120 messages without loss or repeat', async (t) => {
  const house = await aHouse(t);
  const id = await aTalk(house, 120);
  const { read } = await walk(house, id, 1);
  const all = read.flatMap(ids);
  assert.deepEqual([all.length, new Set(all).size], [120, 120]);
  assert.deepEqual(all, (await walk(house, id, 100)).read.flatMap(ids));
});

test('4 limit 0, -1, 101, 1.5, "x", "", given twice: 400 each', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin('hello');
  const limits = ['limit=0', 'limit=-1', 'limit=101', 'limit=1.5', 'limit=x', 'limit=', 'limit=1&limit=1'];
  for (const limit of limits) {
    const { status, code } = await house.call('GET', `${AGENTS}/${id}/events?${limit}`);
    assert.deepEqual([limit, status, code], [limit, 400, 'invalid_request']);
  }
});

test('5 Cursor changed by one character: 400; cursor of another run: 400; neither creates anything', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin('hello');
  const other = await house.begin('hello');
  await house.rest(id);
  const { nextCursor } = await page(house, id);
  for (let at = 0; at < nextCursor.length; at++) {
    const changed = nextCursor.slice(0, at) + (nextCursor[at] === 'A' ? 'B' : 'A') + nextCursor.slice(at + 1);
    const { status, code } = await house.call('GET', `${AGENTS}/${id}/events?cursor=${changed}`);
    assert.deepEqual([at, status, code], [at, 400, 'invalid_cursor']);
  }
  const foreign = await house.call('GET', `${AGENTS}/${other}/events?cursor=${nextCursor}`);
  assert.deepEqual([foreign.status, foreign.code], [400, 'invalid_cursor']);
  const { body } = await house.call('GET', AGENTS);
  assert.equal((body['agents'] as readonly unknown[]).length, 2);
});

test('6 Message edited at the boundary between two reads: first item, supersededFirst true', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.rest(id);
  const before = await page(house, id);
  await house.call('POST', `${AGENTS}/${id}/approve`, { body: {} });
  await house.rest(id);
  const after = await page(house, id, `?cursor=${before.nextCursor}`);
  assert.equal(after.events[0]?.id, before.events.at(-1)?.id);
  assert.notEqual(after.events[0]?.digest, before.events.at(-1)?.digest);
  assert.equal(after.supersededFirst, true);
});

test('7 Message edited before the boundary: delivered too', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(does({ actions: [act('mail', { to: 'Bo' }), act('mail', { to: 'Cy' })] }));
  const { requests } = await house.until(id, (run) => run.requests.length === 2);
  const before = await page(house, id);
  const first = requests[0] as (typeof requests)[number]; // two are open
  const answer = { request: first.id, digest: first.digest, decision: 'reject' };
  await house.call('POST', `/api/v1/runs/${id}/answers`, { body: [answer] });
  const after = await house
    .until(id, (run) => run.requests.length === 1)
    .then(() => page(house, id, `?cursor=${before.nextCursor}`));
  assert.equal(before.events.at(-1)?.id, requests[1]?.action);
  assert.deepEqual(ids(after), [first.action]);
});

test('8 Edited twice between reads: delivered once, last content', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.rest(id);
  const { nextCursor, events } = await page(house, id);
  await house.call('POST', `${AGENTS}/${id}/approve`, { body: {} });
  await house.until(id, ({ terminal }) => terminal);
  const after = await page(house, id, `?cursor=${nextCursor}`);
  const action = after.events.filter((one) => one.id === events.at(-1)?.id);
  assert.deepEqual(
    action.map(({ text }) => text),
    ['mail: ok'],
  );
});

test('9 Edited and changed back: digest equal to the delivered one; either nothing or a repeat, never a loss', async (t) => {
  const house = await aHouse(t, { drives: false });
  const id = await house.begin('hello');
  const before = await page(house, id);
  const worker = await house.replica({ drives: true });
  await house.until(id, ({ terminal }) => terminal);
  await worker.end();
  const after = await page(house, id, `?cursor=${before.nextCursor}`);
  // The turn that took the message changed its record, and nothing of what a reader is shown.
  const [message] = before.events;
  const again = after.events.filter((one) => one.id === message?.id);
  assert.ok(again.every((one) => one.digest === message?.digest));
  assert.equal(after.supersededFirst, false);
  assert.deepEqual(
    after.events.slice(-2).map(({ text }) => text),
    ['You said: hello', 'completed'],
  );
});

test('10 Empty page at the tail returns a usable cursor; a later message arrives through it', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin('hello');
  await house.rest(id);
  const { next } = await walk(house, id, 50);
  const empty = await page(house, id, `?cursor=${next}`);
  assert.deepEqual([empty.events.length, empty.hasMore], [0, false]);
  await house.call('POST', `${AGENTS}/${id}/messages`, { body: { content: 'later' } });
  const later = await page(house, id, `?cursor=${empty.nextCursor}`);
  assert.equal(later.events[0]?.text, 'later');
});

test('11 Terminal with 51 messages: page 1 terminal and hasMore; page 2 holds the last', async (t) => {
  const house = await aHouse(t);
  const id = await aTalk(house, 51);
  const { read } = await walk(house, id, 50);
  assert.deepEqual(
    read.map((one) => [one.events.length, one.terminal, one.hasMore]),
    [
      [50, true, true],
      [1, true, false],
    ],
  );
});

test('12 pendingApproval absent when nothing pends; kind plan or action otherwise', async (t) => {
  const house = await aHouse(t);
  const free = await house.begin('hello');
  const action = await house.begin(mails);
  const plan = await house.begin('hello', { agent: 'planner' });
  for (const id of [free, action, plan]) await house.rest(id);
  assert.ok(!('pendingApproval' in (await page(house, free))));
  assert.deepEqual((await page(house, action)).pendingApproval, { kind: 'action' });
  assert.deepEqual((await page(house, plan)).pendingApproval, { kind: 'plan' });
});

test('13 needsInput false while an approval pends, unless both pend', async (t) => {
  const house = await aHouse(t);
  const asking = act('ask_user', { question: 'Which?' });
  const approval = await house.begin(mails);
  const both = await house.begin(does({ actions: [act('mail', { to: 'Bo' }), asking] }));
  await house.rest(approval);
  await house.until(both, ({ requests }) => requests.length === 2);
  assert.equal((await page(house, approval)).needsInput, false);
  assert.deepEqual(
    [(await page(house, both)).needsInput, (await page(house, both)).pendingApproval],
    [true, { kind: 'action' }],
  );
});

test('14 Approve with nothing pending: 400', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin('hello');
  await house.rest(id);
  const { status, code } = await house.call('POST', `${AGENTS}/${id}/approve`, { body: {} });
  assert.deepEqual([status, code], [400, 'nothing_pending']);
});

test('15 Approve with a read-only key 403; with a write key 403; reject with a write key 200', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.rest(id);
  const post = (verb: string, as: 'read' | 'run') => house.call('POST', `${AGENTS}/${id}/${verb}`, { body: {}, as });
  const replies = [await post('approve', 'read'), await post('approve', 'run'), await post('reject', 'run')];
  assert.deepEqual(
    replies.map(({ status, code }) => [status, code]),
    [
      [403, 'insufficient_scope'],
      [403, 'insufficient_scope'],
      [200, undefined],
    ],
  );
  assert.deepEqual(house.did, []);
});

const SEVEN = [
  ['POST', AGENTS, { prompt: 'hello' }],
  ['GET', `${AGENTS}/ID`],
  ['GET', `${AGENTS}/ID/events`],
  ['POST', `${AGENTS}/ID/approve`, {}],
  ['POST', `${AGENTS}/ID/reject`, {}],
  ['POST', `${AGENTS}/ID/stop`, {}],
  ['POST', `${AGENTS}/ID/messages`, { content: 'hello' }],
] as const;

test('16 Sandbox key: 403 compute_forbidden on all seven routes', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin('hello');
  for (const [method, route, body] of SEVEN) {
    const { status, code } = await house.call(method, route.replace('ID', id), { body, as: 'compute' });
    assert.deepEqual([route, status, code], [route, 403, 'compute_forbidden']);
  }
});

test('17 Foreign run and unknown run: same 404, same body, same timing class', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin('hello');
  const told = async (route: string, method: string, body: unknown, run: string): Promise<unknown> => {
    const reply = await house.call(method, route.replace('ID', run), { body, as: 'foreign' });
    const { requestId, ...error } = reply.body['error'] as { requestId: string };
    assert.ok(requestId.length > 0);
    return [reply.status, error];
  };
  for (const [method, route, body] of SEVEN.slice(1)) {
    const [foreign, unknown] = [await told(route, method, body, id), await told(route, method, body, 'run_nowhere')];
    assert.deepEqual(foreign, unknown);
    assert.equal((foreign as readonly unknown[])[0], 404);
  }
});

test('18 OAuth token: 401', async (t) => {
  const house = await aHouse(t);
  const token = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbmEifQ.';
  const reply = await auroraCall({ base: `${house.url}/api/v1`, key: token }, 'GET', 'agents/run_1');
  assert.deepEqual([reply.status, (reply.body as { error: { code: string } }).error.code], [401, 'invalid_token']);
});

test('19 Create twice with one key: one run, same id, second reply marked as a repeat; other body: 409; concurrent twin: 409 or the same reply', async (t) => {
  const house = await aHouse(t);
  const headers = { 'idempotency-key': 'work-1' };
  const create = (prompt: string, more: Call = { headers }) =>
    house.call('POST', AGENTS, { body: { prompt }, ...more });
  const idOf = (reply: { body: Record<string, unknown> }): unknown => (reply.body['agent'] as { id: string }).id;
  const [first, second, other] = [await create('hello'), await create('hello'), await create('bye')];
  assert.equal(idOf(first), idOf(second));
  assert.deepEqual(
    [first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')],
    [null, 'true'],
  );
  assert.deepEqual([other.status, other.code], [409, 'idempotency_conflict']);
  const twins = await Promise.all([1, 2, 3].map(() => create('twin', { headers: { 'idempotency-key': 'work-2' } })));
  const runs = new Set(twins.filter(({ status }) => status === 200).map(idOf));
  assert.equal(runs.size, 1);
  assert.ok(twins.every(({ status, code }) => status === 200 || code === 'idempotency_in_progress'));
});

test('20 Snapshot and page read during a change: versions tell which is newer', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.rest(id);
  const { version } = await page(house, id);
  await house.call('POST', `${AGENTS}/${id}/approve`, { body: {} });
  await house.until(id, ({ terminal }) => terminal);
  const { body } = await house.call('GET', `${AGENTS}/${id}`);
  const agent = body['agent'] as { version: number; status: string };
  assert.ok(agent.version > version);
  assert.equal((await page(house, id)).version, agent.version);
});

/** Reads to the end, and says how much there was. */
async function drained(run: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const event of run) if (event !== undefined) count++;
  return count;
}

test('a client that was written from the description alone creates, reads, approves, says, stops and attaches', async (t) => {
  const house = await aHouse(t);
  const aurora = house.aurora();
  const run = await aurora.create(mails);
  const told: string[] = [];
  for await (const event of run) {
    told.push(event.type === 'message' ? `${event.message.role}${event.supersedes ? '!' : ''}` : `(${event.on})`);
    if (event.type === 'blocked') await run.approve();
  }
  assert.deepEqual([run.status, run.terminal, house.did], ['completed', true, ['mail Bo']]);
  assert.match(told.join(' '), /^user action.* \(action\) action!.* assistant end$/);

  await run.say('and more');
  for await (const event of run) if (event.type === 'message') told.push(event.message.text);
  assert.deepEqual(told.slice(-2), ['You said: and more', 'completed']);

  const again = await aurora.attach(run.id);
  assert.ok((await drained(again)) > 0);
  assert.deepEqual([...again.messages.values()], [...run.messages.values()]);
  const later = await aurora.attach(run.id, run.cursor);
  for await (const event of later) assert.fail(`nothing is new, and yet there was ${event.type}`);

  const asking = await aurora.create(does({ actions: [act('ask_user', { question: 'Which?' })] }));
  for await (const event of asking) if (event.type === 'blocked') await asking.say('the blue one');
  assert.equal(asking.status, 'completed');

  const refused = await aurora.create(mails);
  for await (const event of refused) if (event.type === 'blocked') await refused.reject();
  const slow = await aurora.create(does({ actions: [act('slow')] }));
  await house.until(slow.id, () => house.did.includes('slow began'));
  await slow.stop();
  await drained(slow);
  assert.deepEqual([refused.status, slow.status, house.did.slice(1)], ['completed', 'stopped', ['slow began']]);
  await assert.rejects(aurora.attach('run_nowhere'), (error) => error instanceof AuroraError && error.status === 404);
});

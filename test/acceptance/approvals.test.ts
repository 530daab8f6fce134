// Acceptance cases 21 to 31 and 35: decisions that a person owes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRequest } from '../../src/client/index.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { Log } from '../../src/kernel/log.ts';
import { act, aHouse, does, mails, type House, type Replica, type Reply } from './house.ts';

const three = does({ actions: ['Bo', 'Cy', 'Di'].map((to) => act('mail', { to })) });

function answers(at: Replica, id: string, ...given: readonly object[]): Promise<Reply> {
  return at.call('POST', `/api/v1/runs/${id}/answers`, { body: given });
}

function yes({ id, digest, run }: RunRequest): object {
  return { request: id, digest, run, decision: 'allow' };
}

/** A run that waits for one decision, and what it waits for. */
async function waiting(house: House, prompt = mails): Promise<{ readonly id: string; readonly request: RunRequest }> {
  const id = await house.begin(prompt);
  const { requests } = await house.until(id, (run) => run.requests.length > 0);
  return { id, request: requests[0] as RunRequest }; // there is one
}

/** What came of the first action, as the run's readers see it. */
async function observed(house: House, id: string): Promise<unknown> {
  const { events } = await house.page(id, { limit: 100 });
  const data = events.find(({ role }) => role === 'action')?.data as { observation?: unknown };
  return data.observation;
}

test('21 Two approvers at once: one execution, both get the same receipt', async (t) => {
  const house = await aHouse(t);
  const { id, request } = await waiting(house);
  const [one, two] = await Promise.all([answers(house, id, yes(request)), answers(house, id, yes(request))]);
  const receipts = [one, two].map(({ body }) => (body['receipts'] as readonly { repeated: boolean }[])[0]);
  assert.deepEqual(receipts.map((receipt) => receipt?.repeated).sort(), [false, true]);
  assert.deepEqual({ ...receipts[0], repeated: 0 }, { ...receipts[1], repeated: 0 });
  await house.until(id, ({ terminal }) => terminal);
  assert.deepEqual(house.did, ['mail Bo']);
});

test('22 Approve after the arguments changed: 409, nothing runs', async (t) => {
  const house = await aHouse(t);
  const seen = await waiting(house, does({ actions: [act('mail', { to: 'Cy' })] }));
  const { id, request } = await waiting(house);
  assert.notEqual(seen.request.digest, request.digest);
  const { status, code } = await answers(house, id, yes({ ...request, digest: seen.request.digest }));
  assert.deepEqual([status, code, house.did], [409, 'digest_mismatch', []]);
  assert.equal((await house.snapshot(id)).requests.length, 1);
});

test('23 Approve after expiry: 410; the tool’s result says expired', async (t) => {
  let ahead = 0;
  const clock: Clock = { now: () => systemClock.now() + ahead, after: (ms, ring) => systemClock.after(ms, ring) };
  const plugins = '  gate.tool_approval: { expires_in_ms: 60000 }';
  const house = await aHouse(t, { clock, plugins });
  const { id, request } = await waiting(house);
  ahead = 61_000;
  const { status, code } = await answers(house, id, yes(request));
  assert.deepEqual([status, code], [410, 'request_expired']);
  await house.until(id, ({ terminal }) => terminal);
  assert.match(JSON.stringify(await observed(house, id)), /expire/);
  assert.deepEqual(house.did, []);
});

test('24 Approve, crash before execution, restart: runs once', async (t) => {
  const house = await aHouse(t, { drives: false });
  const before = await house.replica({ drives: true });
  const { id, request } = await waiting(house);
  await before.end();
  assert.equal((await answers(house, id, yes(request))).status, 200);
  assert.deepEqual(house.did, []);
  await house.replica({ drives: true });
  await house.until(id, ({ terminal }) => terminal);
  assert.deepEqual(house.did, ['mail Bo']);
});

/** A log whose process is gone before what an action came to can be written. */
function mortal(log: Log): Log & { readonly died: boolean } {
  let died = false;
  return {
    ...log,
    append(lease, expected, drafts, row) {
      if (drafts.some(({ type }) => type === 'tool.result')) died = true;
      if (died) throw new Error('the process is gone');
      return log.append(lease, expected, drafts, row);
    },
    renew: (lease, ms) => (died ? undefined : log.renew(lease, ms)),
    release: (lease, more) => (died ? undefined : log.release(lease, more)),
    take: (id, owner, ms) => (died ? undefined : log.take(id, owner, ms)),
    get died() {
      return died;
    },
  };
}

for (const [number, name, tool] of [
  ['25', 'Crash during execution', 'slow'],
  ['26', 'Crash after execution, before the record', 'mail'],
] as const) {
  test(`${number} ${name}: shown as unknown, not re-run by itself`, async (t) => {
    let ahead = 0;
    const clock: Clock = { now: () => systemClock.now() + ahead, after: (ms, ring) => systemClock.after(ms, ring) };
    const log = createMemoryLog({ clock });
    const house = await aHouse(t, { log, clock, drives: false });
    const dying = mortal(log);
    const first = await house.replica({ log: dying, drives: true });
    const { id, request } =
      tool === 'mail'
        ? await waiting(house)
        : { id: await house.begin(does({ actions: [act('slow')] })), request: undefined };
    if (request !== undefined) await answers(house, id, yes(request));
    await house.until(id, () => house.did.length === 1 && (tool === 'slow' || dying.died));
    await first.end(); // what it would still write cuts it off
    ahead += 10 * 60_000; // longer than any lease
    await house.replica({ drives: true });
    await house.until(id, ({ terminal }) => terminal);
    assert.deepEqual(house.did, [tool === 'mail' ? 'mail Bo' : 'slow began']);
    assert.match(JSON.stringify(await observed(house, id)), /"outcome":"(unknown|interrupted)"/);
  });
}

test('27 Attach from a second process and answer: works, no key clash', async (t) => {
  const house = await aHouse(t);
  const { id } = await waiting(house, three);
  const other = await house.replica();
  const handles = [house.client().run(id), other.client().run(id), other.client().run(id)];
  for (const handle of handles) {
    const [request] = (await handle.snapshot()).requests;
    const { receipts } = await handle.allow(request as RunRequest); // one is open for each
    assert.equal(receipts[0]?.repeated, false);
  }
  await house.until(id, ({ terminal }) => terminal);
  assert.deepEqual(house.did.sort(), ['mail Bo', 'mail Cy', 'mail Di']);
});

test('28 Answer one of three requests: two remain, listed', async (t) => {
  const house = await aHouse(t);
  const { id, request } = await waiting(house, three);
  const { requests } = await house.until(id, (run) => run.requests.length === 3);
  const { body } = await answers(house, id, yes(request));
  const open = (body['open'] as readonly RunRequest[]).map((one) => one.id);
  assert.deepEqual(
    open,
    requests.slice(1).map((one) => one.id),
  );
  const approve = await house.call('POST', `/api/v1/nexustrade/agents/${id}/approve`, { body: {} });
  assert.deepEqual([approve.status, approve.code], [409, 'ambiguous_request']);
});

test('29 Answer with edited arguments that fail validation: 400, request stays open', async (t) => {
  const house = await aHouse(t);
  const { id, request } = await waiting(house);
  const edit = { ...yes(request), decision: 'edit', arguments: { to: 7 } };
  const { status, code } = await answers(house, id, edit);
  assert.deepEqual([status, code, house.did], [400, 'answer_invalid', []]);
  assert.deepEqual((await house.snapshot(id)).requests[0], request);
});

test('30 Reject: the model sees the reason as the call’s result', async (t) => {
  const house = await aHouse(t);
  const { id, request } = await waiting(house);
  await answers(house, id, { ...yes(request), decision: 'reject', note: 'Bo is away.' });
  await house.until(id, ({ terminal }) => terminal);
  const prompt = await house.client({ as: 'admin' }).prompt(id, 2);
  assert.match(JSON.stringify(prompt.messages), /Bo is away\./);
  assert.deepEqual(house.did, []);
});

test('31 Request withdrawn when the run is stopped', async (t) => {
  const house = await aHouse(t);
  const { id, request } = await waiting(house);
  await house.call('POST', `/api/v1/runs/${id}/stop`);
  const { requests } = await house.until(id, ({ terminal }) => terminal);
  assert.deepEqual(requests, []);
  const { status, code } = await answers(house, id, yes(request));
  assert.deepEqual([status, code, house.did], [409, 'request_withdrawn', []]);
});

test('35 Child’s request shows at the parent with a route; answering at either place works once', async (t) => {
  const house = await aHouse(t);
  const task = act('delegate', { agent: 'clerk', task: mails });
  for (const place of ['parent', 'child'] as const) {
    const id = await house.begin(does({ actions: [task] }), { agent: 'chief' });
    const { requests, children } = await house.until(id, (run) => run.requests.length > 0);
    const request = requests[0] as RunRequest; // there is one
    assert.deepEqual([request.run, request.agentPath], [children[0]?.id, 'chief/clerk']);
    const at = place === 'parent' ? id : request.run;
    const other = place === 'parent' ? request.run : id;
    const [first, second] = [await answers(house, at, yes(request)), await answers(house, other, yes(request))];
    const repeated = [first, second].map(
      ({ body }) => (body['receipts'] as readonly { repeated: boolean }[])[0]?.repeated,
    );
    assert.deepEqual(repeated, [false, true]);
    await house.until(id, ({ terminal }) => terminal);
  }
  assert.deepEqual(house.did, ['mail Bo', 'mail Bo']);
});

// Decisions of people: bound to what they saw, given once, wherever and however often they are sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Script } from '../../src/adapters/models/script.ts';
import { aClock } from '../support/sim-clock.ts';
import { aBundle, aCaller, ana, withHost } from './a-host.ts';

const mails = (...to: string[]): Script => [
  { text: 'I will mail.', actions: to.map((one) => ({ name: 'mail', arguments: { to: one } })) },
  { text: 'Mailed.' },
];

test('an approved action runs once, and the run finishes', () =>
  withHost({ script: mails('Bo') }, async ({ host, sent, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
    const waiting = await until(run.id, ({ status }) => status === 'pending_action_approval');
    const [request] = waiting.requests;
    assert.deepEqual([request?.name, request?.arguments, request?.run], ['mail', { to: 'Bo' }, run.id]);
    const { receipts, open } = await host.runs.answer(ana, run.id, [
      { request: request!.id, digest: request!.digest, decision: 'allow' },
    ]);
    assert.deepEqual([receipts[0]?.repeated, receipts[0]?.by, open], [false, 'ana', []]);
    const ended = await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual([ended.status, ended.answer, sent], ['completed', 'Mailed.', ['Bo']]);
  }));

test('two approvers at once: one execution, and both get the same receipt', () =>
  withHost({ script: mails('Bo') }, async ({ host, sent, until, another }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
    const { requests } = await until(run.id, ({ requests: open }) => open.length === 1);
    const { id: request, digest } = requests[0]!;
    const other = await another();
    const boss = aCaller({ userId: 'boss' }, 'admin');
    const answers = await Promise.all([
      host.runs.answer(ana, run.id, [{ request, digest, decision: 'allow' }]),
      other.runs.answer(boss, run.id, [{ request, digest, decision: 'reject' }]),
    ]);
    const [first, second] = answers.map(({ receipts: [receipt] }) => receipt!);
    assert.deepEqual({ ...second, repeated: 0 }, { ...first, repeated: 0 });
    assert.deepEqual([first!.repeated, second!.repeated].sort(), [false, true]);
    await until(run.id, ({ terminal }) => terminal);
    assert.equal(sent.length, first!.decision === 'allow' ? 1 : 0);
    const again = await other.runs.answer(boss, run.id, [{ request, digest, decision: 'reject' }]);
    assert.deepEqual({ ...again.receipts[0], repeated: 0 }, { ...first, repeated: 0 });
  }));

test('answering one of three leaves two open, listed; the rest in any order', () =>
  withHost({ script: mails('Al', 'Bo', 'Cy') }, async ({ host, sent, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail all.' });
    const { requests } = await until(run.id, ({ requests: open }) => open.length === 3);
    const [al, bo, cy] = requests;
    const give = (one: typeof al, decision: 'allow' | 'reject') => ({
      request: one!.id,
      digest: one!.digest,
      decision,
    });
    const partly = await host.runs.answer(ana, run.id, [give(bo, 'allow')]);
    assert.deepEqual(
      partly.open.map(({ id }) => id),
      [al!.id, cy!.id],
    );
    await host.runs.answer(ana, run.id, [give(cy, 'allow'), { ...give(al, 'reject'), note: 'not Al' }]);
    await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual(sent.toSorted(), ['Bo', 'Cy']);
    const { events } = await host.runs.events(ana, run.id);
    assert.match(JSON.stringify(events.find((one) => one.id === al!.action)?.data), /not Al/);
  }));

test('an answer to other arguments than those that are asked about is refused, and nothing runs', () =>
  withHost({ script: mails('Bo') }, async ({ host, sent, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
    const { requests } = await until(run.id, ({ requests: open }) => open.length === 1);
    const given = { request: requests[0]!.id, digest: '0'.repeat(64), decision: 'allow' as const };
    await assert.rejects(host.runs.answer(ana, run.id, [given]), { code: 'digest_mismatch' });
    const after = await host.runs.snapshot(ana, run.id);
    assert.deepEqual([after.requests.length, after.status, sent], [1, 'pending_action_approval', []]);
  }));

test('an edit that the tool does not take is told to the person, and the request stays open', () =>
  withHost({ script: mails('Bo') }, async ({ host, sent, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
    const { requests } = await until(run.id, ({ requests: open }) => open.length === 1);
    const edit = { request: requests[0]!.id, digest: requests[0]!.digest, decision: 'edit' as const };
    await assert.rejects(host.runs.answer(ana, run.id, [{ ...edit, arguments: { to: 7 } }]), {
      code: 'answer_invalid',
    });
    assert.equal((await host.runs.snapshot(ana, run.id)).requests.length, 1);
    await host.runs.answer(ana, run.id, [{ ...edit, arguments: { to: 'Al' } }]);
    await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual(sent, ['Al']);
  }));

test('a mistake in one of several answers answers none', () =>
  withHost({ script: mails('Al', 'Bo') }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail both.' });
    const { requests } = await until(run.id, ({ requests: open }) => open.length === 2);
    const [al] = requests;
    const answers = [
      { request: al!.id, digest: al!.digest, decision: 'allow' as const },
      { request: 'nobody', digest: al!.digest, decision: 'allow' as const },
    ];
    await assert.rejects(host.runs.answer(ana, run.id, answers), { code: 'request_unknown' });
    assert.equal((await host.runs.snapshot(ana, run.id)).requests.length, 2);
  }));

test('approving works for the one approval that is open, and says so otherwise', () =>
  withHost({ script: mails('Al', 'Bo') }, async ({ host, sent, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail both.' });
    const { requests } = await until(run.id, ({ requests: open }) => open.length === 2);
    await assert.rejects(host.runs.approve(ana, run.id), { code: 'ambiguous_request' });
    const { id: request, digest } = requests[0]!;
    await host.runs.answer(ana, run.id, [{ request, digest, decision: 'reject' }]);
    await host.runs.approve(ana, run.id);
    await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual(sent, ['Bo']);
    await assert.rejects(host.runs.approve(ana, run.id), { code: 'nothing_pending' });
  }));

test('approving needs the scope to approve, refusing the scope to run', () =>
  withHost({ script: mails('Bo') }, async ({ host, sent, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
    const { requests } = await until(run.id, ({ requests: open }) => open.length === 1);
    const given = { request: requests[0]!.id, digest: requests[0]!.digest };
    const runner = aCaller({}, 'run');
    await assert.rejects(host.runs.approve(aCaller({}, 'read'), run.id), { code: 'insufficient_scope' });
    await assert.rejects(host.runs.approve(runner, run.id), { code: 'insufficient_scope' });
    await assert.rejects(host.runs.answer(runner, run.id, [{ ...given, decision: 'edit', arguments: { to: 'Al' } }]), {
      code: 'insufficient_scope',
    });
    await host.runs.reject(runner, run.id, 'no');
    await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual(sent, []);
  }));

test('a request that is withdrawn by a stop cannot be answered any more', () =>
  withHost({ script: mails('Bo') }, async ({ host, sent, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
    const { requests } = await until(run.id, ({ requests: open }) => open.length === 1);
    await host.runs.stop(ana, run.id);
    const stopped = await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual([stopped.status, stopped.requests], ['stopped', []]);
    const given = { request: requests[0]!.id, digest: requests[0]!.digest, decision: 'allow' as const };
    await assert.rejects(host.runs.answer(ana, run.id, [given]), { code: 'request_withdrawn' });
    assert.deepEqual(sent, []);
  }));

test('after its time a request is refused as expired, and the agent is told so', async () => {
  const clock = aClock();
  await withHost(
    {
      script: mails('Bo'),
      clock,
      bundle: aBundle('plugins: { gate.tool_approval: { expires_in_ms: 60000 } }'),
      drives: false,
    },
    async ({ host, sent }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
      const [bundle] = host.bundles;
      const row = { ...run, agentPath: 'main', bundle: 'post', userId: 'ana', tenant: 'local', createdAt: clock.now() };
      await bundle!.worker.drive(row);
      const { requests } = await host.runs.snapshot(ana, run.id);
      clock.advance(61_000);
      const given = { request: requests[0]!.id, digest: requests[0]!.digest, decision: 'allow' as const };
      await assert.rejects(host.runs.answer(ana, run.id, [given]), { code: 'request_expired' });
      await bundle!.worker.drive(row);
      await assert.rejects(host.runs.answer(ana, run.id, [given]), { code: 'request_expired' });
      const { events } = await host.runs.events(ana, run.id);
      assert.match(JSON.stringify(events.find((one) => one.role === 'action')?.data), /expired/);
      assert.deepEqual(sent, []);
    },
  );
});

test('actions that run one after another wait for a person together with the one that is held', () =>
  withHost({ script: mails('Al', 'Bo'), bundle: aBundle('', '') }, async ({ host, sent, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail both.' });
    const held = await until(run.id, ({ status }) => status === 'pending_action_approval');
    assert.equal(held.requests.length, 1);
    await host.runs.approve(ana, run.id);
    await until(run.id, ({ requests }) => requests.length === 1 && requests[0]!.id !== held.requests[0]!.id);
    assert.deepEqual(sent, ['Al']);
  }));

test('what is said to a run that waits for an answer is the answer, once a key', () =>
  withHost(
    {
      script: [{ actions: [{ name: 'ask_user', arguments: { question: 'Which Bo?' } }] }, { text: 'That one.' }],
      bundle: aBundle().replace(
        / tools:$/m,
        ' tools:\n          - { name: ask, kind: module, module: builtin/ask_user }',
      ),
    },
    async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
      const asking = await until(run.id, ({ status }) => status === 'awaiting_user_input');
      assert.deepEqual([asking.requests[0]?.kind, asking.requests[0]?.decisions], ['input', ['reply', 'reject']]);
      assert.equal((await host.runs.say(ana, run.id, { content: 'The tall one.', key: 'k' })).fresh, true);
      const ended = await until(run.id, ({ terminal }) => terminal);
      assert.equal((await host.runs.say(ana, run.id, { content: 'The tall one.', key: 'k' })).fresh, false);
      await assert.rejects(host.runs.say(ana, run.id, { content: 'Another.', key: 'k' }), {
        code: 'idempotency_conflict',
      });
      const { events } = await host.runs.events(ana, run.id);
      assert.match(JSON.stringify(events.find(({ role }) => role === 'action')?.data), /The tall one/);
      assert.deepEqual([ended.turns, events.filter(({ role }) => role === 'user').length], [1, 1]);
    },
  ));

for (const [decision, status] of [
  ['allow', 'action_approved'],
  ['reject', 'running'],
] as const) {
  test(`until it is taken up, a run whose action got the answer ${decision} is ${status}`, () =>
    withHost({ script: mails('Bo') }, async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
      const { requests } = await until(run.id, ({ requests: open }) => open.length === 1);
      await host.engine.stop({ drainMs: 0 });
      const { id: request, digest } = requests[0]!;
      await host.runs.answer(ana, run.id, [{ request, digest, decision }]);
      assert.equal((await host.runs.snapshot(ana, run.id)).status, status);
    }));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '../../src/platform/runs/caller.ts';
import type { RunAnswer } from '../../src/platform/runs/runs.ts';
import { aCaller, ana, withHost, type HostFixture } from './a-host.ts';

const script = { replies: [{ actions: [{ name: 'mail', arguments: { to: 'bo' } }] }, { text: 'Done.' }], repeat: true };
const bo = aCaller({ userId: 'bo' });

async function asked({ host, until }: HostFixture, caller: Caller = ana): Promise<string> {
  const { run } = await host.runs.create(caller, { prompt: 'Mail bo.' });
  await until(run.id, ({ statusKind }) => statusKind !== 'working');
  return run.id;
}

async function allow({ host, until }: HostFixture, id: string, more: Partial<RunAnswer>, caller = ana): Promise<void> {
  const { requests } = await host.runs.snapshot(caller, id);
  const [{ id: request, digest }] = requests as [(typeof requests)[0]]; // it waits for one answer
  await host.runs.answer(caller, id, [{ request, digest, decision: 'allow', ...more }]);
  await until(id, ({ terminal }) => terminal);
}

test('a request says how far a yes may reach', () =>
  withHost({ script }, async (fixture) => {
    const id = await asked(fixture);
    const [request] = (await fixture.host.runs.snapshot(ana, id)).requests;
    assert.deepEqual(request?.allowance, { scopes: ['conversation', 'always'], about: 'every run of mail' });
  }));

test('what is allowed for always is asked for no more in any run of its user, and in every run of others', () =>
  withHost({ script }, async (fixture) => {
    await allow(fixture, await asked(fixture), { allow: 'always' });
    await fixture.until(await asked(fixture), ({ status }) => status === 'completed');
    const others = await asked(fixture, bo);
    assert.equal((await fixture.host.runs.snapshot(bo, others)).status, 'pending_action_approval');
    const [kept, ...more] = await fixture.host.allowances.list(ana);
    assert.deepEqual([kept?.scope, kept?.tool, kept?.by, more], ['always', 'mail', 'ana', []]);
    assert.deepEqual(await fixture.host.allowances.list(bo), []);
  }));

test('what was taken back is asked for again, and a repeated answer does not bring it back', () =>
  withHost({ script }, async (fixture) => {
    const { allowances, runs } = fixture.host;
    const first = await asked(fixture);
    const { requests } = await runs.snapshot(ana, first);
    const [{ id: request, digest }] = requests as [(typeof requests)[0]]; // as above
    await allow(fixture, first, { allow: 'always' });
    const [kept] = await allowances.list(ana);
    assert.equal(await allowances.revoke(bo, kept?.id ?? ''), false);
    assert.equal(await allowances.revoke(ana, kept?.id ?? ''), true);
    assert.equal(await allowances.revoke(ana, kept?.id ?? ''), false);
    const again = await runs.answer(ana, first, [{ request, digest, decision: 'allow', allow: 'always' }]);
    assert.deepEqual(
      again.receipts.map(({ repeated, allow: reach }) => [repeated, reach]),
      [[true, 'always']],
    );
    assert.deepEqual(await allowances.list(ana), []);
    const second = await asked(fixture);
    assert.equal((await runs.snapshot(ana, second)).status, 'pending_action_approval');
  }));

test('what is allowed for one run is listed with that run, and taken back there', () =>
  withHost({ script }, async (fixture) => {
    const { allowances, runs } = fixture.host;
    const id = await asked(fixture);
    await allow(fixture, id, { allow: 'conversation' });
    assert.deepEqual(await allowances.list(ana), []);
    const [only] = await allowances.list(ana, { run: id });
    assert.deepEqual([only?.scope, only?.run], ['conversation', id]);
    await assert.rejects(allowances.list(bo, { run: id }), { code: 'run_unknown' });
    assert.equal(await allowances.revoke(ana, only?.id ?? '', { run: id }), true);
    await runs.say(ana, id, { content: 'Once more.', mode: 'message' });
    await fixture.until(id, ({ status }) => status === 'pending_action_approval');
  }));

test('nobody says always for somebody else', () =>
  withHost({ script }, async (fixture) => {
    const id = await asked(fixture);
    const admin = aCaller({ userId: 'root' }, 'admin');
    await assert.rejects(allow(fixture, id, { allow: 'always' }, admin), { code: 'answer_invalid' });
    await allow(fixture, id, { allow: 'conversation' }, admin);
    const [only] = await fixture.host.allowances.list(ana, { run: id });
    assert.equal(only?.by, 'root');
  }));

test('only a yes reaches further than to one action', () =>
  withHost({ script }, async (fixture) => {
    const id = await asked(fixture);
    const reject = { decision: 'reject', allow: 'conversation' } as const;
    await assert.rejects(allow(fixture, id, reject), { code: 'answer_invalid' });
    const edit = { decision: 'edit', arguments: { to: 'cy' }, allow: 'always' } as const;
    await assert.rejects(allow(fixture, id, edit), { code: 'answer_invalid' });
  }));

test('an operator says how far a yes may reach', () => {
  const bundle = `
id: post
plugins: { gate.tool_approval: { remember: [] } }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: post, kind: module, module: ./post.tool.js, tool_traits: { mail: { approval: ask } } }
models:
  balanced: { provider: scripted, model: scripted }
`;
  return withHost({ script, bundle }, async (fixture) => {
    const id = await asked(fixture);
    assert.equal((await fixture.host.runs.snapshot(ana, id)).requests[0]?.allowance, undefined);
    await assert.rejects(allow(fixture, id, { allow: 'conversation' }), { code: 'answer_invalid' });
  });
});

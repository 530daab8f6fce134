// Runs below a run: what they ask shows above, with the way to them, and an answer counts wherever it is given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Script } from '../../src/adapters/models/script.ts';
import type { Frame } from '../../src/platform/runs/frame.ts';
import { ana, withHost, type HostFixture } from './a-host.ts';

const script: Script = ({ userText, step }) => {
  if (!userText.startsWith('Mail')) return { text: 'Delegated.' };
  return step === 0 ? { actions: [{ name: 'mail', arguments: { to: 'Bo' } }] } : { text: 'Mailed.' };
};

/** A run that has begun another one, which asks whether it may mail. */
async function aFamily({ host, log, until }: HostFixture, child = 'run_child'): Promise<string> {
  const { run } = await host.runs.create(ana, { prompt: 'Delegate.' });
  await until(run.id, ({ terminal }) => terminal);
  await log.create({
    id: child,
    agent: 'main',
    bundle: 'post',
    userId: 'ana',
    tenant: 'local',
    agentPath: 'main/main',
    createdAt: Date.now(),
    parent: { id: run.id, action: 't1-1-1' },
    root: run.id,
  });
  await log.post(run.id, { type: 'subagent.started', payload: { conversation: child, agent: 'main' } });
  await log.post(child, { type: 'io.input', payload: { text: 'Mail Bo.', mode: 'message' } });
  await until(child, ({ requests }) => requests.length === 1);
  return run.id;
}

test('a child’s request shows at the parent with the way to it, and is answered once, there or here', () =>
  withHost({ script }, async (fixture) => {
    const { host, sent, until } = fixture;
    const parent = await aFamily(fixture);
    const { requests, waitingOn, children, version } = await host.runs.snapshot(ana, parent);
    const [request] = requests;
    assert.deepEqual([request?.run, request?.agentPath, request?.name], ['run_child', 'main/main', 'mail']);
    assert.deepEqual(
      waitingOn.map((one) => [one.kind, one.kind === 'computation' || one.kind === 'gate' ? '' : one.run]),
      [
        ['subagent', 'run_child'],
        ['action', 'run_child'],
      ],
    );
    assert.equal(children[0]?.status, 'pending_action_approval');
    const given = { request: request!.id, digest: request!.digest, decision: 'allow' as const };
    const above = await host.runs.answer(ana, parent, [given]);
    const below = await host.runs.answer(ana, 'run_child', [given]);
    assert.deepEqual([above.receipts[0]?.repeated, below.receipts[0]?.repeated], [false, true]);
    await until('run_child', ({ terminal }) => terminal);
    assert.deepEqual(sent, ['Bo']);
    assert.ok((await host.runs.snapshot(ana, parent)).version > version);
  }));

test('a list has the runs that people began; those below one are listed by its id', () =>
  withHost({ script }, async (fixture) => {
    const { runs } = fixture.host;
    const parent = await aFamily(fixture);
    const ids = async (query: object): Promise<string[]> => (await runs.list(ana, query)).runs.map(({ id }) => id);
    assert.deepEqual([await ids({}), await ids({ parent })], [[parent], ['run_child']]);
  }));

test('two children that ask the same thing under the same id are told apart by their run', () =>
  withHost({ script }, async (fixture) => {
    const { host, log, sent, until } = fixture;
    const parent = await aFamily(fixture);
    await log.create({ ...(await log.find('run_child'))!, id: 'run_twin' });
    await log.post('run_twin', { type: 'io.input', payload: { text: 'Mail Bo.', mode: 'message' } });
    await until('run_twin', ({ requests }) => requests.length === 1);
    const { requests } = await host.runs.snapshot(ana, parent);
    assert.equal(requests.length, 2);
    const { id: request, digest } = requests[0]!;
    await assert.rejects(host.runs.answer(ana, parent, [{ request, digest, decision: 'allow' }]), {
      code: 'ambiguous_request',
    });
    await assert.rejects(host.runs.approve(ana, parent), { code: 'ambiguous_request' });
    await host.runs.answer(ana, parent, [{ request, digest, decision: 'allow', run: 'run_twin' }]);
    await until('run_twin', ({ terminal }) => terminal);
    await host.runs.approve(ana, parent);
    await until('run_child', ({ terminal }) => terminal);
    assert.deepEqual(sent, ['Bo', 'Bo']);
  }));

test('a run stops with all below it, and a page and a follower of it say what is asked there', () =>
  withHost({ script }, async (fixture) => {
    const { host, until } = fixture;
    const parent = await aFamily(fixture);
    assert.deepEqual((await host.runs.events(ana, parent)).pendingApproval, { kind: 'action' });
    const frames = await host.runs.follow(ana, parent, { until: 'removed' });
    const first = await frames.next();
    const status = first.value as Frame | undefined;
    assert.equal(status?.type === 'status' && status.requests[0]?.run, 'run_child');
    await host.runs.stop(ana, parent);
    const stopped = await until('run_child', ({ terminal }) => terminal);
    assert.equal(stopped.status, 'stopped');
    for await (const frame of frames) if (frame.type === 'status' && frame.requests.length === 0) break;
    await host.runs.remove(ana, parent);
    await assert.rejects(host.runs.snapshot(ana, 'run_child'), { code: 'run_unknown' });
  }));

// Runs below runs, work outside and limits, as a server has them: a real bundle, an engine, and people who answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply, ScriptFunction } from '../../src/adapters/models/script.ts';
import type { SelectionStore } from '../../src/kernel/choices.ts';
import { ana, withHost } from './a-host.ts';

/** A chief without tools of its own but to delegate, and a clerk who needs nobody's consent by its own grant. */
const family = (chief = 'subagents: true', post = '') => `
id: post
config: { react: { main: { parallel_tools: true, ${chief} }, clerk: {} } }
surfaces:
  as_consumer:
    default_agent: main
    agents:
      main:
        tools: [${post}]
      clerk:
        tools: [{ name: post, kind: module, module: ./post.tool.js }]
models:
  balanced: { provider: scripted, model: scripted }
`;

/** The parent's own grant of the tools that the clerk has, with what it must ask for. */
const POST = '{ name: post, kind: module, module: ./post.tool.js, tool_traits: { mail: { approval: ask } } }';

const play: ScriptFunction = ({ userText, step, results }): Reply => {
  const [word = '', ...rest] = userText.split(' ');
  if (step > 0) return { text: results[0]?.observation.outcome === 'ok' ? `${word} is done` : `${word} failed` };
  if (word === 'delegate')
    return { actions: [{ name: 'delegate', arguments: { agent: 'clerk', task: rest.join(' ') } }] };
  if (word === 'mail') return { actions: [{ name: 'mail', arguments: { to: rest.join(' ') } }] };
  if (word === 'look') return { actions: [{ name: 'look', arguments: {} }] };
  return { text: 'Hello.' };
};

test('a run delegates, waits without costing anything, and goes on with the answer', () =>
  withHost({ bundle: family(), script: play }, async ({ host, until, sent }) => {
    const { run } = await host.runs.create(ana, { prompt: 'delegate mail bo' });
    const ended = await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual([ended.status, ended.answer, sent], ['completed', 'delegate is done', ['bo']]);
    const [child] = ended.children;
    assert.deepEqual([child?.agent, child?.status], ['clerk', 'completed']);
    assert.equal((await host.runs.snapshot(ana, child?.id ?? '')).parent?.id, run.id);
  }));

test('B110 B128 what the parent asks for the child asks for, whatever its own grant says, and the question reaches the parent', () =>
  withHost({ bundle: family('subagents: true', POST), script: play }, async ({ host, another, until, sent }) => {
    const { run } = await host.runs.create(ana, { prompt: 'delegate mail bo' });
    const waiting = await until(run.id, ({ requests }) => requests.length > 0);
    assert.deepEqual([waiting.status, sent], ['waiting_for_subagents', []]);
    const [request] = waiting.requests;
    assert.deepEqual([request?.agentPath, request?.name], ['main/clerk', 'mail']);
    const [listed] = (await host.runs.list(ana)).runs;
    assert.deepEqual(
      [waiting, listed].map((one) => [one?.status, one?.statusKind]),
      Array(2).fill(['waiting_for_subagents', 'waiting_for_person']),
    );
    for await (const frame of await host.runs.follow(ana, run.id)) {
      if (frame.type !== 'status') continue;
      assert.equal(frame.statusKind, 'waiting_for_person');
      break;
    }
    // Another process answers at the parent, knowing nothing but what is in the log.
    const other = await another();
    await other.runs.approve(ana, run.id);
    const ended = await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual([ended.answer, sent], ['delegate is done', ['bo']]);
  }));

test('B129 B130 what its user has denied the parent, the child has not either', () => {
  const selections: SelectionStore = {
    readSelection: ({ agent }) =>
      agent === 'main'
        ? { value: { schema_version: 1, disabled: { tools: { post: ['look'] } } }, revision: 1 }
        : undefined,
    writeSelection: () => false,
  };
  return withHost({ bundle: family('subagents: true', POST), script: play, selections }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'delegate look' });
    const ended = await until(run.id, ({ terminal }) => terminal);
    const { facts } = await host.runs.log(ana, ended.children[0]?.id ?? '', {});
    const codes = facts.flatMap((fact) => (fact.type === 'tool.result' ? [fact.payload.error?.code] : []));
    assert.deepEqual(codes, ['not_allowed']);
  });
});

test('a stop at the top reaches the run below that waits for a person', () =>
  withHost({ bundle: family('subagents: true', POST), script: play }, async ({ host, until, sent }) => {
    const { run } = await host.runs.create(ana, { prompt: 'delegate mail bo' });
    await until(run.id, ({ requests }) => requests.length > 0);
    await host.runs.stop(ana, run.id);
    const ended = await until(run.id, ({ terminal, children }) => terminal && children[0]?.status === 'stopped');
    assert.deepEqual([ended.status, sent], ['stopped', []]);
  }));

test('a run that began in one process and whose child ended in another goes on', () =>
  withHost({ bundle: family(), script: play, drives: false }, async ({ host, another, log, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'delegate look' });
    const first = await another();
    await first.start();
    await until(run.id, ({ status }) => status !== 'initializing');
    await first.close({ drainMs: 1_000 });
    await (await another()).start();
    assert.equal((await until(run.id, ({ terminal }) => terminal)).status, 'completed');
    assert.equal((await log.list({ limit: 9 })).length, 2);
  }));

test('an agent that is not told to delegate has no tool for it', () =>
  withHost({ bundle: family('subagents: false'), script: play }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'delegate look' });
    const ended = await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual([ended.answer, ended.children], ['delegate failed', []]);
  }));

test('an entry of the inventory grants delegation too, and `max` bounds it', () =>
  withHost(
    {
      bundle: family('subagents: { max: 1 }', '{ name: crew, kind: module, module: builtin/agent }'),
      script: ({ step, userText }): Reply =>
        step > 0 || userText !== 'go'
          ? { text: 'ok' }
          : { actions: ['a', 'b'].map((task) => ({ name: 'delegate', arguments: { agent: 'clerk', task } })) },
    },
    async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'go' });
      const ended = await until(run.id, ({ terminal }) => terminal);
      assert.equal(ended.children.length, 1);
    },
  ));

const looks: ScriptFunction = ({ step }) =>
  step < 3 ? { actions: [{ name: 'look', arguments: {} }] } : { text: 'Enough.' };

for (const [limits, code] of [
  [{ maxIterations: 2 }, 'max_iterations'],
  [{ maxActions: 1 }, 'max_actions'],
  [{ maxTokens: 1 }, 'max_tokens'],
] as const) {
  test(`a run ends at ${code}, says so, and goes on once more is allowed`, () =>
    withHost({ script: (view) => ({ ...looks(view), usage: { input: 10, output: 5 } }) }, async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Look.', limits });
      const ended = await until(run.id, ({ terminal }) => terminal);
      assert.deepEqual([ended.error?.code, ended.stopReason, ended.limits], [code, 'limit', limits]);
      await host.runs.resume(ana, run.id, { limits: { maxActions: 50, maxTokens: 100_000 } });
      const again = await until(run.id, ({ status }) => status === 'completed');
      assert.deepEqual([again.turns, again.answer], [1, 'Enough.']);
    }));
}

// Child runs: begun once, bound to what their parent may, stopped with it, and their answer is the action's result.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../src/adapters/models/script.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { underCeiling } from '../../src/assembly/ceiling.ts';
import { digest } from '../../src/base/digest.ts';
import { TreadleError } from '../../src/base/errors.ts';
import type { Json } from '../../src/base/json.ts';
import { openRequests, openWaits } from '../../src/domain/conversation.ts';
import { statusOf } from '../../src/domain/run.ts';
import { hold } from '../../src/kernel/verdict.ts';
import { delegateTo } from '../../src/kernel/tool.ts';
import type { ConversationMeta, Log } from '../../src/kernel/log.ts';
import type { Tool } from '../../src/kernel/running-tool.ts';
import type { LoopPorts } from '../../src/loop/work.ts';
import { drive } from '../../src/loop/drive.ts';
import { Crash, dyingLog } from '../support/crash-log.ts';
import { aHouse, anAgent, aTool, type House } from '../support/house.ts';
import { brokenRules, type Ledger } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

const delegate = aTool('delegate', ({ agent, task }: { agent: string; task: string }) => delegateTo(agent, task), {
  effect: 'idempotent',
  timeoutMs: 0,
});

interface FamilyOptions {
  readonly log?: Log;
  readonly ledger?: Ledger;
  /** How many tasks the parent hands out at once. */
  readonly tasks?: number;
  readonly holds?: boolean;
  /** Does the child hand its task on? */
  readonly deep?: boolean;
}

/** A parent and a clerk over one log. The task says what the clerk does: `pay`, or `say …`. */
function family({ log, ledger = new Map(), tasks = 1, holds = false, deep = false }: FamilyOptions = {}) {
  const pay = aTool(
    'pay',
    (_: never, { idempotencyKey }) => {
      ledger.set(idempotencyKey, (ledger.get(idempotencyKey) ?? 0) + 1);
      return 'paid';
    },
    { effect: 'once' },
  );
  const tools: readonly Tool[] = [delegate, pay];
  const house = aHouse({
    ...(log === undefined ? {} : { log }),
    tools,
    script: (view): Reply => {
      const said = view.userText;
      if (said === 'go' && view.step === 0)
        return {
          actions: Array.from({ length: tasks }, (_, n) => ({
            name: 'delegate',
            arguments: { agent: 'clerk', task: `pay ${n}` },
          })),
        };
      if (said.startsWith('pay') && view.step === 0)
        return {
          actions: [
            deep ? { name: 'delegate', arguments: { agent: 'clerk', task: 'pay on' } } : { name: 'pay', arguments: {} },
          ],
        };
      return { text: `${said} done` };
    },
    plugins: (bus) => {
      if (!holds) return;
      bus.before('before:tool.invoke', ({ tool }) => (tool.name === 'pay' ? hold('May it pay?') : undefined));
    },
  });
  const agents: LoopPorts['agents'] = {
    assemble({ agent: id }, { ceiling }) {
      const whole = anAgent(tools, { maxSubagents: 2, maxConcurrent: 3 }, { id });
      const agent = underCeiling(whole, ceiling);
      return { agent, digest: digest(agent as unknown as Json), facts: [] };
    },
    tools: (agent) =>
      new Map(
        tools
          .filter(({ definition }) => agent.tools.some(({ name }) => name === definition.name))
          .map((tool) => [tool.definition.name, tool]),
      ),
  };
  const ports = { ...house.ports, agents };
  /** One slice of whatever run. */
  const slice = async (id: string, owner = 'w1') => {
    const meta = (await house.log.find(id)) as ConversationMeta;
    const lease = await house.log.take(id, owner, 60_000);
    if (lease === undefined) throw new Error(`${id} is taken`);
    try {
      return await drive(ports, meta, lease);
    } finally {
      await house.log.release(lease);
    }
  };
  /** Slices for whatever has work, until nothing has. */
  const settleAll = async (): Promise<void> => {
    for (let ready = await house.log.ready(10); ready.length > 0; ready = await house.log.ready(10))
      for (const id of ready) await slice(id);
  };
  return { house, slice, settleAll, ledger };
}

const results = async (house: House, id = 'c1') =>
  (await house.log.read(id, 0, 1_000)).flatMap((fact) => (fact.type === 'tool.result' ? [fact.payload] : []));

test('a delegated task is a run of its own, and its answer the result of the action', async () => {
  const { house, slice, settleAll, ledger } = family();
  await house.say('go');
  assert.equal(statusOf(await slice('c1')), 'waiting_for_subagents');
  const child = await house.log.find('c1.t1-1-1');
  assert.deepEqual(
    [child?.agent, child?.agentPath, child?.parent, child?.root, child?.userId],
    ['clerk', 'main/clerk', { id: 'c1', action: 't1-1-1' }, 'c1', 'ana'],
  );
  assert.deepEqual(
    (await house.log.list({ limit: 9, root: 'c1' })).map(({ id }) => id),
    ['c1.t1-1-1'],
  );
  await settleAll();
  assert.equal((await house.log.find('c1'))?.status, 'completed');
  assert.deepEqual((await results(house))[0]?.value, { run: 'c1.t1-1-1', answer: 'pay 0 done' });
  assert.deepEqual([...ledger], [['c1.t1-1-1/t1-1-1', 1]]);
  assert.deepEqual(brokenRules(await house.log.read('c1', 0, 1_000)), []);
});

test('however often it crashes, a task is begun once and its effect happens once', async () => {
  const clock = aClock();
  for (let at = 1; at < 12; at++) {
    for (const when of ['before', 'after'] as const) {
      const ledger: Ledger = new Map();
      const log = createMemoryLog({ clock });
      await family({ log, ledger }).house.say('go');
      for (const victim of ['c1', 'c1.t1-1-1']) {
        const dying = family({ log: dyingLog(log, { at, when, posts: true }), ledger });
        await dying
          .slice(victim)
          .catch((error: unknown) => assert.ok(error instanceof Crash || TreadleError.is(error)));
        clock.advance(120_000);
      }
      await family({ log, ledger }).settleAll();
      assert.deepEqual([log.find('c1')?.status, log.list({ limit: 9 }).length], ['completed', 2], `${at} ${when}`);
      assert.ok([...ledger.values()].every((times) => times === 1));
    }
  }
});

test('so many at the same time, and the next one is told to wait', async () => {
  const { house, settleAll } = family({ tasks: 3 });
  await house.say('go');
  await settleAll();
  const told = await results(house);
  assert.deepEqual(told.map(({ outcome, error }) => error?.code ?? outcome).sort(), ['ok', 'ok', 'too_many_subagents']);
  assert.equal((await house.log.list({ limit: 9, parent: 'c1' })).length, 2);
});

test('a question in a child run is found by its parent, answered there, and repeats nothing that was done', async () => {
  const { house, settleAll, ledger } = family({ tasks: 2, holds: true });
  await house.say('go');
  await settleAll();
  const tree = await house.log.list({ limit: 9, root: 'c1' });
  assert.deepEqual(
    tree.map(({ status }) => status),
    ['pending_action_approval', 'pending_action_approval'],
  );
  assert.equal((await house.log.find('c1'))?.status, 'waiting_for_subagents');
  for (const { id } of [...tree].reverse()) {
    const payload = { request: 't1-1-1-a1', decision: 'allow' as const, by: 'ana' };
    await house.log.post(id, { type: 'hitl.responded', payload, key: payload.request });
    await settleAll();
  }
  assert.equal((await house.log.find('c1'))?.status, 'completed');
  assert.deepEqual([...ledger.values()], [1, 1]);
});

test('a stop reaches every run below, and each of them ends stopped', async () => {
  const { house, settleAll, ledger } = family({ tasks: 2, holds: true });
  await house.say('go');
  await settleAll();
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  await settleAll();
  const all = await house.log.list({ limit: 9 });
  assert.deepEqual(
    all.map(({ status }) => status),
    ['stopped', 'stopped', 'stopped'],
  );
  assert.deepEqual([...ledger], []);
});

test('a steer sets a delegated task aside and stops its run', async () => {
  const { house, settleAll } = family({ holds: true });
  await house.say('go');
  await settleAll();
  await house.say('never mind', 'steer');
  await settleAll();
  assert.equal((await house.log.find('c1.t1-1-1'))?.status, 'stopped');
  assert.equal((await house.log.find('c1'))?.status, 'completed');
});

test('tasks are handed on only so often', async () => {
  const { house, settleAll } = family({ deep: true });
  await house.say('go');
  await settleAll();
  const all = await house.log.list({ limit: 99 });
  assert.equal(all.length, 5);
  const deepest = all.find(({ agentPath }) => agentPath.split('/').length === 5);
  assert.equal((await results(house, deepest?.id))[0]?.error?.code, 'too_deep');
});

test('an agent that may not delegate is told so', async () => {
  const house = aHouse({
    tools: [delegate],
    script: [{ actions: [{ name: 'delegate', arguments: { agent: 'clerk', task: 'x' } }] }, { text: 'done' }],
  });
  await house.ask('go');
  assert.equal((await results(house))[0]?.error?.code, 'subagents_off');
});

test('a child has nothing that its parent is denied, asks for what its parent asks for, and hands both on', () => {
  const whole = anAgent([aTool('shell', () => 0), aTool('read', () => 0), aTool('mail', () => 0)]);
  const ceiling = { denied: ['shell', 'unknown'], ask: ['mail', 'other'], by: 'c1' };
  const agent = underCeiling(whole, ceiling);
  assert.deepEqual(
    agent.tools.map(({ name, approval }) => [name, approval]),
    [
      ['read', undefined],
      ['mail', 'ask'],
    ],
  );
  assert.deepEqual(
    agent.inactive.map(({ name }) => name),
    ['shell'],
  );
  assert.deepEqual([agent.instructions, underCeiling(whole, undefined)], [whole.instructions, whole]);
});

test('what is left of the limits is shared out, and what a child uses counts for its parent', async () => {
  const { house, slice, settleAll } = family({ tasks: 2 });
  await house.post({ type: 'limits.changed', payload: { limits: { maxActions: 10, maxTokens: 100_000 }, by: 'ana' } });
  await house.say('go');
  const before = await slice('c1');
  const slices = openWaits(before.turn!).map((one) => one.kind === 'subagent' && one.limits?.maxActions);
  assert.deepEqual(slices, [4, 4]);
  await settleAll();
  const after = await house.fold();
  assert.equal(after.spent.actions, 4);
  const child = await house.log.find('c1.t1-1-1');
  assert.deepEqual(child?.limits?.maxActions, 4);
  assert.equal(openRequests(before.turn!).length, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { openRequests, type Turn } from '../../src/domain/conversation.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { install, type Installed, type Plugin } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { Reply } from '../../src/adapters/models/script.ts';
import { endlessLoop } from '../../src/plugins/gates/endless-loop.ts';
import { toolApproval } from '../../src/plugins/gates/tool-approval.ts';
import { staticPlanner } from '../../src/plugins/planners/static.ts';
import { allPlugins } from '../../src/platform/bundle/all-plugins.ts';
import { activeByDefault } from '../../src/plugins/shipped.ts';
import { aHouse, anAgent, aTool, lastOf, type House } from '../support/house.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function put<C>(plugin: Plugin<C>, config: unknown, bus: Bus): Installed {
  return install(plugin, config, { bus, clock: systemClock, logger });
}

/** A model that never finishes. */
const again: Reply = { actions: [{ name: 'poll', arguments: {} }] };
const poll = aTool('poll', () => 1, { repeatable: true });

function endless(config: unknown, maxIterations: number): House {
  return aHouse({
    tools: [poll],
    limits: { maxIterations },
    script: { replies: [again], repeat: true },
    plugins: (bus) => void put(endlessLoop, config, bus),
  });
}

test('a turn is ended after as many model calls as the gate allows, and not one more', async () => {
  for (const cap of [1, 2, 5]) {
    const house = endless({ max_iterations: cap }, 25);
    const { turns } = await house.ask('go');
    assert.equal(turns.at(-1)?.calls, cap);
    const end = turns.at(-1)?.end;
    assert.deepEqual(
      [end?.status, end?.stop, end?.iterations, end?.error?.code],
      ['max_iterations_reached', 'limit', cap, 'max_iterations'],
    );
    const verdict = await lastOf(house, 'gate.verdict');
    assert.deepEqual([verdict?.gate, verdict?.verdict, verdict?.code], ['gate.endless_loop', 'deny', 'max_iterations']);
  }
});

test("the agent's own limit holds when it is lower, and every turn starts its count anew", async () => {
  const house = endless({ max_iterations: 5 }, 3);
  for (const text of ['go', 'and again']) {
    const { turns } = await house.ask(text);
    assert.equal(turns.at(-1)?.calls, 3);
    assert.equal(turns.at(-1)?.end?.status, 'max_iterations_reached');
  }
});

test('an answer in the last call that is allowed is an answer', async () => {
  const house = aHouse({
    tools: [poll],
    script: [again, { text: 'done' }],
    plugins: (bus) => void put(endlessLoop, { max_iterations: 2 }, bus),
  });
  assert.equal((await house.ask('go')).turns.at(-1)?.end?.status, 'completed');
});

test('an agent that wraps up at its limit still has its last call', async () => {
  const house = aHouse({
    tools: [poll],
    limits: { maxIterations: 2 },
    agent: { onLimit: 'wrap_up' },
    script: [again, again, { text: 'so far: 1' }],
    plugins: (bus) => void put(endlessLoop, {}, bus),
  });
  const turn = (await house.ask('go')).turns.at(-1);
  assert.equal(turn?.output, 'so far: 1');
  assert.equal(turn.end?.status, 'max_iterations_reached');
});

test('the model is warned from the iteration that was asked for, in words that count', () => {
  const { bus } = aHouse();
  const warn = (config: unknown, calls: number, maxIterations = 25): string | undefined => {
    const block = put(endlessLoop, config, bus).blocks.get('ITERATION LIMIT');
    const turn = { calls, agent: anAgent([], { maxIterations }) } as unknown as Turn; // all that the block reads
    return block?.(turn, aHouseless, 0);
  };
  assert.equal(warn({ max_iterations: 10, warning_at: 8 }, 6), undefined);
  assert.equal(
    warn({ max_iterations: 10, warning_at: 8 }, 7),
    'iteration 8 of 10, 2 left after this one: finish, or say what is missing',
  );
  assert.match(warn({ max_iterations: 10 }, 9) ?? '', /^iteration 10 of 10, this is the last one/);
  assert.match(warn({ warning_at: 2 }, 1, 3) ?? '', /^iteration 2 of 3, 1 left/);
});

const aHouseless = undefined as never; // the block does not look at the conversation

function desk(ran: unknown[], config: unknown = {}): House {
  return aHouse({
    tools: [
      aTool('mail', (args) => void ran.push(args), { effect: 'once', approval: 'ask' }),
      aTool('look', () => 'seen'),
    ],
    script: [
      {
        actions: [
          { name: 'mail', arguments: { to: 'bo', body: 'hi\u202e\n' } },
          { name: 'look', arguments: {} },
        ],
      },
      { text: '{{results.0.ok}}: {{results.0.error.message}}' },
    ],
    plugins: (bus) => void put(toolApproval, config, bus),
  });
}

async function answer(
  house: House,
  given: { decision: 'allow' | 'reject' | 'edit'; note?: string; arguments?: object },
) {
  const [open] = openRequests((await house.fold()).turn!);
  await house.post({ type: 'hitl.responded', payload: { request: open!.request, by: 'ana', ...given } as never }); // arguments are JSON
  return (await house.drive()).turns.at(-1);
}

test('a tool that is declared to ask waits, and the question shows exactly what would happen', async () => {
  const ran: unknown[] = [];
  const house = desk(ran);
  const { turn } = await house.ask('mail bo');
  assert.deepEqual(ran, []);
  const [open, ...more] = openRequests(turn!);
  assert.equal(more.length, 0, 'a tool that does not ask is not asked about');
  assert.equal(open?.question, String.raw`Allow mail {"body":"hi\u202e\n","to":"bo"}?`);
  const done = await answer(house, { decision: 'allow' });
  assert.deepEqual(ran, [{ to: 'bo', body: 'hi\u202e\n' }]);
  assert.equal(done?.output, 'true: ');
});

test('what a person refuses does not run, and the model reads why', async () => {
  const ran: unknown[] = [];
  const house = desk(ran);
  await house.ask('mail bo');
  const done = await answer(house, { decision: 'reject', note: 'not today' });
  assert.deepEqual(ran, []);
  assert.equal(done?.output, 'false: The user refused this action: not today');
});

test('what a person edits runs as edited', async () => {
  const ran: unknown[] = [];
  const house = desk(ran);
  await house.ask('mail bo');
  await answer(house, { decision: 'edit', arguments: { to: 'cy' } });
  assert.deepEqual(ran, [{ to: 'cy' }]);
});

test('a question too long to show says how much it leaves out', async () => {
  const house = aHouse({
    tools: [aTool('mail', () => 1, { effect: 'once', approval: 'ask' })],
    script: [{ actions: [{ name: 'mail', arguments: { body: 'é'.repeat(3_000) } }] }],
    plugins: (bus) => void put(toolApproval, {}, bus),
  });
  const { turn } = await house.ask('mail');
  const question = openRequests(turn!)[0]?.question ?? '';
  // {"body":" is 9 bytes, each é two and the end two: 6011 in all, of which 9 + 2 * 995 fit into 2000.
  assert.match(question, /^Allow mail \{"body":"é{995}… and 4012 more bytes, which the action itself has\?$/);
});

test('an expiry that is configured becomes the deadline of the question', async () => {
  const house = desk([], { expires_in_ms: 60_000 });
  const { turn } = await house.ask('mail bo');
  const deadline = openRequests(turn!)[0]?.deadline ?? 0;
  assert.ok(deadline > Date.now() && deadline <= Date.now() + 60_000);
});

test('the static planner gives the steps of its configuration, and they reach the model', async () => {
  const house = aHouse({
    agent: { planning: { approval: 'never', placement: 'announce' } },
    plugins: (bus) => void put(staticPlanner, { steps: ['look', { title: 'tell', detail: 'briefly' }] }, bus),
  });
  await house.ask('go');
  assert.deepEqual(await lastOf(house, 'plan.result'), {
    steps: [{ title: 'look' }, { title: 'tell', detail: 'briefly' }],
    source: 'planner.static',
  });
  assert.match((await lastOf(house, 'llm.request'))?.announce ?? '', /1\. look\n2\. tell: briefly/);
});

test('a plan that a person has to agree to waits, and a refusal ends the turn', async () => {
  const house = aHouse({
    agent: { planning: { approval: 'always', placement: 'announce' } },
    plugins: (bus) => void put(staticPlanner, { steps: ['look'] }, bus),
  });
  const { turn } = await house.ask('go');
  assert.equal(openRequests(turn!)[0]?.kind, 'plan');
  assert.equal((await answer(house, { decision: 'reject' }))?.end?.status, 'plan_rejected');
});

test('a configuration that is not accepted is refused with the key', () => {
  const { bus } = aHouse();
  const wrong: readonly (readonly [plugin: Plugin, config: unknown, place: RegExp])[] = [
    [endlessLoop, { max_iterations: 0 }, /gate\.endless_loop\.max_iterations/],
    [endlessLoop, { max: 3 }, /gate\.endless_loop/],
    [toolApproval, { expires_in_ms: 'soon' }, /gate\.tool_approval\.expires_in_ms/],
    [staticPlanner, {}, /planner\.static\.steps/],
  ];
  for (const [plugin, config, place] of wrong)
    assert.throws(() => put(plugin, config, bus), { code: 'plugin_config', message: place });
});

test('the gates that an agent cannot do without are active by default, and ids are unique', () => {
  const ids = allPlugins.map((one) => one.id);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual([...activeByDefault].sort(), ['gate.changed_tool', 'gate.endless_loop', 'gate.tool_approval']);
  for (const id of activeByDefault) assert.ok(ids.includes(id));
});

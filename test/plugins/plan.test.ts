import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { openRequests, type Conversation } from '../../src/domain/conversation.ts';
import { entriesOf, timelineOf } from '../../src/domain/timeline.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { compileTool } from '../../src/platform/grant/catalog.ts';
import { planGroup } from '../../src/plugins/tools/plan.ts';
import { load } from '../support/bundles.ts';
import { Crash, dyingLog, type CrashPoint } from '../support/crash-log.ts';
import { aHouse, lastOf, type House, type HouseOptions } from '../support/house.ts';
import { aClock } from '../support/sim-clock.ts';

const tools = planGroup.tools.map((spec) => {
  const { own: name, definition, hands } = compileTool(spec, 'builtin/plan');
  return { definition: { ...definition, name, group: 'plan' }, ...hands };
});
const planner = (bus: Bus): void =>
  void bus.answer('plan.request', () => ({ steps: [{ title: 'Look' }, { title: 'Leap' }], source: 'planner.test' }));

const call = (update: JsonObject) => ({ actions: [{ name: 'plan_update', arguments: update }] });
const marks = call({ steps: [{ step: 1, status: 'done' }] });
const revises = call({ steps: [{ step: 2, status: 'failed', note: 'too far' }], revise: [{ title: 'Walk' }] });

function aPlan(script: Script, options: Partial<HouseOptions> = {}): House {
  const agent = { planning: { approval: 'never', placement: 'announce' } } as const;
  return aHouse({ script, tools, agent, plugins: planner, ...options });
}

/** The plan's entry, as people and the run API read it. */
async function entryOf(house: House) {
  const plan = entriesOf(timelineOf(await house.facts())).find((one) => one.role === 'plan');
  return plan?.role === 'plan' ? plan.data.steps : undefined;
}

const MARKED = [
  { title: 'Look', status: 'done' },
  { title: 'Leap', status: 'failed', note: 'too far' },
  { title: 'Walk' },
];

test('what the model marks and revises is what the turn and the entry of the plan say', async () => {
  const house = aPlan([marks, revises, { text: 'Done.' }]);
  const { turns } = await house.ask('Go.');
  assert.deepEqual([turns.at(-1)?.progress, await entryOf(house)], [MARKED, MARKED]);
});

for (const [what, house, code] of [
  [
    'a step that is not there',
    aPlan([call({ steps: [{ step: 3, status: 'done' }] }), { text: 'Oh.' }]),
    'unknown_step',
  ],
  ['nothing', aPlan([call({}), { text: 'Oh.' }]), 'nothing_to_update'],
  ['a turn without a plan', aPlan([marks, { text: 'Oh.' }], { agent: {} }), 'no_plan'],
] as const) {
  test(`an update of ${what} is a failure that says so, and changes nothing`, async () => {
    const { turns } = await house.ask('Go.');
    const error = (await lastOf(house, 'tool.result'))?.error;
    assert.deepEqual([error?.code, turns.at(-1)?.progress], [code, undefined]);
  });
}

test('of a plan in the system prompt, which stays as it was made, announce says how far it is', async () => {
  const announced: (string | undefined)[] = [];
  const galleries = new Set<string | undefined>();
  const house = aPlan([revises, { text: 'Done.' }], {
    agent: { planning: { approval: 'never', placement: 'system' } },
    plugins(bus) {
      planner(bus);
      bus.before('before:llm.request', ({ request }) => {
        announced.push(/\[OPEN PLAN\]\n[^]*?(?=\n\n|$)/.exec(request.announce ?? '')?.[0]);
        galleries.add(request.gallery);
      });
    },
  });
  await house.ask('Go.');
  assert.deepEqual(announced, [undefined, '[OPEN PLAN]\n1. [failed] Leap (too far)\n2. Walk']);
  assert.equal(galleries.size, 1);
});

test('who had to agree to the plan is asked about another one, and not about a mark', async () => {
  const house = aPlan([marks, revises, { text: 'Done.' }], {
    agent: { planning: { approval: 'always', placement: 'announce' } },
  });
  await house.ask('Go.');
  await house.post({ type: 'hitl.responded', payload: { request: 't1-plan', decision: 'allow', by: 'ana' } });
  const { turn } = await house.drive();
  assert.deepEqual(turn && openRequests(turn).map(({ question }) => question), [
    'Go on with this plan instead?\n1. [done] Look\n2. [failed] Leap\n3. [open] Walk',
  ]);
});

/** The turn in two processes, the first of which dies at that write. */
async function cut(crash: CrashPoint): Promise<Conversation> {
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const script: Script = [marks, revises, { text: 'Done.' }];
  const house = (over: HouseOptions['log']): House => aPlan(script, { clock, ...(over && { log: over }) });
  await house(log).say('Go.');
  try {
    return await clock.until(house(dyingLog(log, crash)).drive({ owner: 'w1' }));
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
  }
  clock.advance(120_000);
  return await clock.until(house(log).drive({ owner: 'w2' }));
}

test('wherever the process dies, the next one goes on with the steps as they stood', async () => {
  const ends = new Set<string>();
  for (let at = 1; at <= 14; at++)
    for (const when of ['before', 'after'] as const)
      ends.add(JSON.stringify((await cut({ at, when })).turns.at(-1)?.progress));
  assert.deepEqual([...ends], [JSON.stringify(MARKED)]);
});

test('an agent that plans is granted the tool, which nobody can switch off, and another agent is not', async () => {
  const planned = `
plugins: {active: [planner.static], planner.static: {steps: [look]}}
config: {react: {main: {planning: true}, other: {}}}
`;
  const bundle = await load(planned);
  const named = (agent: string) =>
    bundle.agent(agent).grant.tools.map(({ definition: { name, group }, locked }) => [name, group, locked]);
  assert.deepEqual([named('main'), named('other')], [[['plan_update', 'plan', true]], []]);
});

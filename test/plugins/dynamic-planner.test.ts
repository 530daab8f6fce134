import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { deny } from '../../src/kernel/verdict.ts';
import { install } from '../../src/kernel/plugin.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import type { Reply } from '../../src/adapters/models/script.ts';
import { statusOf } from '../../src/domain/run.ts';
import { dynamicPlanner } from '../../src/plugins/planners/dynamic.ts';
import { aHouse, aTool, lastOf, silent, type House } from '../support/house.ts';

const PLAN = '{"summary": "To look", "steps": ["Look", {"title": "Leap", "detail": "far"}]}';

/** A house whose model first plans, then answers. */
function planning(plan: Reply, more: { approval?: 'never' | 'always'; plugins?: (bus: Bus) => void } = {}): House {
  return aHouse({
    script: (view) => (view.request.instructions.startsWith('You plan') ? plan : { text: 'done' }),
    tools: [aTool('look', () => 'it')],
    agent: { planning: { approval: more.approval ?? 'never', placement: 'announce' } },
    plugins(bus) {
      install(dynamicPlanner, {}, { bus, clock: systemClock, logger: silent });
      more.plugins?.(bus);
    },
  });
}

test('a model makes the plan, as an aside on record that knows the tools and what was said', async () => {
  const house = planning({ text: `Here it is:\n${PLAN}` });
  const asked: string[] = [];
  house.bus.before('before:llm.request', ({ request, purpose }) => {
    if (purpose === 'plan') asked.push(JSON.stringify(request.messages));
    return undefined;
  });
  const { turns } = await house.ask('Find it.');
  assert.deepEqual(await lastOf(house, 'plan.result'), {
    steps: [{ title: 'Look' }, { title: 'Leap', detail: 'far' }],
    source: 'planner.dynamic',
    summary: 'To look',
  });
  assert.match(asked[0] ?? '', /- look: look[^]*Find it\./);
  assert.equal(turns.at(-1)?.end?.status, 'completed');
});

test('a second turn is planned with the first in sight', async () => {
  const house = planning({ text: PLAN });
  const asked: string[] = [];
  house.bus.before('before:llm.request', ({ request, purpose }) => {
    if (purpose === 'plan') asked.push(JSON.stringify(request.messages));
    return undefined;
  });
  await house.ask('Find it.');
  await house.ask('And the other one.');
  assert.match(asked[1] ?? '', /Person: Find it\.[^]*Assistant: done/);
});

for (const [what, plan] of [
  ['no JSON', { text: 'I would rather not.' }],
  ['no steps', { text: '{"steps": []}' }],
  ['junk', { text: '{"steps": [1]}' }],
  ['too many steps', { text: JSON.stringify({ steps: Array.from({ length: 11 }, () => 'x') }) }],
  ['a failure', { fault: 'overloaded' }],
] as const)
  test(`a planner that gives ${what} ends the turn with the reason`, async () => {
    const { turns } = await planning(plan).ask('Go.');
    assert.deepEqual([turns.at(-1)?.end?.status, turns.at(-1)?.end?.error?.code], ['error', 'plan_failed']);
  });

test('a gate that refuses the planning call ends the turn, and never hangs it', async () => {
  const plugins = (bus: Bus): void =>
    void bus.before('before:llm.request', ({ purpose }) => (purpose === 'plan' ? deny('no plans') : undefined));
  const { turns } = await planning({ text: PLAN }, { plugins }).ask('Go.');
  assert.match(turns.at(-1)?.end?.error?.message ?? '', /no plans/);
});

test('a plan that was made waits for a person where the agent says so', async () => {
  const conversation = await planning({ text: PLAN }, { approval: 'always' }).ask('Go.');
  assert.equal(statusOf(conversation), 'pending_plan_approval');
});

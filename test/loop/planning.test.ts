import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../src/domain/run.ts';
import { transcript } from '../../src/assembly/transcript.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { aHouse, lastOf, type House } from '../support/house.ts';

const steps = [{ title: 'Look' }, { title: 'Leap', detail: 'far' }];
const planner = (bus: Bus): void => void bus.answer('plan.request', () => ({ steps, source: 'planner.test' }));
type Planning = NonNullable<Parameters<typeof aHouse>[0]>['agent'];

function planned(
  approval: 'never' | 'always',
  placement: 'announce' | 'system' = 'announce',
  plugins: (bus: Bus) => void = planner,
): House {
  const agent: Planning = { planning: { approval, placement } };
  return aHouse({ agent, plugins });
}

test('a plan is asked for before the first model call, and shown in announce', async () => {
  const house = planned('never');
  const announced: (string | undefined)[] = [];
  house.bus.before('before:llm.request', ({ request }) => void announced.push(request.announce));
  await house.ask('go');
  assert.deepEqual(
    [
      (await house.story()).startsWith('io.input agent.turn.start plan.request plan.result llm.request'),
      announced[0]?.includes('[OPEN PLAN]\n1. Look\n2. Leap: far'),
    ],
    [true, true],
  );
});

test('a plan in the system prompt follows the instructions and is not in announce', async () => {
  const house = planned('never', 'system');
  const seen: boolean[] = [];
  house.bus.before(
    'before:llm.request',
    ({ request }) =>
      void seen.push(request.gallery?.includes('1. Look') ?? false, request.announce?.includes('PLAN') ?? false),
  );
  await house.ask('go');
  assert.deepEqual(seen, [true, false]);
});

test('a plan that needs a person waits for one, goes on with a yes and ends with a no', async () => {
  const [yes, no] = [planned('always'), planned('always')];
  const waiting = await yes.ask('go');
  await no.ask('go');
  for (const [house, decision] of [
    [yes, 'allow'],
    [no, 'reject'],
  ] as const) {
    await house.post({ type: 'hitl.responded', payload: { request: 't1-plan', decision, by: 'ana' } });
    await house.drive();
  }
  assert.deepEqual(
    [statusOf(waiting), (await lastOf(yes, 'agent.turn.end'))?.status, (await lastOf(no, 'agent.turn.end'))?.status],
    ['pending_plan_approval', 'completed', 'plan_rejected'],
  );
});

for (const [what, plugins] of [
  ['nobody plans', () => undefined],
  [
    'the planner throws',
    (bus: Bus) =>
      void bus.answer('plan.request', () => {
        throw new Error('no idea');
      }),
  ],
] as const) {
  test(`when ${what}, the turn ends and says so`, async () => {
    const house = planned('never', 'announce', plugins);
    await house.ask('go');
    assert.equal((await lastOf(house, 'agent.turn.end'))?.error?.code, 'plan_failed');
  });
}

test('compaction replaces older turns in what the model sees, and nothing in the log', async () => {
  const house = aHouse({
    script: (view) => ({ text: `answer to ${view.userText}`, usage: { input: view.userText === 'second' ? 500 : 50 } }),
    limits: { contextMaxTokens: 400 },
    plugins: (bus) =>
      bus.answer('memory.compact.request', (_, { conversation }) => ({
        through: conversation.turns.length,
        summary: 'We spoke.',
      })),
  });
  await house.ask('first');
  await house.ask('second');
  const before = await house.facts();
  const texts = transcript(await house.ask('third'), { provider: 'scripted', model: 'scripted' }).map((message) =>
    'content' in message && message.content[0]?.type === 'text' ? message.content[0].text : '',
  );
  assert.deepEqual(
    { texts, kept: (await house.facts()).slice(0, before.length) },
    { texts: ['[SUMMARY OF THE CONVERSATION SO FAR]\nWe spoke.', 'third', 'answer to third'], kept: before },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../src/domain/run.ts';
import { entriesOf, timelineOf } from '../../src/domain/timeline.ts';
import { checkedAnswer } from '../../src/platform/answers.ts';
import { transcript } from '../../src/assembly/transcript.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { aHouse, lastOf, type House } from '../support/house.ts';

const steps = [{ title: 'Look' }, { title: 'Leap', detail: 'far' }];
const planner = (bus: Bus): void => void bus.answer('plan.request', () => ({ steps, source: 'planner.test' }));
type Planning = NonNullable<Parameters<typeof aHouse>[0]>['agent'];

function planned(
  approval: 'never' | 'auto' | 'always',
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

for (const [asks, status] of [
  [true, 'pending_plan_approval'],
  [undefined, 'pending_plan_approval'],
  [false, 'completed'],
] as const) {
  test(`with approval auto, a planner that says ${asks} of asking leaves the run ${status}`, async () => {
    const plan = { steps, source: 'planner.test', ...(asks !== undefined && { asks }) };
    const house = planned('auto', 'announce', (bus) => void bus.answer('plan.request', () => plan));
    assert.equal(statusOf(await house.ask('go')), status);
  });
}

test('a person who is asked may rewrite the plan: that is what the model is given, and the log says whose it is', async () => {
  const house = planned('always');
  const announced: (string | undefined)[] = [];
  house.bus.before('before:llm.request', ({ request }) => void announced.push(request.announce));
  await house.ask('go');
  const written = { steps: [{ title: 'Leap' }, { title: ' Look\nback ' }] };
  const edit = { request: 't1-plan', decision: 'edit', arguments: written, note: 'in haste', by: 'ana' } as const;
  await house.post({ type: 'hitl.responded', payload: edit });
  const { turns } = await house.drive();
  const [entry] = [...entriesOf(timelineOf(await house.facts()))].filter(({ role }) => role === 'plan');
  assert.match(announced[0] ?? '', /\[OPEN PLAN\]\nRewritten by the person: in haste\n1\. Leap\n2\. Look back$/);
  assert.deepEqual(
    [turns.at(-1)?.plan, entry?.role === 'plan' ? [entry.data.editedBy, entry.data.steps] : undefined],
    [
      { source: 'planner.test', steps: [{ title: 'Leap' }, { title: 'Look back' }], editedBy: 'ana', note: 'in haste' },
      ['ana', [{ title: 'Leap' }, { title: 'Look back' }]],
    ],
  );
});

for (const [what, given] of [
  ['no steps', { steps: [] }],
  ['a step without words', { steps: [{ title: ' ' }] }],
  ['something else', { plan: 'x' }],
  ['nothing', undefined],
] as const) {
  test(`a plan that is rewritten as ${what} is refused to the person, and the question stays open`, async () => {
    const house = planned('always');
    const waiting = await house.ask('go');
    const answer = {
      request: 't1-plan',
      decision: 'edit',
      by: 'ana',
      ...(given !== undefined && { arguments: given }),
    } as const;
    assert.throws(() => checkedAnswer(waiting, answer, house.ports.agents), { code: 'answer_invalid' });
  });
}

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

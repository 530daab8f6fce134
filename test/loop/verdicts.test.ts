import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transcript } from '../../src/assembly/transcript.ts';
import type { Conversation } from '../../src/domain/conversation.ts';
import { statusOf, wakeAt } from '../../src/domain/run.ts';
import { askAgain, defer, deny, revise } from '../../src/kernel/verdict.ts';
import { next } from '../../src/loop/next.ts';
import { StillClock } from '../conformance/log-samples.ts';
import { aHouse, aTool, lastOf } from '../support/house.ts';
import { brokenMessages } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

const scripted = { provider: 'scripted', model: 'scripted' };

test('a model call that is put off rests until its time, wherever it goes on, and then the gates are asked again', async () => {
  const clock = new StillClock();
  const at = clock.now() + 5_000;
  let asked = 0;
  const house = aHouse({
    clock,
    script: [{ text: 'hello' }],
    plugins: (bus) =>
      void bus.before('before:llm.request', () => {
        asked++;
        return clock.now() < at ? defer('one at a time', at, 'rate_limited') : undefined;
      }),
  });
  const resting = await house.ask('go');
  assert.deepEqual([statusOf(resting), wakeAt(resting), next(resting).type], ['waiting_for_computation', at, 'rest']);
  await house.drive({ owner: 'another' });
  assert.equal(asked, 1);
  clock.pass(5_000);
  const { turns } = await house.drive({ owner: 'a third' });
  assert.deepEqual([turns.at(-1)?.output, asked], ['hello', 2]);
  assert.match(await house.story(), /gate\.verdict gate\.llm\.retry agent\.turn\.start llm\.request/);
});

test('a turn that is put off can be stopped', async () => {
  const house = aHouse({
    plugins: (bus) => void bus.before('before:llm.request', () => defer('later', Number.MAX_SAFE_INTEGER)),
  });
  await house.ask('go');
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  assert.equal((await house.drive()).turns.at(-1)?.end?.status, 'stopped');
});

test('a gate that denies for good beats one that puts off or asks again, in any order', async () => {
  for (const question of ['before:llm.request', 'before:io.output'] as const) {
    for (const priority of [1, 99]) {
      const house = aHouse({
        plugins(bus) {
          const soft =
            question === 'before:llm.request' ? defer('later', Number.MAX_SAFE_INTEGER) : askAgain('no', 'again');
          bus.before(question, () => soft, { source: 'gate.soft' });
          bus.before(question, () => deny('never', 'never'), { source: 'gate.hard', priority });
        },
      });
      assert.equal((await house.ask('go')).turns.at(-1)?.end?.error?.code, 'never');
    }
  }
});

test('of several gates that put off, the latest time counts', async () => {
  const clock = new StillClock();
  for (const priorities of [
    [1, 2],
    [2, 1],
  ] as const) {
    const house = aHouse({
      clock,
      plugins(bus) {
        bus.before('before:llm.request', () => defer('a', clock.now() + 10), { priority: priorities[0] });
        bus.before('before:llm.request', () => defer('b', clock.now() + 20), { priority: priorities[1] });
      },
    });
    assert.equal(wakeAt(await house.ask('go')), clock.now() + 20);
  }
});

test('an answer that is to be given anew stays in the transcript, with what was wrong, and is shown to nobody', async () => {
  const house = aHouse({
    script: [{ text: 'draft' }, { text: 'final' }],
    plugins: (bus) =>
      void bus.before('before:io.output', ({ text }) =>
        text === 'draft' ? askAgain('a draft', 'Write the whole.') : undefined,
      ),
  });
  const conversation = await house.ask('go');
  const { turns } = conversation;
  assert.deepEqual([turns.at(-1)?.output, turns.at(-1)?.calls, turns.at(-1)?.end?.status], ['final', 2, 'completed']);
  const messages = transcript(conversation, scripted);
  assert.deepEqual(
    messages.map((message) => (message.role === 'tool' ? '' : JSON.stringify(message.content))),
    [
      '[{"type":"text","text":"go"}]',
      '[{"type":"text","text":"draft"}]',
      '[{"type":"text","text":"Your answer was not given to the user. Write the whole."}]',
      '[{"type":"text","text":"final"}]',
    ],
  );
  assert.deepEqual(brokenMessages(messages), []);
  const outputs = (await house.facts()).filter((fact) => fact.type === 'io.output');
  assert.equal(outputs.length, 1);
});

test('being asked again and again ends at the limit of model calls', async () => {
  const house = aHouse({
    limits: { maxIterations: 3 },
    script: { replies: [{ text: 'draft' }], repeat: true },
    plugins: (bus) => void bus.before('before:io.output', () => askAgain('a draft', 'Write the whole.')),
  });
  const turn = (await house.ask('go')).turns.at(-1);
  assert.deepEqual([turn?.calls, turn?.output, turn?.end?.status], [3, undefined, 'max_iterations_reached']);
});

function shown(heard: readonly { readonly type: string }[]): string {
  return JSON.stringify(heard.filter(({ type }) => type === 'llm.stream.chunk'));
}

test('what a gate makes of the words of a model is what counts, and the others were never streamed', async () => {
  const house = aHouse({
    tools: [aTool('look', () => 1)],
    script: [{ text: 'the code is 7', actions: [{ name: 'look', arguments: {} }] }, { text: 'it was 7' }],
    plugins: (bus) =>
      void bus.before('before:llm.response', (said) =>
        revise({ ...said, texts: said.texts.map((text) => text.replaceAll('7', '#')) }),
      ),
  });
  const { turns } = await house.ask('go');
  assert.equal(turns.at(-1)?.output, 'it was #');
  const said = (await house.facts()).filter((fact) => fact.type === 'llm.response').map((fact) => JSON.stringify(fact));
  assert.ok(said.every((one) => !one.includes('7')) || said.every((one) => !/code is 7|was 7/.test(one)));
  assert.ok(!/code|was/.test(shown(house.heard)));
});

test('an answer that is withheld ends the turn, words beside actions are left out, and neither is on record', async () => {
  const house = aHouse({
    tools: [aTool('look', () => 1)],
    script: [{ text: 'psst, hush', actions: [{ name: 'look', arguments: {} }] }, { text: 'hush' }],
    plugins: (bus) =>
      void bus.before('before:llm.response', ({ texts }) =>
        texts.some((text) => text.includes('hush')) ? deny('it is secret', 'secret') : undefined,
      ),
  });
  const turn = (await house.ask('go')).turns.at(-1);
  assert.deepEqual([turn?.calls, turn?.toolCalls, turn?.end?.stop, turn?.end?.error?.code], [2, 1, 'gate', 'secret']);
  assert.ok(!JSON.stringify(await house.facts()).includes('hush'));
});

test('a gate that answers for a model with something else than its texts denies', async () => {
  for (const texts of [[], ['a', 'b'], [7], 'a', undefined]) {
    const house = aHouse({
      plugins: (bus) => void bus.before('before:llm.response', (said) => revise({ ...said, texts: texts as never })),
    });
    assert.equal((await house.ask('go')).turns.at(-1)?.end?.error?.code, 'gate_invalid_revision');
  }
});

test('a deadline that a gate sets is the one that counts, also after a crash, and changes nothing else', async () => {
  const clock = aClock();
  const house = aHouse({
    clock,
    tools: [
      aTool('wait', (_: never, { progress }) => {
        progress({ text: 'half' });
        return new Promise(() => undefined);
      }),
    ],
    script: [{ actions: [{ name: 'wait', arguments: {} }] }, { text: 'done' }],
    plugins: (bus) => void bus.before('before:tool.invoke', (asked) => revise({ ...asked, timeoutMs: 70 })),
  });
  const conversation: Conversation = await clock.until(house.ask('go'));
  const [iteration] = [...(conversation.turns.at(-1)?.iterations ?? [])];
  const observation = iteration?.actions[0]?.observation;
  assert.deepEqual(
    [observation?.error?.message, observation?.content],
    ['No result within 70 ms.', [{ type: 'text', text: 'half' }]],
  );
  const invoked = await lastOf(house, 'tool.invoke');
  assert.deepEqual([invoked?.timeoutMs, invoked?.revisedBy], [70, undefined]);
});

test('a deadline that is no number of milliseconds is a deny', async () => {
  for (const timeoutMs of [-1, 1.5, Number.NaN, '10', undefined]) {
    const house = aHouse({
      tools: [aTool('look', () => 1)],
      script: [{ actions: [{ name: 'look', arguments: {} }] }, { text: '{{results.0.error.code}}' }],
      plugins: (bus) =>
        void bus.before('before:tool.invoke', (asked) => revise({ ...asked, timeoutMs: timeoutMs as never })),
    });
    assert.equal((await house.ask('go')).turns.at(-1)?.output, 'gate_invalid_revision');
  }
});

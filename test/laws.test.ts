import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { repair } from '../src/assembly/repair.ts';
import { transcript } from '../src/assembly/transcript.ts';
import { fold } from '../src/domain/fold.ts';
import type { AssistantBlock, Message, ToolMessageResult } from '../src/domain/model.ts';
import { next } from '../src/loop/next.ts';
import { deny, hold } from '../src/kernel/verdict.ts';
import { aHouse, aTool, lastOf } from './support/house.ts';
import { brokenMessages } from './support/invariants.ts';
import { live } from './support/life.ts';

const scripted = { provider: 'scripted', model: 'scripted' };

// ── No effect without asking ─────────────────────────────────────────────────────────────────────────────────────

test('no model is called and no tool runs before every gate was asked and the intent is on record', async () => {
  const story: string[] = [];
  const house = aHouse({
    script: (view) => (
      story.push('model called'),
      view.step < 2 ? { actions: [{ name: 'act', arguments: { step: view.step } }] } : { text: 'ok' }
    ),
    tools: [aTool('act', () => void story.push('tool ran'))],
    plugins: (bus) => {
      bus.before('before:llm.request', () => void story.push('asked model'));
      bus.before('before:tool.invoke', () => void story.push('asked tool'));
      bus.on('llm.request', () => void story.push('intent model'));
      bus.on('tool.invoke', () => void story.push('intent tool'));
    },
  });
  await house.ask('go');
  const model = ['asked model', 'intent model', 'model called'];
  const tool = ['asked tool', 'intent tool', 'tool ran'];
  assert.deepEqual(story, [...model, ...tool, ...model, ...tool, ...model]);
});

test('any order of gates gives the same refusal', async () => {
  const kinds = fc.array(fc.constantFrom('allow', 'hold', 'deny'), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(kinds, fc.array(fc.nat(99), { minLength: 5, maxLength: 5 }), async (gates, priorities) => {
      const run = async (order: readonly number[]): Promise<unknown> => {
        let ran = false;
        const house = aHouse({
          script: [{ actions: [{ name: 'act' }] }, { text: 'ok' }],
          tools: [aTool('act', () => (ran = true))],
          plugins: (bus) => {
            for (const [index, kind] of gates.entries()) {
              bus.before(
                'before:tool.invoke',
                () => (kind === 'deny' ? deny('no') : kind === 'hold' ? hold('may it?') : undefined),
                { priority: order[index] },
              );
            }
          },
        });
        const conversation = await house.ask('go');
        return { ran, waits: conversation.turn !== undefined, refused: (await lastOf(house, 'tool.result'))?.outcome };
      };
      assert.deepEqual(await run(priorities), await run(priorities.map((one) => 99 - one)));
    }),
    { numRuns: 40 },
  );
});

// ── State is a fold of the log ───────────────────────────────────────────────────────────────────────────────────

test('what happens next depends on the log and on nothing else', async () => {
  const { facts } = await live(11);
  for (let cut = 0; cut <= facts.length; cut++) {
    const [once, again] = [fold('c1', 'main', facts.slice(0, cut)), fold('c1', 'main', facts.slice(0, cut))];
    assert.deepEqual(next(once), next(again));
  }
});

test('every log has a next command, also one with holes', async () => {
  const { facts } = await live(12);
  await fc.assert(
    fc.asyncProperty(fc.subarray([...facts]), async (some) => {
      const conversation = fold('c1', 'main', some);
      assert.equal(typeof next(conversation).type, 'string');
      assert.deepEqual(
        brokenMessages(transcript(conversation, scripted)).filter((rule) => !rule.includes('first message')),
        [],
      );
      return Promise.resolve();
    }),
    { numRuns: 300 },
  );
});

// ── What changes goes last ───────────────────────────────────────────────────────────────────────────────────────

const block: fc.Arbitrary<AssistantBlock> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: fc.constantFrom('', ' ', 'words') }),
  fc.record({ type: fc.constant('thinking' as const), text: fc.constantFrom('', 'hm') }),
  fc.record({
    type: fc.constant('action' as const),
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    name: fc.constant('act'),
    arguments: fc.constant({}),
  }),
);
const result: fc.Arbitrary<ToolMessageResult> = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'x'),
  name: fc.constant('act'),
  observation: fc.constant({ outcome: 'ok' as const, value: 1 }),
});
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    role: fc.constant('user' as const),
    content: fc.array(fc.record({ type: fc.constant('text' as const), text: fc.constantFrom('', 'hello') }), {
      maxLength: 2,
    }),
  }),
  fc.record({ role: fc.constant('assistant' as const), content: fc.array(block, { maxLength: 4 }) }),
  fc.record({ role: fc.constant('tool' as const), results: fc.array(result, { maxLength: 3 }) }),
);

test('any messages can be repaired, once is enough, and no real result of a call is lost', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
      const once = repair(messages);
      assert.deepEqual(brokenMessages(once), []);
      assert.deepEqual(repair(once), once);
    }),
    { numRuns: 1_000 },
  );
});

test('a transcript needs no repair', async () => {
  for (let seed = 20; seed < 30; seed++) {
    const { facts } = await live(seed);
    for (let cut = 1; cut <= facts.length; cut++) {
      const messages = transcript(fold('c1', 'main', facts.slice(0, cut)), scripted);
      assert.deepEqual(repair(messages), messages);
    }
  }
});

// A model that a person stops in mid-answer: what stood on the screen by then stays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../../src/domain/entry.ts';
import type { ModelPart } from '../../src/domain/model.ts';
import { entriesOf, timelineOf } from '../../src/domain/timeline.ts';
import type { ModelSource } from '../../src/kernel/model.ts';
import { aHouse, settle, type House } from '../support/house.ts';
import { brokenRules } from '../support/invariants.ts';

/** Its first answers stop halfway and never go on; the next one after so many is whole. */
function halting(times: number): ModelSource {
  let calls = 0;
  const call = () => {
    const number = ++calls;
    const parts: readonly ModelPart[] = [
      { type: 'start', part: 'a', kind: 'text' },
      { type: 'delta', part: 'a', delta: `answer ${number}` },
      { type: 'finish', stop: 'finished', usage: { input: 1, output: 1 } },
    ];
    let place = 0;
    return {
      next: () => (place === 2 && number <= times ? new Promise<undefined>(() => undefined) : parts[place++]),
      close: () => undefined,
    };
  };
  return { open: () => ({ call }) };
}

const said = async (house: House): Promise<unknown[]> =>
  entriesOf(timelineOf(await house.facts())).flatMap((one: Entry) =>
    one.role === 'assistant' ? [[one.id, one.text, one.data]] : [],
  );

const streamed = (house: House): unknown[] => [
  ...new Set(house.heard.flatMap((one) => (one.type === 'llm.stream.chunk' ? [one.payload.entry] : []))),
];

const partial = { final: false, cut: true };

test('what the model had said when a person stopped the turn stays, marked as cut', async () => {
  const house = aHouse({ models: halting(1) });
  await house.say('go');
  const driving = house.drive();
  await settle();
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  assert.equal((await driving).turns.at(-1)?.end?.status, 'stopped');
  assert.deepEqual(await said(house), [['t1-i1-text', 'answer 1', partial]]);

  await house.post({ type: 'cancel.resume', payload: { by: 'ana' } });
  await house.drive();
  const whole = ['t1-i1-text-2', 'answer 2', { final: true }];
  assert.deepEqual(await said(house), [['t1-i1-text', 'answer 1', partial], whole]);
  assert.deepEqual(streamed(house), ['t1-i1-text', 't1-i1-text-2']);
  assert.deepEqual(brokenRules(await house.facts()), []);
});

test('each steer in mid-answer keeps what was said before it, and the answer has an id of its own', async () => {
  const house = aHouse({ models: halting(2) });
  await house.say('go');
  const driving = house.drive();
  await settle();
  await house.say('shorter', 'steer');
  await settle();
  await house.say('still shorter', 'steer');
  await driving;
  assert.deepEqual(await said(house), [
    ['t1-i1-text', 'answer 1', partial],
    ['t1-i1-text-2', 'answer 2', partial],
    ['t1-i1-text-3', 'answer 3', { final: true }],
  ]);
  assert.deepEqual(streamed(house), ['t1-i1-text', 't1-i1-text-2', 't1-i1-text-3']);
});

test('nothing stays of an answer that nobody was shown, because a gate may still refuse it', async () => {
  const house = aHouse({ models: halting(1), plugins: (bus) => void bus.before('before:io.output', () => undefined) });
  await house.say('go');
  const driving = house.drive();
  await settle();
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  await driving;
  assert.deepEqual(await said(house), []);
});

test('nothing stays of a call that failed and is tried again', async () => {
  const house = aHouse({ script: [{ text: 'half of it', fault: 'cut' }, { text: 'whole' }] });
  await house.ask('go');
  assert.deepEqual(await said(house), [['t1-i1-text', 'whole', { final: true }]]);
});

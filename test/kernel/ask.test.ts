import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock.ts';
import { emptyConversation } from '../../src/domain/conversation.ts';
import { ask, type Gate } from '../../src/kernel/ask.ts';
import { deny, hold, revise, type Judgement } from '../../src/kernel/verdict.ts';

interface Payload {
  readonly text: string;
}

const context = { conversation: emptyConversation('c', 'main'), agent: undefined };

function judge(
  gates: readonly Pick<Gate<Payload>, 'judge'>[],
  validate?: (payload: Payload) => string | undefined,
): Promise<Judgement<Payload>> {
  const registered = gates.map((gate, index) => ({ source: `g${index}`, priority: 50, ...gate }));
  return Promise.resolve(ask(registered, { text: 'a' }, { context, validate, clock: systemClock, timeoutMs: 20 }));
}

test('deny beats hold beats allow, whatever the order of the gates', async () => {
  const verdicts = fc.array(fc.constantFrom(undefined, deny('no'), hold('may it?')), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(verdicts, fc.boolean(), async (given, late) => {
      const gates = given.map((verdict) => ({ judge: () => (late ? Promise.resolve(verdict) : verdict) }));
      const strongest = ['deny', 'hold'].find((one) => given.some((verdict) => verdict?.verdict === one)) ?? 'allow';
      const [forwards, backwards] = [await judge(gates), await judge([...gates].reverse())];
      assert.deepEqual([forwards.outcome, backwards.outcome], [strongest, strongest]);
    }),
  );
});

for (const [what, given, code] of [
  [
    'throws',
    () => {
      throw new Error('broken');
    },
    'gate_failed',
  ],
  ['rejects', () => Promise.reject(new Error('broken')), 'gate_failed'],
  ['hangs', () => new Promise<undefined>(() => undefined), 'gate_timeout'],
  ['answers true', () => true, 'gate_junk'],
  ['answers with an unknown verdict', () => ({ verdict: 'allow' }), 'gate_junk'],
  [
    'holds and would be remembered for ever',
    () => ({ verdict: 'hold', question: '?', remember: { scopes: ['ever'], subject: 1, about: 'it' } }),
    'gate_junk',
  ],
  [
    'holds and does not say what a yes is about',
    () => ({ verdict: 'hold', question: '?', remember: { scopes: ['always'], about: 'it' } }),
    'gate_junk',
  ],
  ['denies without a reason', () => ({ verdict: 'deny' }), 'gate_junk'],
] as const) {
  test(`a gate that ${what} is a deny`, async () => {
    const judged = await judge([{ judge: given as Gate<Payload>['judge'] }]);
    assert.deepEqual([judged.outcome, judged.denial?.code], ['deny', code]);
  });
}

test('the first deny ends the asking', async () => {
  let asked = 0;
  await judge([{ judge: () => deny('no') }, { judge: () => (asked++, undefined) }]);
  assert.equal(asked, 0);
});

test('a gate before a revision judges what was revised', async () => {
  const judged = await judge([
    { judge: ({ text }) => (text === 'b' ? deny('no b') : undefined) },
    { judge: ({ text }) => (text === 'a' ? revise({ text: 'b' }) : undefined) },
  ]);
  assert.deepEqual([judged.outcome, judged.denial?.reason], ['deny', 'no b']);
});

test('gates that keep revising each other are a deny', async () => {
  const judged = await judge([
    { judge: ({ text }) => (text === 'b' ? revise({ text: 'a' }) : undefined) },
    { judge: ({ text }) => (text === 'a' ? revise({ text: 'b' }) : undefined) },
  ]);
  assert.equal(judged.denial?.code, 'gate_unsettled');
});

test('a revision that is not valid is a deny', async () => {
  const judged = await judge([{ judge: () => revise({ text: '' }) }], ({ text }) =>
    text === '' ? 'empty' : undefined,
  );
  assert.equal(judged.denial?.code, 'gate_invalid_revision');
});

test('gates that answer at once are answered without a promise', () => {
  const judged = ask<Payload>(
    [{ source: 'g', priority: 50, judge: () => undefined }],
    { text: 'a' },
    { context, clock: systemClock, timeoutMs: 20 },
  );
  assert.equal(judged instanceof Promise, false);
});

test('a person is asked about the payload that will happen, not about the one before a revision', async () => {
  const judged = await judge([
    { judge: ({ text }) => hold(`allow ${text}?`) },
    { judge: ({ text }) => (text === 'a' ? revise({ text: 'b' }) : undefined) },
  ]);
  assert.deepEqual([judged.outcome, judged.holds.map((one) => one.question)], ['hold', ['allow b?']]);
});

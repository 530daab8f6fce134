import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allocate, type Allocation } from '../../src/assembly/checkpoints.ts';
import { cacheProfile } from '../../src/domain/cache-profile.ts';
import type { Message } from '../../src/domain/model.ts';
import { ok, said, spoke } from '../support/streams.ts';

const anthropic = cacheProfile({ provider: 'anthropic' });
const long = 'word '.repeat(1_000);
const request = (messages: readonly Message[], instructions = long) => ({ instructions, tools: [], messages });
const places = ({ placed }: Allocation) => placed.map(({ place, message }) => [place, message]);

test('a first request is marked after the instructions and at its end', () => {
  assert.deepEqual(places(allocate(request([said('hi')]), { past: 0, requests: [] }, anthropic)), [
    ['instructions', undefined],
    ['tail', 0],
  ]);
});

test('a later turn is marked at the end of the turns before it too', () => {
  const messages = [said('hi'), spoke('hello'), said('and?')];
  assert.deepEqual(places(allocate(request(messages), { past: 2, requests: [] }, anthropic)), [
    ['instructions', undefined],
    ['past', 1],
    ['tail', 2],
  ]);
});

test('a wide turn gets a marker where the request before it ended, and the least worth is told as left out', () => {
  const many = Array.from({ length: 12 }, (_, index) => ({
    type: 'action' as const,
    id: `a${index}`,
    name: 'look',
    arguments: {},
  }));
  const results = many.map(({ id, name }) => ({ id, name, observation: ok(1) }));
  const wide: Message[] = [
    { role: 'assistant', content: many },
    { role: 'tool', results },
  ];
  const messages = [said('a'), spoke('b'), said('c'), ...wide, ...wide, ...wide];
  const allocation = allocate(request(messages), { past: 2, requests: [3, 5, 7] }, anthropic);
  assert.deepEqual(places(allocation), [
    ['instructions', undefined],
    ['past', 1],
    ['last_tail', 6],
    ['tail', 8],
  ]);
  assert.deepEqual(allocation.left, [{ place: 'pre_tail', why: 'the provider takes 4 markers' }]);
});

test('what is too short to be cached gets no marker and says so', () => {
  const { placed, left } = allocate(request([said('hi')], 'Short.'), { past: 0, requests: [] }, anthropic);
  assert.deepEqual(placed, []);
  assert.deepEqual(
    left.map(({ place }) => place),
    ['instructions', 'tail'],
  );
});

test('a provider that caches by itself gets no marker', () => {
  assert.deepEqual(allocate(request([said('hi')]), { past: 0, requests: [] }, cacheProfile({ provider: 'openai' })), {
    placed: [],
    left: [],
  });
});

test('never more markers than the provider takes, in order, each at a place of its own', () => {
  const shape = fc.record({
    turns: fc.nat(40),
    requests: fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 8 }),
    head: fc.constantFrom('', 'Short.', long),
    text: fc.constantFrom('x', long),
    isLong: fc.boolean(),
  });
  fc.assert(
    fc.property(shape, ({ turns, requests, head, text, isLong }) => {
      const messages: Message[] = Array.from({ length: turns }, () => said(text));
      const ends: number[] = [];
      for (const width of requests) {
        for (let index = 0; index < width; index++) messages.push(said(text));
        ends.push(messages.length);
      }
      messages.push(said(text));
      const { placed, left } = allocate(request(messages, head), { past: turns, requests: ends }, anthropic, isLong);
      const at = placed.map(({ message = -1 }) => message);
      assert.ok(placed.length <= 4);
      assert.deepEqual(
        at,
        [...new Set(at)].sort((one, other) => one - other),
      );
      assert.ok(at.every((one) => one < messages.length));
      assert.ok(placed.every((one) => one.long === isLong));
      assert.ok(left.every(({ place }) => !placed.some((one) => one.place === place)));
    }),
  );
});

const least: readonly (readonly [provider: string, model: string, tokens: number])[] = [
  ['anthropic', 'claude-sonnet-4-6', 1_024],
  ['anthropic', 'claude-haiku-4-5-20251001', 4_096],
  ['anthropic', 'claude-opus-4-6', 4_096],
  ['anthropic', 'claude-opus-4-7', 2_048],
  ['anthropic', 'claude-opus-5', 512],
  ['google', 'gemini-2.5-pro', 2_048],
  ['google', 'gemini-3.5-flash', 4_096],
  ['openai', 'gpt-5.2', 1_024],
];
for (const [provider, model, tokens] of least) {
  test(`the cache of ${provider}/${model} begins at ${tokens} tokens`, () => {
    assert.equal(cacheProfile({ provider, model }).leastTokens, tokens);
  });
}

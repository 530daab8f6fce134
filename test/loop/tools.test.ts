import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askPerson, toolFailure, toolResult } from '../../src/kernel/tool.ts';
import type { Observation } from '../../src/domain/tool.ts';
import { utf8Length } from '../../src/base/text.ts';
import { aHouse, aTool, lastOf, type House, type HouseOptions } from '../support/house.ts';
import { aClock } from '../support/sim-clock.ts';

/** One action of one tool, and the observation that came of it. */
async function observe(
  run: Parameters<typeof aTool>[1],
  more: Parameters<typeof aTool>[2] = {},
  options: HouseOptions = {},
): Promise<{ readonly observation: Observation | undefined; readonly house: House }> {
  const clock = aClock();
  const house = aHouse({
    clock,
    script: [{ actions: [{ name: 'act', arguments: { n: 1 } }] }, { text: 'ok' }],
    tools: [aTool('act', run, more)],
    ...options,
  });
  await house.say('go');
  await clock.until(house.drive());
  return { observation: await lastOf(house, 'tool.result'), house };
}

const cycle: Record<string, unknown> = { a: 1 };
cycle['self'] = cycle;

for (const [what, run, expected] of [
  ['nothing', () => undefined, { outcome: 'ok', value: null }],
  ['a cycle', () => cycle, { outcome: 'ok', value: { a: 1, self: '[circular]' } }],
  ['half a character', () => 'a\ud83d', { outcome: 'ok', value: 'a\ufffd' }],
  ['numbers that JSON has not', () => [NaN, Infinity, 1n], { outcome: 'ok', value: [null, null, '1'] }],
  [
    'a function and a date',
    () => ({ f: () => 1, at: new Date(0) }),
    { outcome: 'ok', value: { f: '[function]', at: '1970-01-01T00:00:00.000Z' } },
  ],
  [
    'parts',
    () => toolResult({ content: [{ type: 'text', text: 'hi' }] }),
    { outcome: 'ok', content: [{ type: 'text', text: 'hi' }] },
  ],
  [
    'a failure',
    () => toolFailure('not_found', 'no such note'),
    { outcome: 'failed', error: { code: 'not_found', message: 'no such note' } },
  ],
] as const) {
  test(`a tool that returns ${what} gives one observation`, async () => {
    const { observation } = await observe(run);
    assert.deepEqual(observation, { action: 't1-1-1', ...expected });
  });
}

for (const [what, run, message] of [
  [
    'throws',
    () => {
      throw new Error('broken');
    },
    'broken',
  ],
  ['rejects', () => Promise.reject(new Error('broken later')), 'broken later'],
  [
    'throws something that is no error',
    () => {
      throw { odd: true }; // eslint-disable-line @typescript-eslint/only-throw-error -- what an author may do
    },
    '{"odd":true}',
  ],
  [
    'throws without a word',
    () => {
      throw new Error('');
    },
    'the tool failed without saying why',
  ],
] as const) {
  test(`a tool that ${what} is a failed observation and the turn goes on`, async () => {
    const { observation, house } = await observe(run);
    assert.deepEqual(
      [observation?.outcome, observation?.error?.message, (await lastOf(house, 'agent.turn.end'))?.status],
      ['failed', message, 'completed'],
    );
  });
}

test('arguments nested ten thousand levels deep are told to the model and break nothing', async () => {
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  const house = aHouse({
    script: [{ actions: [{ name: 'act', input: deep }] }, { text: 'ok' }],
    tools: [aTool('act', () => 1)],
  });
  await house.ask('go');
  assert.deepEqual(
    [(await lastOf(house, 'tool.result'))?.error?.message, (await lastOf(house, 'agent.turn.end'))?.status],
    ['The arguments are nested too deeply', 'completed'],
  );
});

test('a result nested too deep is cut there', async () => {
  let deep: unknown = 'bottom';
  for (let level = 0; level < 10_000; level++) deep = [deep];
  const { observation, house } = await observe(() => deep);
  assert.deepEqual(
    [JSON.stringify(observation?.value).includes('[too deep]'), (await lastOf(house, 'agent.turn.end'))?.status],
    [true, 'completed'],
  );
});

test('a getter that throws does not break the result', async () => {
  const { observation } = await observe(() =>
    Object.defineProperty({ fine: 1 }, 'bad', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    }),
  );
  assert.equal(observation?.value, '[unreadable]');
});

test('a tool that hangs is given up at its deadline, and what it had said is kept', async () => {
  const { observation } = await observe(
    (_, { progress }) => {
      progress({ text: 'half of it' });
      return new Promise(() => undefined);
    },
    { timeoutMs: 1_000 },
  );
  assert.deepEqual(
    [observation?.outcome, observation?.error?.code, observation?.content],
    ['failed', 'timeout', [{ type: 'text', text: 'half of it' }]],
  );
});

test('a tool that writes once and is given up is unknown, not failed', async () => {
  const { observation } = await observe(() => new Promise(() => undefined), { timeoutMs: 1_000, effect: 'once' });
  assert.deepEqual([observation?.outcome, observation?.error?.code], ['unknown', 'timeout']);
});

test('a deadline aborts the signal of the tool', async () => {
  let aborted = false;
  await observe((_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (aborted = true))), {
    timeoutMs: 1_000,
  });
  assert.equal(aborted, true);
});

test('a result that comes after the deadline is ignored', async () => {
  let finish: (value: string) => void = () => undefined;
  const { house } = await observe(() => new Promise((resolve) => (finish = resolve)), { timeoutMs: 1_000 });
  finish('late');
  await new Promise((resolve) => setImmediate(resolve));
  const results = (await house.facts()).filter((fact) => fact.type === 'tool.result');
  assert.equal(results.length, 1);
});

test('a result of megabytes is shown by its head and tail, and the rest can be read back', async () => {
  const body = `start ${'x'.repeat(3_000_000)} end`;
  const { observation, house } = await observe(() => body);
  const stored = observation?.ref === undefined ? undefined : await house.log.readBody('c1', observation.ref);
  const shown = typeof observation?.value === 'string' ? observation.value : '';
  assert.deepEqual(
    {
      fits: utf8Length(shown) <= 16_384,
      head: shown.slice(0, 6),
      tail: shown.slice(-4),
      size: observation?.size,
      whole: stored === body,
    },
    { fits: true, head: 'start ', tail: ' end', size: body.length, whole: true },
  );
});

test('a large error message is cut to size', async () => {
  const { observation } = await observe(() => {
    throw new Error('y'.repeat(100_000));
  });
  assert.equal(utf8Length(observation?.error?.message ?? '') <= 16_384, true);
});

test('a tool asks a person and runs again with the reply, once the turn is woken', async () => {
  const { house } = await observe(
    (_, { reply }) => (reply === undefined ? askPerson('Which?', ['left', 'right']) : `took ${reply}`),
    { effect: 'read' },
  );
  const waiting = await house.fold();
  const [request] = waiting.turn?.requests ?? [];
  await house.post({
    type: 'hitl.responded',
    payload: { request: request?.request ?? '', decision: 'reply', text: 'left', by: 'ana' },
  });
  await house.drive();
  assert.deepEqual(
    [request?.kind, request?.choices, (await lastOf(house, 'tool.result'))?.value],
    ['input', ['left', 'right'], 'took left'],
  );
});

test('arguments that do not fit the schema are told with what was wanted, and nothing runs', async () => {
  let ran = false;
  const { observation } = await observe(() => (ran = true), { validate: () => ['/n: wanted string, found number 1'] });
  assert.deepEqual(
    [ran, observation?.outcome, observation?.error?.message],
    [false, 'invalid', '/n: wanted string, found number 1'],
  );
});

test('every attempt at an action has the same idempotency key', async () => {
  const keys: string[] = [];
  const { house } = await observe(
    (_, { idempotencyKey, reply }) => (keys.push(idempotencyKey), reply === undefined ? askPerson('?') : 'ok'),
  );
  await house.post({
    type: 'hitl.responded',
    payload: { request: 't1-1-1-q1', decision: 'reply', text: 'x', by: 'ana' },
  });
  await house.drive();
  assert.deepEqual(keys, ['c1/t1-1-1', 'c1/t1-1-1']);
});

test('a gate may revise a result, and what it makes of it is what counts', async () => {
  const { observation } = await observe(
    () => 'secret',
    {},
    {
      script: [{ actions: [{ name: 'act' }] }, { text: 'ok' }],
      tools: [aTool('act', () => 'secret')],
      plugins: (bus) =>
        bus.before('before:tool.result', (question) => ({
          verdict: 'revise',
          payload: { ...question, observation: { outcome: 'ok', value: '[redacted]' } },
        })),
    },
  );
  assert.equal(observation?.value, '[redacted]');
});

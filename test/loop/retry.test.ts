import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRef } from '../../src/domain/agent.ts';
import type { ModelFailure, ModelPart } from '../../src/domain/model.ts';
import type { ModelSource } from '../../src/kernel/model.ts';
import { aHouse, lastOf, type House } from '../support/house.ts';
import { aClock } from '../support/sim-clock.ts';

const first: ModelRef = { provider: 'p', model: 'first' };
const second: ModelRef = { provider: 'p', model: 'second' };
const good: readonly ModelPart[] = [
  { type: 'start', kind: 'text', part: '1' },
  { type: 'delta', part: '1', delta: 'here' },
  { type: 'end', part: '1' },
  { type: 'finish', stop: 'finished', usage: { input: 10, output: 2 } },
];

function failing(kind: ModelFailure['class'], retryAfterMs?: number): readonly ModelPart[] {
  return [
    {
      type: 'failure',
      failure: { class: kind, message: kind, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    },
  ];
}

/** Answers by model: each call takes the next list of parts; `silent` never says anything. */
function aSource(answers: Readonly<Record<string, readonly (readonly ModelPart[] | 'silent')[]>>): {
  readonly models: ModelSource;
  readonly called: string[];
} {
  const called: string[] = [];
  const counts = new Map<string, number>();
  const models: ModelSource = {
    open: ({ model }) => ({
      call() {
        called.push(model);
        const count = counts.get(model) ?? 0;
        counts.set(model, count + 1);
        const answer = answers[model]?.[count] ?? good;
        const parts = answer === 'silent' ? [] : [...answer];
        return {
          next: () => (answer === 'silent' ? new Promise(() => undefined) : parts.shift()),
          close: () => undefined,
        };
      },
    }),
  };
  return { models, called };
}

async function run(
  answers: Parameters<typeof aSource>[0],
  models: readonly ModelRef[] = [first],
): Promise<{ readonly house: House; readonly called: string[]; readonly waited: number }> {
  const clock = aClock();
  const start = clock.now();
  const source = aSource(answers);
  const house = aHouse({ clock, models: source.models, agent: { models: [...models] } });
  await house.say('go');
  await clock.until(house.drive());
  return { house, called: source.called, waited: clock.now() - start };
}

for (const kind of ['rate_limit', 'overloaded', 'server', 'network', 'timeout', 'incomplete'] as const) {
  test(`a call that failed as ${kind} is tried again, and both attempts are on record`, async () => {
    const { house, called } = await run({ first: [failing(kind)] });
    const attempts = (await house.facts()).flatMap((fact) =>
      fact.type === 'llm.request' ? [fact.payload.attempt] : [],
    );
    const end = await lastOf(house, 'agent.turn.end');
    assert.deepEqual(
      { called, attempts, status: end?.status, iterations: end?.iterations },
      { called: ['first', 'first'], attempts: [1, 2], status: 'completed', iterations: 1 },
    );
  });
}

test('after two failures the next model of the chain is called', async () => {
  const { called } = await run({ first: [failing('overloaded'), failing('overloaded')] }, [first, second]);
  assert.deepEqual(called, ['first', 'first', 'second']);
});

test('a key that is refused is not tried twice: the next model is', async () => {
  const { called } = await run({ first: [failing('auth')] }, [first, second]);
  assert.deepEqual(called, ['first', 'second']);
});

test('a request that is refused as such is tried on nobody else', async () => {
  const { house, called } = await run({ first: [failing('bad_request')] }, [first, second]);
  assert.deepEqual([called, (await lastOf(house, 'agent.turn.end'))?.error?.code], [['first'], 'model_bad_request']);
});

test('attempts end, and the turn says with what', async () => {
  const fail = Array.from({ length: 9 }, () => failing('server'));
  const { house, called } = await run({ first: fail });
  const end = await lastOf(house, 'agent.turn.end');
  assert.deepEqual([called.length, end?.status, end?.error?.code], [4, 'error', 'model_server']);
});

test('a provider that names a time is not asked again before it', async () => {
  const { waited } = await run({ first: [failing('rate_limit', 20_000)] });
  assert.equal(waited >= 20_000 && waited < 25_000, true);
});

test('waits grow with each attempt and have a ceiling', async () => {
  const { waited } = await run({ first: [failing('server'), failing('server'), failing('server')] });
  assert.equal(waited, 500 + 1_000 + 2_000); // half of 1, 2 and 4 seconds: the test's chance is always 0
});

test('a model that says nothing is given up after the idle time, not after a total', async () => {
  const { house, called } = await run({ first: ['silent'] });
  const failure = (await house.facts()).flatMap((fact) =>
    fact.type === 'llm.response' && fact.payload.failure !== undefined ? [fact.payload.failure.class] : [],
  );
  assert.deepEqual({ called, failure }, { called: ['first', 'first'], failure: ['timeout'] });
});

test('a model that cannot be opened is a failure in words', async () => {
  const house = aHouse({ models: { open: () => Promise.reject(new Error('no such thing')) } });
  await house.ask('go');
  assert.equal((await lastOf(house, 'agent.turn.end'))?.error?.message, 'no such thing');
});

test('a stream that throws is a failure in words', async () => {
  const broken: ModelSource = {
    open: () => ({
      call: () => ({
        next: () => {
          throw new Error('burst');
        },
        close: () => undefined,
      }),
    }),
  };
  const house = aHouse({ models: broken });
  await house.ask('go');
  assert.equal((await lastOf(house, 'agent.turn.end'))?.error?.message, 'burst');
});

test('usage of every attempt counts', async () => {
  const { house } = await run({ first: [[...good.slice(0, 3)], good] });
  assert.deepEqual((await lastOf(house, 'agent.turn.end'))?.usage, { input: 10, output: 2 });
});

test('too long a prompt asks for compaction once, and ends in words when nobody compacts', async () => {
  const { house } = await run({ first: [failing('context_length'), failing('context_length')] });
  const story = await house.story();
  assert.deepEqual(
    [story.includes('memory.compact.request memory.compacted'), (await lastOf(house, 'agent.turn.end'))?.error?.code],
    [true, 'model_context_length'],
  );
});

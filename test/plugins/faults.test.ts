// Triggers of faults that other runtimes had, by the ids of the shared list, with what is right: gates, structured output,
// repetitions and models that stand in for others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSchema } from '../../src/adapters/schema/ajv.ts';
import type { Reply } from '../../src/adapters/models/script.ts';
import { transcript } from '../../src/assembly/transcript.ts';
import { systemClock } from '../../src/base/clock.ts';
import { iterationsOf, type Conversation } from '../../src/domain/conversation.ts';
import type { ModelPart } from '../../src/domain/model.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { install, type Plugin } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { ModelSource } from '../../src/kernel/model.ts';
import { jsonSchema } from '../../src/plugins/gates/json-schema.ts';
import { stopWords } from '../../src/plugins/gates/stop-words.ts';
import { aHouse, aTool } from '../support/house.ts';
import { brokenMessages } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const put = (plugin: Plugin, config: unknown) => (bus: Bus) =>
  void install(plugin, config, { bus, clock: systemClock, logger });

function outcomes({ turns }: Conversation): readonly unknown[] {
  return [...turns].flatMap((turn) =>
    [...iterationsOf(turn)].flatMap(({ actions }) =>
      actions.map(({ observation }) => observation?.error?.code ?? observation?.outcome),
    ),
  );
}

test('B062 a write that succeeds again and again is a loop all the same, and a tool that polls may say that it does', async () => {
  const write: Reply = { actions: [{ name: 'write', arguments: { text: 'a' } }] };
  const run = (repeatable: boolean) =>
    aHouse({
      tools: [aTool('write', () => 'written', { effect: 'once', repeatable })],
      script: [...Array.from({ length: 6 }, () => write), { text: 'done' }],
    }).ask('go');
  assert.deepEqual(outcomes(await run(false)).slice(0, 4), ['ok', 'ok', 'ok', 'repeated']);
  assert.deepEqual(outcomes(await run(true)), ['ok', 'ok', 'ok', 'ok', 'ok', 'ok']);
});

test('B095 names of prototypes are no arguments and no tools, and nothing is changed by them', async () => {
  const check = compileSchema({ type: 'object' });
  const seen: unknown[] = [];
  const inputs = ['{"__proto__":{"admin":true}}', '{"a":{"constructor":{"prototype":{"x":1}}}}'];
  const finish = { type: 'finish', stop: 'actions', usage: {} } as const;
  const calls: ModelPart[][] = [
    [
      ...inputs.map((input, at): ModelPart => ({ type: 'action', part: `${at}`, name: 'echo', input })),
      { type: 'action', part: '2', name: '__proto__', input: '{}' },
      { type: 'action', part: '3', name: 'toString', input: '{}' },
      finish,
    ],
    [
      { type: 'delta', part: '1', delta: 'done' },
      { ...finish, stop: 'finished' },
    ],
  ];
  const models: ModelSource = {
    open: () => ({
      call() {
        const parts = calls.shift() ?? [];
        return { next: () => parts.shift(), close: () => undefined };
      },
    }),
  };
  const echo = aTool('echo', (args) => seen.push(args), { validate: (args) => [...check(args)] });
  const found = outcomes(await aHouse({ tools: [echo], models, limits: { maxFaults: 9 } }).ask('go'));
  assert.deepEqual(found, ['bad_arguments', 'bad_arguments', 'not_allowed', 'not_allowed']);
  assert.deepEqual([seen, ({} as { admin?: unknown }).admin, ({} as { x?: unknown }).x], [[], undefined, undefined]);
});

test('B114 every call of a decision has its result, whatever else is in it', async () => {
  const names = ['final_output', 'final_output', 'search'];
  const house = aHouse({
    tools: [aTool('search', () => 'found')],
    script: [{ text: 'here it is', actions: names.map((name) => ({ name, arguments: {} })) }, { text: '{"n":1}' }],
    plugins: put(jsonSchema(compileSchema), { schema: { type: 'object' } }),
  });
  const conversation = await house.ask('go');
  assert.deepEqual(outcomes(conversation), ['not_allowed', 'not_allowed', 'ok']);
  assert.deepEqual(brokenMessages(transcript(conversation, { provider: 'scripted', model: 'scripted' })), []);
});

const summary = { type: 'object', required: ['summary'], properties: { summary: { type: 'string' } } };
const fourFailures: Reply[] = ['no', '{}', '[]', '{"summary":7}'].map((text) => ({ text }));

test('B115 an answer that took several attempts says how many, and one that never fits is no answer', async () => {
  const run = (retries: number) =>
    aHouse({
      script: [...fourFailures, { text: '{"summary":"test"}' }],
      plugins: put(jsonSchema(compileSchema), { schema: summary, retries }),
    }).ask('go');
  const good = (await run(4)).turns.at(-1);
  assert.ok(good !== undefined);
  const refused = [...iterationsOf(good)].filter((one) => one.refused?.code === 'json_schema');
  assert.deepEqual([good.output, good.calls, refused.length], ['{"summary":"test"}', 5, 4]);
  const bad = (await run(3)).turns.at(-1);
  assert.deepEqual([bad?.output, bad?.end?.stop, bad?.end?.error?.code], [undefined, 'gate', 'json_schema']);
});

test('B117 a model that says the same again is not asked a third time', async () => {
  const script = { replies: [{ text: 'the nightjar '.repeat(500) }], repeat: true } as const;
  const gate = put(stopWords, { phrases: ['nightjar'], retries: 9 });
  const turn = (await aHouse({ script, plugins: gate }).ask('go')).turns.at(-1);
  assert.deepEqual([turn?.calls, turn?.end?.error?.code], [2, 'stop_words']);
});

/** A model by its name, each call of which gives the parts of the next. */
function chain(models: Readonly<Record<string, readonly (readonly ModelPart[])[]>>): ModelSource {
  const calls = new Map<string, number>();
  return {
    open: ({ model }) => ({
      call() {
        const call = calls.get(model) ?? 0;
        calls.set(model, call + 1);
        const all = models[model] ?? [];
        const parts = [...(all[Math.min(call, all.length - 1)] ?? [])];
        return { next: () => parts.shift(), close: () => undefined };
      },
    }),
  };
}

const words = (text: string): ModelPart[] => [
  { type: 'start', kind: 'text', part: '1' },
  { type: 'delta', part: '1', delta: text },
];
const overloaded: ModelPart = { type: 'failure', failure: { class: 'overloaded', message: '529', status: 529 } };
const finished: ModelPart = { type: 'finish', stop: 'finished', usage: {} };

test('B116 B146 what a failed attempt had said is void, told as that, and joined to nothing', async () => {
  const clock = aClock();
  const house = aHouse({
    clock,
    agent: {
      models: [
        { provider: 'x', model: 'first' },
        { provider: 'x', model: 'second' },
      ],
    },
    models: chain({
      first: [[...words('forty words that were streamed'), overloaded]],
      second: [[...words('the answer'), finished]],
    }),
  });
  const { turns } = await clock.until(house.ask('go'));
  assert.equal(turns.at(-1)?.output, 'the answer');
  const ends = house.heard.flatMap((one) => (one.type === 'llm.stream.end' ? [one.payload] : []));
  assert.deepEqual(
    ends.map(({ attempt, superseded }) => [attempt, superseded]),
    [
      [1, true],
      [2, true],
      [3, false],
    ],
  );
  const said = house.heard.flatMap((one) => (one.type === 'llm.stream.chunk' ? [one.payload] : []));
  assert.deepEqual([...new Set(said.map(({ attempt }) => attempt))], [1, 2, 3]);
  const messages = JSON.stringify(transcript(await house.fold(), { provider: 'x', model: 'second' }));
  assert.ok(!messages.includes('forty words'));
});

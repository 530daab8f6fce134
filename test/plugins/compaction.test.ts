import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transcript } from '../../src/assembly/transcript.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { install, type Installed } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { deny, revise } from '../../src/kernel/verdict.ts';
import type { Reply, ScriptView } from '../../src/adapters/models/script.ts';
import { compaction } from '../../src/plugins/memory/compaction.ts';
import { contextGroup } from '../../src/plugins/tools/context.ts';
import { loadBundle } from '../../src/platform/bundle/load.ts';
import { inFolder, loadOptions } from '../support/bundles.ts';
import { cachedModels } from '../support/cached-model.ts';
import { aHouse, aTool, lastOf, type House, type HouseOptions } from '../support/house.ts';
import { brokenMessages } from '../support/invariants.ts';
import { runTool } from '../support/tool-context.ts';
import { aClock } from '../support/sim-clock.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const put = (bus: Bus, config: unknown = {}): Installed =>
  install(compaction, config, { bus, clock: systemClock, logger });

const isSummary = (view: ScriptView): boolean => view.request.instructions.startsWith('You keep the memory');
const long = 'and so on '.repeat(30);
const asked = ({ request }: ScriptView): string => {
  const [first] = request.messages;
  return first?.role === 'user' && first.content[0]?.type === 'text' ? first.content[0].text : '';
};

interface World {
  readonly house: House;
  /** What the model that summarises was given. */
  readonly summaries: string[];
}

/** Answers are long, so that a summary is worth it; `tokens` is what each decision reports. */
function world(
  more: Omit<HouseOptions, 'plugins' | 'script'> & {
    readonly config?: unknown;
    readonly summary?: (view: ScriptView, count: number) => Reply;
    readonly tokens?: number;
    readonly reply?: (view: ScriptView) => Reply;
    readonly plugins?: (bus: Bus) => void;
  } = {},
): World {
  const { config, summary = () => ({ text: 'They spoke.' }), tokens = 100, plugins, ...options } = more;
  const summaries: string[] = [];
  const house = aHouse({
    limits: { contextMaxTokens: 1_000 },
    ...options,
    script: (view) => {
      if (isSummary(view)) {
        summaries.push(asked(view));
        return { usage: { input: 40, output: 4 }, ...summary(view, summaries.length) };
      }
      return more.reply?.(view) ?? { text: `${view.userText}: ${long}`, usage: { input: tokens, output: 10 } };
    },
    plugins: (bus) => {
      plugins?.(bus);
      put(bus, config);
    },
  });
  return { house, summaries };
}

const texts = async (house: House): Promise<string[]> =>
  transcript(await house.fold(), { provider: 'scripted', model: 'scripted' }).map((message) =>
    'content' in message && message.content[0]?.type === 'text' ? message.content[0].text.slice(0, 60) : message.role,
  );

test('a summary by a model stands for older turns, the last ones stay, and the log keeps all', async () => {
  const { house, summaries } = world({ tokens: 2_000, config: { keep_turns: 1 } });
  for (const text of ['one', 'two']) await house.ask(text);
  assert.deepEqual(await lastOf(house, 'memory.compacted'), { through: 1, summary: 'They spoke.' });
  await house.ask('three');
  const before = await house.facts();
  await house.ask('four');
  assert.equal((await lastOf(house, 'memory.compacted'))?.through, 3, 'half of what fits is less than a turn here');
  assert.deepEqual(
    (await texts(house)).map((one) => one.slice(0, 40)),
    ['[SUMMARY OF THE CONVERSATION SO FAR]\nThe', 'four', `four: ${long}`.slice(0, 40)],
  );
  assert.match(summaries.at(-1) ?? '', /^\[SUMMARY OF WHAT CAME BEFORE\]\nThey spoke\.\n\n\[CONVERSATION\]\nturn 3\n/);
  assert.deepEqual((await house.facts()).slice(0, before.length), before);
});

test('turns that are kept are those that were said last, and are kept word for word', async () => {
  const { house, summaries } = world({ config: { keep_turns: 2 }, limits: { contextMaxTokens: 1_000 }, tokens: 100 });
  for (const text of ['one', 'two', 'three', 'four']) await house.ask(text);
  await house.say('five');
  await house.drive(); // nothing is large yet
  assert.equal(summaries.length, 0);
  const big = world({
    config: { keep_turns: 2 },
    reply: (view) => ({ text: `${view.userText}: ${long}`, usage: { input: view.userText === 'four' ? 5_000 : 100 } }),
  });
  for (const text of ['one', 'two', 'three', 'four', 'five']) await big.house.ask(text);
  assert.equal((await lastOf(big.house, 'memory.compacted'))?.through, 2);
  assert.deepEqual(
    (await texts(big.house)).map((one) => one.slice(0, 6)),
    ['[SUMMA', 'three', 'three:', 'four', 'four: ', 'five', 'five: '],
  );
});

test('the call is a call: judged by the gates, named in the log, counted, and no decision', async () => {
  const purposes: (string | undefined)[] = [];
  const { house } = world({
    tokens: 2_000,
    plugins: (bus) => bus.before('before:llm.request', ({ purpose }) => void purposes.push(purpose)),
    agent: { aside: { role: 'quick', models: [{ provider: 'scripted', model: 'small' }] } },
  });
  await house.ask('one');
  const conversation = await house.ask('two');
  const calls = (await house.facts()).filter((fact) => fact.type === 'llm.request');
  assert.deepEqual(purposes, [undefined, 'compact', undefined]);
  assert.deepEqual(
    calls.map(({ payload: { purpose, role, model } }) => [purpose, role, model.model]),
    [
      [undefined, 'balanced', 'scripted'],
      ['compact', 'quick', 'small'],
      [undefined, 'balanced', 'scripted'],
    ],
  );
  const turn = conversation.turns.at(-1);
  assert.deepEqual([turn?.calls, turn?.usage], [1, { input: 2_040, output: 14 }]);
  assert.equal(conversation.contextTokens, 2_010);
  assert.equal(
    house.heard.some((event) => event.type === 'llm.stream.chunk' && event.payload.delta.includes('They spoke')),
    false,
  );
});

for (const [what, summary, why] of [
  ['fails', () => ({ fault: 'server' }), 'server'],
  ['is empty', () => ({ text: ' ' }), 'the summary is empty'],
  ['is cut', () => ({ text: 'half a', stop: 'length' }), 'length'],
  ['is longer than what it stands for', () => ({ text: long.repeat(9) }), 'no shorter'],
] as const satisfies readonly (readonly [string, () => Reply, string])[]) {
  test(`a summary that ${what} leaves everything as it was and says so, and the turn goes on`, async () => {
    const { house } = world({ tokens: 2_000, summary });
    await house.ask('one');
    const conversation = await house.ask('two');
    const compacted = await lastOf(house, 'memory.compacted');
    assert.ok(compacted?.error?.includes(why), compacted?.error);
    assert.equal(conversation.summary, undefined);
    assert.deepEqual(
      [conversation.turns.at(-1)?.end?.status, (await texts(house)).map((one) => one.slice(0, 4))],
      ['completed', ['one', 'one:', 'two', 'two:']],
    );
  });
}

test('the next model of the role is asked where the first cannot answer', async () => {
  const aside = {
    role: 'quick',
    models: [
      { provider: 'scripted', model: 'small' },
      { provider: 'scripted', model: 'other' },
    ],
  };
  const { house } = world({
    tokens: 2_000,
    agent: { aside },
    summary: (view) => (view.request.model.model === 'small' ? { fault: 'overloaded' } : { text: 'They spoke.' }),
  });
  await house.ask('one');
  await house.ask('two');
  assert.equal((await lastOf(house, 'memory.compacted'))?.summary, 'They spoke.');
});

test('a gate that refuses the summary does not end the turn, and one that changes the request is heard', async () => {
  const refusing = world({
    tokens: 2_000,
    plugins: (bus) =>
      bus.before('before:llm.request', ({ purpose }) => (purpose === 'compact' ? deny('not that') : undefined), {
        source: 'gate.test',
      }),
  });
  await refusing.house.ask('one');
  const conversation = await refusing.house.ask('two');
  assert.deepEqual(
    [
      refusing.summaries.length,
      (await lastOf(refusing.house, 'memory.compacted'))?.error,
      conversation.turns.at(-1)?.end?.status,
    ],
    [0, 'gate.test: not that', 'completed'],
  );
  const revising = world({
    tokens: 2_000,
    plugins: (bus) =>
      bus.before('before:llm.request', (question) =>
        question.purpose !== 'compact'
          ? undefined
          : revise({
              ...question,
              request: {
                ...question.request,
                messages: [{ role: 'user', content: [{ type: 'text', text: 'hidden' }] }],
              },
            }),
      ),
  });
  await revising.house.ask('one');
  await revising.house.ask('two');
  assert.deepEqual(revising.summaries, ['hidden']);
});

test('a prompt that the provider finds too long is summarised once and sent again', async () => {
  const { house } = world({
    limits: {},
    reply: (view) => {
      const size = JSON.stringify(view.request.messages).length;
      return view.userText === 'three' && size > 700
        ? { fault: 'context_length' }
        : { text: `${view.userText} ${long}` };
    },
  });
  for (const text of ['one', 'two']) await house.ask(text);
  const conversation = await house.ask('three');
  assert.deepEqual(
    [
      conversation.turns.at(-1)?.end?.status,
      conversation.turns.at(-1)?.calls,
      (await lastOf(house, 'memory.compacted'))?.through,
    ],
    ['completed', 1, 1],
  );
  assert.match(
    await house.story(),
    /llm\.request llm\.response memory\.compact\.request llm\.request llm\.response memory\.compacted llm\.request llm\.response io\.output/,
  );
});

test('where a shorter prompt is still too long, the turn ends and says so', async () => {
  const { house } = world({
    limits: {},
    reply: (view) => (view.userText === 'three' ? { fault: 'context_length' } : { text: `${view.userText} ${long}` }),
  });
  for (const text of ['one', 'two', 'three']) await house.ask(text);
  const compactions = (await house.facts()).filter((fact) => fact.type === 'memory.compacted').length;
  assert.deepEqual([compactions, (await lastOf(house, 'agent.turn.end'))?.error?.code], [1, 'model_context_length']);
  assert.notEqual((await house.fold()).contextTokens, 44, 'what the summary took says nothing of the prompt');
});

test('a large prompt is summarised when no cache holds it, and left alone while one does', async () => {
  const clock = aClock();
  const models = cachedModels(
    (view) => (isSummary(view) ? { text: 'They spoke.' } : { text: `${view.userText}: ${'word '.repeat(2_000)}` }),
    clock,
  );
  const house = aHouse({
    clock,
    models,
    agent: { models: [{ provider: 'anthropic', model: 'claude' }] },
    limits: { contextColdTokens: 2_000 },
    plugins: (bus) => void put(bus, { keep_turns: 1 }),
  });
  const ask = async (text: string): Promise<void> => {
    await house.say(text);
    await clock.until(house.drive());
  };
  for (const text of ['one', 'two', 'three']) {
    await ask(text);
    clock.advance(60_000);
  }
  assert.equal(await lastOf(house, 'memory.compacted'), undefined);
  clock.advance(600_000);
  await ask('four');
  const why = await lastOf(house, 'memory.compact.request');
  assert.deepEqual([why?.why, (await lastOf(house, 'memory.compacted'))?.through], ['cold', 2]);
  clock.advance(60_000);
  await ask('five');
  assert.equal((await house.facts()).filter((fact) => fact.type === 'memory.compacted').length, 1);
  assert.equal((await lastOf(house, 'llm.response'))?.usage.cacheRead !== 0, true, 'the shorter prompt is warm again');
});

test('a steer does not end the summary, a cancel does', async () => {
  const clock = aClock();
  const { house } = world({
    clock,
    tokens: 2_000,
    summary: () => ({ text: 'They spoke.', delayMs: 5_000 }),
  });
  await house.say('one');
  await clock.until(house.drive());
  await house.say('two');
  let driving = house.drive();
  clock.after(1_000, () => void house.say('rather this', 'steer'));
  await clock.until(driving);
  assert.equal((await lastOf(house, 'memory.compacted'))?.error, undefined);
  await house.say('three');
  driving = house.drive();
  clock.after(1_000, () => void house.post({ type: 'cancel.request', payload: { by: 'ana' } }));
  const conversation = await clock.until(driving);
  assert.equal(conversation.turns.at(-1)?.end?.status, 'stopped');
  assert.equal((await house.facts()).filter((fact) => fact.type === 'memory.compacted').length, 1);
});

test('what is summarised in several calls is one summary, and a failure of one of them is a failure of all', async () => {
  for (const fails of [false, true]) {
    const { house, summaries } = world({
      config: { piece_tokens: 500, keep_turns: 0 },
      summary: (_, count) => (fails && count === 3 ? { fault: 'bad_request' } : { text: `summary ${count}` }),
      reply: (view) => ({
        text: `${view.userText}: ${'much '.repeat(250)}`,
        usage: { input: view.userText === 'four' ? 5_000 : 100 },
      }),
    });
    for (const text of ['one', 'two', 'three', 'four', 'five']) await house.ask(text);
    const { summary, through, error } = (await lastOf(house, 'memory.compacted')) ?? {};
    assert.deepEqual(
      [summaries.length, summary, through, error !== undefined],
      fails ? [3, '', 0, true] : [4, 'summary 4', 4, false],
    );
    assert.ok(summaries.every((one) => one.length < 2_600));
  }
});

test('actions and their observations go together, and what was summarised can be read back', async () => {
  const seen: string[] = [];
  const { house } = world({
    tools: [
      aTool('look', () => 'the secret number is 7'),
      aTool('context_read', (given, context) => runTool(contextGroup, 'context_read', given, context)),
    ],
    config: { keep_turns: 0 },
    reply: (view) => {
      if (view.userText === 'one' && view.step === 0)
        return { thinking: 'hm', actions: [{ name: 'look' }, { name: 'look' }] };
      if (view.userText === 'three' && view.step === 0)
        return { actions: [{ name: 'context_read', arguments: { turn: 1 } }] };
      if (view.userText === 'three') seen.push(JSON.stringify(view.request.messages.at(-1)));
      return { text: `${view.userText} ${long}`, usage: { input: 2_000 } };
    },
  });
  for (const text of ['one', 'two', 'three']) {
    await house.ask(text);
    assert.deepEqual(brokenMessages(transcript(await house.fold(), { provider: 'scripted', model: 'scripted' })), []);
  }
  assert.match(seen.join(), /the secret number is 7/);
});

test('announce says which turns are told as a summary', async () => {
  const { house } = world({ tokens: 2_000 });
  const { bus } = house;
  await house.ask('one');
  const { turn, turns, ...rest } = await house.ask('two');
  const block = put(aHouse().bus).blocks.get('SUMMARISED TURNS');
  const last = turns.at(-1);
  assert.ok(bus.answerer('memory.compact.request') !== undefined && last !== undefined);
  assert.equal(block?.(last, { turn, turns, ...rest }, 0), 'turn 1 is told above as a summary');
});

test('the role `quick` summarises where the bundle has it, else the one that decides, unless the bundle names another', async () => {
  const yaml = (roles: string, config: string): string =>
    `models: {balanced: {provider: scripted, model: large}${roles}}\nplugins: {active: [memory.compaction]${config}}\n`;
  const quick = ', quick: {provider: scripted, model: small}';
  const found: unknown[] = [];
  for (const [roles, config] of [
    [quick, ''],
    ['', ''],
    [`${quick}, brief: {provider: scripted, model: brief}`, ', memory.compaction: {role: brief}'],
    [quick, ', memory.compaction: {role: balanced}'],
  ] as const) {
    await inFolder(yaml(roles, config), {}, async (file) => {
      const { frame } = (await loadBundle(file, loadOptions)).agent('main');
      found.push([frame.aside?.role, frame.aside?.models.map(({ model }) => model)]);
    });
  }
  assert.deepEqual(found, [
    ['quick', ['small']],
    [undefined, undefined],
    ['brief', ['brief']],
    [undefined, undefined],
  ]);
});

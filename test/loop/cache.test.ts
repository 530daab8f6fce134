import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCold } from '../../src/assembly/cache.ts';
import type { EffectiveAgent } from '../../src/domain/agent.ts';
import type { FactPayload } from '../../src/domain/event.ts';
import type { Usage } from '../../src/domain/usage.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import { revise } from '../../src/kernel/verdict.ts';
import { cachedModels } from '../support/cached-model.ts';
import { aHouse, aTool, lastOf, type House, type HouseOptions } from '../support/house.ts';
import { aClock } from '../support/sim-clock.ts';
import { said } from '../support/streams.ts';

const sonnet = { provider: 'anthropic', model: 'claude-sonnet-4-6' };
const haiku = { provider: 'anthropic', model: 'claude-haiku-4-5' };
const instructions = 'You are patient. '.repeat(400);
/** Two actions, then an answer, turn after turn. */
const script: Script = ({ step }) =>
  step < 2 ? { actions: [{ name: 'look', arguments: { step } }] } : { text: 'Done looking.' };

function talk(more: Partial<HouseOptions> & { readonly script?: Script } = {}) {
  const clock = aClock();
  const models = cachedModels(more.script ?? script, clock);
  let agent: Partial<EffectiveAgent> = { models: [sonnet], instructions };
  const house = aHouse({
    tools: [aTool('look', () => 'something '.repeat(200)), aTool('listen', () => 'nothing')],
    clock,
    models,
    change: () => agent,
    ...more,
    script: [{ text: 'never said' }],
  });
  return {
    house,
    clock,
    models,
    become: (changed: Partial<EffectiveAgent>) => (agent = { ...agent, ...changed }),
  };
}

async function calls(
  house: House,
): Promise<{ readonly expected: number | undefined; readonly read: number | undefined }[]> {
  const facts = await house.facts();
  const requests = facts.filter((fact) => fact.type === 'llm.request');
  const responses = facts.filter((fact) => fact.type === 'llm.response');
  return requests.map(({ payload }, index) => ({
    expected: payload.expectedRead,
    read: responses[index]?.payload.usage.cacheRead,
  }));
}

const cold = async (house: House): Promise<FactPayload<'cache.cold'>[]> =>
  (await house.facts()).flatMap((fact) => (fact.type === 'cache.cold' ? [fact.payload] : []));

test('over turns of several calls, what is read from the cache is what was expected, and nothing is cold', async () => {
  const { house, clock } = talk();
  for (const text of ['one', 'two', 'three']) {
    await house.ask(text);
    clock.advance(60_000);
  }
  const seen = await calls(house);
  assert.equal(seen.length, 9);
  assert.deepEqual(
    seen.map(({ read }) => read),
    seen.map(({ expected }) => expected),
  );
  assert.ok(seen.slice(1).every(({ read }) => (read ?? 0) > 1_024));
  assert.deepEqual(await cold(house), []);
});

test('a turn of many parallel actions is still read from the cache', async () => {
  const wide: Script = ({ step }) =>
    step < 3
      ? { actions: Array.from({ length: 10 }, (_, index) => ({ name: 'look', arguments: { step, index } })) }
      : { text: 'Done.' };
  const { house } = talk({ script: wide });
  await house.ask('go');
  const seen = await calls(house);
  assert.deepEqual(
    seen.slice(1).map(({ read }) => read),
    seen.slice(1).map(({ expected }) => expected),
  );
  assert.deepEqual(await cold(house), []);
});

const changes: readonly (readonly [section: string, change: string | undefined, agent: Partial<EffectiveAgent>])[] = [
  ['tools', 'bundle', { tools: [aTool('look', () => 0).definition], revision: 'r2' }],
  ['instructions', 'bundle', { instructions: `${instructions} And quick.`, revision: 'r2' }],
  ['gallery', 'bundle', { gallery: '# Skills\n\n- public.minutes: Writes minutes.', revision: 'r2' }],
  ['model', 'model', { models: [haiku] }],
];
for (const [section, change, agent] of changes) {
  test(`the ledger names ${section} when it was changed on purpose`, async () => {
    const { house, become } = talk();
    await house.ask('one');
    become(agent);
    await house.ask('two');
    const [found, ...others] = await cold(house);
    assert.deepEqual([found?.cause, found?.section, found?.change, others.length], ['ours', section, change, 0]);
    assert.equal((await calls(house))[3]?.expected, 0);
  });
}

test('a model whose cache begins at longer prompts is cold once, and nothing of it is called warm', async () => {
  const { house, become, clock } = talk();
  await house.ask('one');
  become({ models: [haiku] });
  await house.ask('two');
  assert.equal((await cold(house)).length, 1);
  assert.equal(isCold(await house.fold(), clock.now()), true);
});

test('the ledger names the earlier turns when a summary has taken their place', async () => {
  const { house } = talk();
  await house.ask('one');
  await house.ask('two');
  await house.post({ type: 'memory.compacted', payload: { through: 1, summary: 'They looked.' } });
  await house.ask('three');
  const [found] = await cold(house);
  assert.deepEqual([found?.cause, found?.section, found?.change], ['ours', 'past', 'compaction']);
});

test('the ledger names the messages of the turn when a gate has changed them', async () => {
  let isOn = false;
  const { house } = talk({
    plugins: (bus) => {
      bus.before('before:llm.request', (question) =>
        isOn
          ? revise({ ...question, request: { ...question.request, messages: [said('Instead of all that.')] } })
          : undefined,
      );
    },
  });
  await house.ask('one');
  isOn = true;
  await house.ask('two');
  const [found] = await cold(house);
  assert.deepEqual([found?.cause, found?.section, found?.change], ['ours', 'turn', 'gate']);
});

test('a conversation that was left alone for longer than the cache lives is cold, and says for how long', async () => {
  const { house, clock } = talk();
  await house.ask('one');
  clock.advance(7 * 60_000);
  await house.ask('two');
  const [found] = await cold(house);
  assert.equal(found?.cause, 'expired');
  assert.equal(found.what, 'nothing was sent for 7 min; the cache keeps it for 5 min');
  assert.equal((await calls(house))[3]?.expected, 0);
});

test('the longer time keeps a conversation warm over a pause', async () => {
  const { house, clock, become } = talk();
  become({ cacheTtl: 'long' });
  await house.ask('one');
  clock.advance(30 * 60_000);
  await house.ask('two');
  assert.deepEqual(await cold(house), []);
});

test('what only the provider can know is called unknown, never guessed', async () => {
  const { house, models } = talk();
  await house.ask('one');
  models.forget();
  await house.ask('two');
  const [found, ...others] = await cold(house);
  assert.deepEqual([found?.cause, found?.section, others.length], ['unknown', undefined, 0]);
});

/** A conversation with a model that bills each turn as it is told. */
function billed(model: typeof sonnet, ...usages: readonly Usage[]) {
  const clock = aClock();
  let agent: Partial<EffectiveAgent> = { models: [model], instructions };
  const replies = usages.map((usage) => ({ text: 'Done.', usage }));
  const house = aHouse({ clock, script: { replies }, change: () => agent });
  return { house, clock, become: (changed: Partial<EffectiveAgent>) => (agent = { ...agent, ...changed }) };
}

test('B138 what is expected to be read follows from what was sent before, not from what was read last', async () => {
  const gpt = { provider: 'openai', model: 'gpt-5.2' };
  const { house } = billed(gpt, { input: 3_208, cacheRead: 192 }, { input: 6_008, cacheRead: 192 });
  await house.ask('one');
  await house.ask('two');
  const [, second] = await calls(house);
  const [found] = await cold(house);
  assert.ok((second?.expected ?? 0) > 3_000, `expected ${second?.expected}`);
  assert.deepEqual([found?.predicted, found?.billed, found?.cause], [second?.expected, 192, 'unknown']);
});

test('B138 each section of a prompt that is read again has its digest in the log', async () => {
  const { house } = billed(sonnet, { input: 10 }, { input: 10 });
  await house.ask('one');
  await house.ask('two');
  assert.deepEqual(Object.keys((await house.fold()).sections).sort(), ['instructions', 'past', 'tools']);
});

const nothingRead: readonly (readonly [cause: string, meanwhile: (house: ReturnType<typeof billed>) => unknown])[] = [
  ['unknown', () => undefined],
  ['expired', ({ clock }) => clock.advance(7 * 60_000)],
  ['ours', ({ become }) => become({ instructions: `${instructions} And quick.`, revision: 'r2' })],
];
for (const [cause, meanwhile] of nothingRead) {
  test(`B139 nothing was read of a warm prompt: ${cause}`, async () => {
    const warm = { input: 100, cacheWrite: 19_900 };
    const setting = billed(sonnet, warm, { input: 20_000, cacheRead: 0, cacheWrite: 0 });
    await setting.house.ask('one');
    meanwhile(setting);
    await setting.house.ask('two');
    assert.deepEqual(
      (await cold(setting.house)).map((one) => [one.predicted, one.billed, one.cause]),
      [[19_900, 0, cause]],
    );
  });
}

test('a failed call warms nothing', async () => {
  const { house } = talk();
  await house.ask('one');
  const warm = (await house.fold()).cached;
  const { turn } = await house.fold();
  assert.equal(turn, undefined);
  await house.post({
    type: 'llm.response',
    payload: {
      content: [],
      stop: 'error',
      usage: { cacheRead: 9_000 },
      attempt: 1,
      failure: { class: 'server', message: 'down' },
    },
  });
  assert.deepEqual((await house.fold()).cached, warm);
});

test('every request says where markers stand, and none has more than four', async () => {
  const { house, models } = talk();
  for (const text of ['one', 'two', 'three']) await house.ask(text);
  assert.ok(models.requests.every(({ checkpoints = [] }) => checkpoints.length > 0 && checkpoints.length <= 4));
  assert.deepEqual((await lastOf(house, 'llm.request'))?.markers, ['instructions', 'past', 'pre_tail', 'tail']);
});

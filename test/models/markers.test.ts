import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocate } from '../../src/assembly/checkpoints.ts';
import { cacheProfile } from '../../src/domain/cache-profile.ts';
import type { Checkpoint } from '../../src/domain/checkpoint.ts';
import type { Message } from '../../src/domain/model.ts';
import { isObject } from '../../src/base/json.ts';
import { aRequest, aTool, ok, said, spoke, used } from '../support/streams.ts';
import { validators, WIRE_PROVIDERS, wireBody } from '../support/wire.ts';

const messages: readonly Message[] = [said('hi'), spoke('hello'), said('go'), ...used('add', { a: 1 }, ok(3))];
const checkpoints: readonly Checkpoint[] = [
  { place: 'instructions', long: false },
  { place: 'past', message: 1, long: false },
  { place: 'pre_tail', message: 2, long: false },
  { place: 'tail', message: 4, long: false },
];
const request = aRequest({ instructions: 'You help.', tools: [aTool('add')], messages, announce: '[BUDGET] 2 of 15' });

/** Paths of the blocks that carry a marker, and the body without any. */
function strip(value: unknown, path: string, found: string[]): unknown {
  if (Array.isArray(value)) return value.map((item, index) => strip(item, `${path}/${index}`, found));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      if (key !== 'cache_control') return [[key, strip(item, `${path}/${key}`, found)]];
      found.push(`${path} ${JSON.stringify(item)}`);
      return [];
    }),
  );
}

test('Anthropic is given a marker on the last block of each place, and none after announce', async () => {
  const body = await wireBody('anthropic', { ...request, checkpoints });
  const found: string[] = [];
  strip(body, '', found);
  const marker = '{"type":"ephemeral"}';
  assert.deepEqual(found, [
    `/system/0 ${marker}`,
    `/messages/1/content/0 ${marker}`,
    `/messages/2/content/0 ${marker}`,
    `/messages/4/content/0 ${marker}`,
  ]);
  assert.deepEqual(validators.anthropic(body), []);
});

test('B087 where a message holds results of tools alone, the marker is on the last of them, and every one is counted', async () => {
  const three: readonly Message[] = [
    said('go'),
    { role: 'assistant', content: ['a', 'b', 'c'].map((id) => ({ type: 'action', id, name: 'add', arguments: {} })) },
    { role: 'tool', results: ['a', 'b', 'c'].map((id) => ({ id, name: 'add', observation: ok(1) })) },
  ];
  const { placed } = allocate(
    { instructions: 'so '.repeat(3_000), tools: [], messages: three },
    { past: 0, requests: [1] },
    cacheProfile({ provider: 'anthropic', model: 'claude-sonnet-4-6' }),
  );
  const found: string[] = [];
  strip(await wireBody('anthropic', { ...request, messages: three, checkpoints: placed }), '', found);
  assert.equal(found.at(-1), '/messages/2/content/2 {"type":"ephemeral"}');
  assert.equal(found.length, placed.length);
});

test('markers change no other byte', async () => {
  const [marked, plain] = [
    await wireBody('anthropic', { ...request, checkpoints }),
    await wireBody('anthropic', request),
  ];
  assert.equal(JSON.stringify(strip(marked, '', [])), JSON.stringify(plain));
});

test('the longer time is asked for where a checkpoint says so', async () => {
  const body = await wireBody('anthropic', { ...request, checkpoints: [{ place: 'tail', message: 4, long: true }] });
  const found: string[] = [];
  strip(body, '', found);
  assert.deepEqual(found, ['/messages/4/content/0 {"type":"ephemeral","ttl":"1h"}']);
});

test('without instructions the marker stands on the last tool', async () => {
  const body = await wireBody('anthropic', { ...request, instructions: '', checkpoints: checkpoints.slice(0, 1) });
  const found: string[] = [];
  strip(body, '', found);
  assert.deepEqual(found, ['/tools/0 {"type":"ephemeral"}']);
});

for (const provider of WIRE_PROVIDERS.filter((one) => one !== 'anthropic')) {
  test(`${provider} gets the same bytes and no markers`, async () => {
    const [marked, plain] = [await wireBody(provider, { ...request, checkpoints }), await wireBody(provider, request)];
    assert.equal(JSON.stringify(marked), JSON.stringify(plain));
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject, type Json } from '../../src/base/json.ts';
import { cacheProfile } from '../../src/domain/cache-profile.ts';
import type { AssistantBlock, Message, ModelRequest } from '../../src/domain/model.ts';
import type { ToolDefinition } from '../../src/domain/tool.ts';
import { aRequest, aTool, said } from '../support/streams.ts';
import { TEST_KEYS, validators, wireBody } from '../support/wire.ts';
import { createModelSource } from '../../src/adapters/models/model-source.ts';
import { systemClock } from '../../src/base/clock.ts';

const deferred = (name: string): ToolDefinition => ({ ...aTool(name), deferred: true });
const tools = [aTool('add'), deferred('mail_send'), deferred('mail_list')];
const sonnet = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
const gpt = { provider: 'openai', model: 'gpt-5.4' };

function toolsOf(body: unknown): unknown[] {
  const listed = isObject(body) ? body['tools'] : undefined;
  assert.ok(Array.isArray(listed));
  return listed.map((one: unknown) =>
    isObject(one) ? [one['type'] ?? 'custom', one['name'], one['defer_loading'] ?? false, 'cache_control' in one] : one,
  );
}

test('Anthropic is given its search and the tools that it searches, none of which carries a marker', async () => {
  const request = aRequest({
    model: sonnet,
    tools,
    messages: [said('hi')],
    checkpoints: [{ place: 'instructions', long: false }],
  });
  const body = await wireBody('anthropic', request);
  assert.deepEqual(toolsOf(body), [
    ['custom', 'add', false, true],
    ['tool_search_tool_bm25_20251119', 'tool_search_tool_bm25', false, false],
    ['custom', 'mail_send', true, false],
    ['custom', 'mail_list', true, false],
  ]);
  assert.deepEqual(validators.anthropic(body), []);
});

test('OpenAI is given its search, and no list of names that would hide what it finds', async () => {
  const request = aRequest({ model: gpt, tools, messages: [said('hi')], allowed: ['add', 'mail_send'] });
  const body = await wireBody('openai', request);
  assert.deepEqual(toolsOf(body), [
    ['function', 'add', false, false],
    ['tool_search', undefined, false, false],
    ['function', 'mail_send', true, false],
    ['function', 'mail_list', true, false],
  ]);
  assert.equal(isObject(body) && 'tool_choice' in body, false);
});

const anthropicSearch: readonly AssistantBlock[] = [
  {
    type: 'provider',
    kind: 'anthropic.tool-call',
    role: 'call',
    call: 'srv1',
    data: { name: 'tool_search_tool_bm25', input: { query: 'mail' } },
  },
  {
    type: 'provider',
    kind: 'anthropic.tool-result',
    role: 'result',
    call: 'srv1',
    data: {
      name: 'tool_search_tool_bm25',
      failed: false,
      result: [
        { type: 'tool_reference', toolName: 'mail_send' },
        { type: 'tool_reference', toolName: 'mail_list' },
      ],
    },
  },
  { type: 'text', text: 'I can mail.' },
];
const searched: readonly Message[] = [said('mail Bo'), { role: 'assistant', content: anthropicSearch }, said('go on')];

function found(body: unknown): Json {
  const text = JSON.stringify(body);
  const names = [...text.matchAll(/"tool_reference","tool_name":"(\w+)"/g)].map(([, name]) => name ?? '');
  return text.includes('tool_search_tool_result') ? names : null;
}

test('what a search has found goes back whole while it is searched, and without what is gone', async () => {
  const sent = (list: readonly ToolDefinition[]): Promise<unknown> =>
    wireBody('anthropic', aRequest({ model: sonnet, tools: list, messages: searched }));
  assert.deepEqual(found(await sent(tools)), ['mail_send', 'mail_list']);
  assert.deepEqual(found(await sent(tools.slice(0, 2))), ['mail_send']);
  assert.deepEqual(found(await sent(tools.slice(0, 1))), null);
});

test('models search where their provider says so, and no others', () => {
  const searches = (provider: string, model: string, options = {}): boolean =>
    cacheProfile({ provider, model, options }).searches;
  assert.deepEqual(
    [
      searches('anthropic', 'claude-haiku-4-5-20251001'),
      searches('anthropic', 'claude-opus-5'),
      searches('anthropic', 'claude-opus-4-1-20250805'),
      searches('anthropic', 'claude-sonnet-4-20250514'),
      searches('openai', 'gpt-5.4-mini'),
      searches('openai', 'gpt-5.2'),
      searches('openai', 'gpt-5.4', { api: 'chat' }),
      searches('google', 'gemini-3-flash-preview'),
    ],
    [true, true, false, false, true, false, false, false],
  );
});

/** The body that a provider's own package sends. */
async function bodyOf(request: ModelRequest): Promise<unknown> {
  let body: unknown;
  const fetch: typeof globalThis.fetch = (_url, init) => {
    body = JSON.parse(init?.body as string);
    return Promise.resolve(new Response('', { headers: { 'content-type': 'text/event-stream' } }));
  };
  const environment = { ...TEST_KEYS, AZURE_API_KEY: 'test-key-azure' };
  const model = await createModelSource({ environment, clock: systemClock, fetch }).open(request.model);
  const stream = await model.call(request, { conversationId: 'c1', signal: new AbortController().signal });
  while ((await stream.next()) !== undefined);
  return body;
}

for (const ref of [
  { provider: 'openai', model: 'gpt-5.2' },
  { provider: 'azure', model: 'my-deployment', options: { baseUrl: 'https://house.openai.azure.test/openai' } },
]) {
  test(`${ref.provider}, which masks, is told which of the listed tools may be called`, async () => {
    const request = aRequest({
      model: ref,
      tools: [aTool('add'), aTool('say')],
      messages: [said('hi')],
      allowed: ['add'],
    });
    const body = await bodyOf(request);
    assert.equal(cacheProfile(ref).masks, true);
    assert.deepEqual(isObject(body) && body['tool_choice'], {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'add' }],
    });
    assert.deepEqual(isObject(body) && Array.isArray(body['tools']) && body['tools'].length, 2);
  });
}

for (const ref of [
  { provider: 'anthropic', model: 'claude-sonnet-4-5' },
  { provider: 'openai', model: 'gpt-5.2', options: { api: 'chat' } },
  { provider: 'google', model: 'gemini-3-flash-preview' },
]) {
  test(`${ref.provider} ${JSON.stringify(ref.options ?? {})} has no place for such names and is told to mask nothing`, async () => {
    const request = aRequest({ model: ref, tools: [aTool('add'), aTool('say')], messages: [said('hi')] });
    const [masked, plain] = [await bodyOf({ ...request, allowed: ['add'] }), await bodyOf(request)];
    assert.equal(cacheProfile(ref).masks, false);
    assert.deepEqual(masked, plain);
  });
}

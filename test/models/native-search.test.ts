// The provider's own search of the web: what is declared, what comes back, and what it costs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPriceList } from '../../src/adapters/prices/price-list.ts';
import { isObject, type Json } from '../../src/base/json.ts';
import type { Block, ModelPart, ModelRequest } from '../../src/domain/model.ts';
import { providerActs } from '../../src/domain/provider-search.ts';
import type { ToolDefinition } from '../../src/domain/tool.ts';
import { casesAbsent } from '../support/cases.ts';
import { frame, recorded, replay, serve } from '../support/recorded.ts';
import { aRequest, aTool, said } from '../support/streams.ts';
import { validators, wireBody, WIRE_MODELS, type WireProvider } from '../support/wire.ts';

const search: ToolDefinition = { ...aTool('web_search'), native: { kind: 'web_search', maxUses: 3 } };
const tools = [aTool('add'), search];

async function bodyOf(provider: WireProvider, changes: Partial<ModelRequest> = {}): Promise<Record<string, unknown>> {
  const request = aRequest({ model: WIRE_MODELS[provider], tools, messages: [said('hi')], ...changes });
  const body = await wireBody(provider, request);
  assert.deepEqual(validators[provider](body), []);
  assert.ok(isObject(body));
  return body;
}

const withSites = [{ ...search, native: { kind: 'web_search' as const, maxUses: 3, sites: ['example.org'] } }];

test('Anthropic is told of its search with its limit and its sites, beside our tools', async () => {
  const body = await bodyOf('anthropic', { tools: [aTool('add'), ...withSites] });
  assert.deepEqual(
    (body['tools'] as { name: string }[]).map(({ name }) => name),
    ['add', 'web_search'],
  );
  assert.deepEqual((body['tools'] as Json[])[1], {
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: 3,
    allowed_domains: ['example.org'],
  });
});

test('OpenAI is told of its search, of the most calls, and to say what it found', async () => {
  const body = await bodyOf('openai', { tools: [aTool('add'), ...withSites] });
  const { tools: sent, max_tool_calls: most, include } = body;
  assert.deepEqual((sent as Json[])[1], { type: 'web_search', filters: { allowed_domains: ['example.org'] } });
  assert.equal(most, 3);
  assert.ok((include as string[]).includes('web_search_call.action.sources'));
});

test('Gemini from 3 on searches beside our tools; with sites it could not be held to, it does not', async () => {
  const found = async (given: readonly ToolDefinition[]) =>
    JSON.stringify((await bodyOf('google', { tools: given }))['tools']);
  assert.match(await found(tools), /"googleSearch":\{\}/);
  assert.doesNotMatch(await found([aTool('add'), ...withSites]), /googleSearch/);
});

test('a search that may not be called in a request is not declared in it', async () => {
  for (const provider of ['anthropic', 'openai', 'google'] as const) {
    const body = await bodyOf(provider, { allowed: ['add'] });
    assert.doesNotMatch(JSON.stringify(body['tools']), /search/i, provider);
  }
});

test('a provider without such a search is sent neither it nor a function of its name', async () => {
  for (const provider of ['openai-chat', 'openai-compatible'] as const) {
    const body = await bodyOf(provider);
    assert.deepEqual(
      (body['tools'] as { function: { name: string } }[]).map((one) => one.function.name),
      ['add'],
    );
  }
});

const searched: readonly Block[] = [
  {
    type: 'provider',
    kind: 'anthropic.tool-call',
    role: 'call',
    call: 'srvtoolu_1',
    data: { name: 'web_search', input: { query: 'tea' } },
  },
  {
    type: 'provider',
    kind: 'anthropic.tool-result',
    role: 'result',
    call: 'srvtoolu_1',
    data: {
      name: 'web_search',
      failed: false,
      result: [
        { type: 'web_search_result', url: 'https://a.test', title: 'Tea', pageAge: null, encryptedContent: 'x' },
      ],
    },
  },
  { type: 'text', text: 'Hot.' },
];

test('what Anthropic searched goes back to it while it may search, and not afterwards', async () => {
  const content = searched.flatMap((one) => (one.type === 'provider' || one.type === 'text' ? [one] : []));
  const messages = [said('tea?'), { role: 'assistant' as const, content }, said('and now?')];
  const kinds = async (given: readonly ToolDefinition[]) => {
    const { messages: sent } = await bodyOf('anthropic', { tools: given, messages });
    return (sent as { content: { type: string }[] }[])[1]?.content.map(({ type }) => type);
  };
  assert.deepEqual(await kinds(tools), ['server_tool_use', 'web_search_tool_result', 'text']);
  assert.deepEqual(await kinds([aTool('add')]), ['text']);
});

/** A stream of Anthropic in which it searches once and cites what it found. */
const anthropicStream = [
  {
    type: 'message_start',
    message: {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    },
  },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":"tea"}' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [
        {
          type: 'web_search_result',
          url: 'https://a.test/tea',
          title: 'Tea',
          page_age: 'May 1, 2026',
          encrypted_content: 'abc',
        },
      ],
    },
  },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Tea is hot.' } },
  {
    type: 'content_block_delta',
    index: 2,
    delta: {
      type: 'citations_delta',
      citation: {
        type: 'web_search_result_location',
        url: 'https://a.test/tea',
        title: 'Tea',
        encrypted_index: 'i',
        cited_text: 'hot',
      },
    },
  },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { input_tokens: 2_000, output_tokens: 50, server_tool_use: { web_search_requests: 1 } },
  },
  { type: 'message_stop' },
];

/** A stream of Gemini that says with its last piece what it searched and on which pages it rests. */
const googleStream = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Tea is hot.' }] } }] },
  {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: '' }] },
        finishReason: 'STOP',
        groundingMetadata: {
          webSearchQueries: ['tea', 'tea temperature'],
          groundingChunks: [{ web: { uri: 'https://a.test/tea', title: 'Tea' } }],
        },
      },
    ],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
  },
];

function heard(provider: WireProvider, payloads: readonly unknown[]): Promise<ModelPart[]> {
  const bytes = new TextEncoder().encode(
    frame(
      provider,
      payloads.map((one) => JSON.stringify(one)),
    ),
  );
  return replay(provider, serve(bytes));
}

function blocksOf(parts: readonly ModelPart[]): readonly Block[] {
  return parts.flatMap((part) => (part.type === 'block' ? [part.block] : []));
}

function searchesOf(parts: readonly ModelPart[]): number | undefined {
  const last = parts.at(-1);
  return last?.type === 'finish' ? last.usage.searches : undefined;
}

test('what Anthropic searched is told with its words and pages, and counted as it is billed', async () => {
  const parts = await heard('anthropic', anthropicStream);
  assert.deepEqual(providerActs(blocksOf(parts)), [
    { arguments: { query: 'tea' }, results: [{ title: 'Tea', url: 'https://a.test/tea', published: 'May 1, 2026' }] },
  ]);
  assert.equal(searchesOf(parts), 1);
});

test('a search that Anthropic could not make is told as failed', async () => {
  const failed = anthropicStream.with(4, {
    type: 'content_block_start',
    index: 1,
    content_block: {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
    } as never, // the other shape of a result
  });
  assert.equal(providerActs(blocksOf(await heard('anthropic', failed)))[0]?.failed, 'max_uses_exceeded');
});

test('what Gemini rests on is told as one search, and each of its queries is counted', async () => {
  const parts = await heard('google', googleStream);
  assert.deepEqual(providerActs(blocksOf(parts)), [
    { arguments: {}, results: [{ title: 'Tea', url: 'https://a.test/tea' }] },
  ]);
  assert.equal(searchesOf(parts), 2);
});

test(
  'of what OpenAI did on the web its searches are counted, and all of it is told',
  { skip: casesAbsent() },
  async () => {
    const { provider, bytes } = recorded('openai/responses--openai-web-search-tool.1');
    const parts = await replay(provider, serve(bytes));
    const acts = providerActs(blocksOf(parts));
    const kinds = acts.map(({ arguments: given }) => (isObject(given) ? given['type'] : undefined));
    assert.equal(searchesOf(parts), kinds.filter((one) => one === 'search').length);
    assert.ok(kinds.includes('openPage'));
  },
);

test('searches cost what the list says by the thousand, and an unknown price makes the call unknown', () => {
  const at = Date.parse('2026-11-30T12:00:00Z');
  const haiku = { provider: 'anthropic', model: 'claude-haiku-4-5' };
  assert.equal(createPriceList().cost(haiku, { input: 1_000_000, searches: 3 }, at), '1.03');
  assert.equal(createPriceList().worstCost(haiku, { input: 0, output: 0, searches: 5 }, at), '0.05');
  const own = createPriceList({ 'mine/*': { input: 1, output: 1 }, 'other/*': { input: 1, output: 1, search: 2 } });
  assert.equal(own.cost({ provider: 'mine', model: 'm' }, { input: 1, searches: 1 }, at), undefined);
  assert.equal(own.cost({ provider: 'other', model: 'm' }, { input: 0, searches: 500 }, at), '1');
});

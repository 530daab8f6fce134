import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AssistantBlock, Message, ModelRequest } from '../../src/domain/model.ts';
import type { Observation } from '../../src/domain/tool.ts';
import { aRequest, aTool, failed, ok, said, spoke } from '../support/streams.ts';
import { validators, WIRE_PROVIDERS, wireBody, type WireProvider } from '../support/wire.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const png = { type: 'file' as const, mediaType: 'image/png', name: 'dot.png', data: PIXEL };
const tools = [aTool('add'), aTool('draw'), aTool('say')];

function action(id: string, name: string, args: Record<string, string | number> = {}): AssistantBlock {
  return { type: 'action', id, name, arguments: args };
}

function results(...pairs: [id: string, name: string, observation: Observation][]): Message {
  return { role: 'tool', results: pairs.map(([id, name, observation]) => ({ id, name, observation })) };
}

const long = (letter: string) => letter.repeat(64);

/** Transcripts that providers are known to refuse when they are passed on carelessly. */
const transcripts: Readonly<Record<string, Partial<ModelRequest>>> = {
  'a plain question': { messages: [said('hi')] },
  'parallel actions, one failed': {
    messages: [
      said('go'),
      {
        role: 'assistant',
        content: [action('t1-1-1', 'add', { a: 1 }), action('t1-1-2', 'say'), action('t1-1-3', 'add')],
      },
      results(
        ['t1-1-1', 'add', ok(3)],
        ['t1-1-2', 'say', failed('failed', 'No voice.')],
        ['t1-1-3', 'add', { outcome: 'refused', error: { code: 'denied', message: 'Not now.' }, synthetic: true }],
      ),
    ],
    announce: '[BUDGET] 2 of 15',
  },
  'results of null, of nothing and of empty text': {
    messages: [
      said('go'),
      { role: 'assistant', content: [action('a', 'add'), action('b', 'say'), action('c', 'draw')] },
      results(
        ['a', 'add', ok(null)],
        ['b', 'say', { outcome: 'ok' }],
        ['c', 'draw', { outcome: 'ok', content: [{ type: 'text', text: ' ' }] }],
      ),
    ],
  },
  'a picture in a question and one in a result': {
    messages: [
      { role: 'user', content: [{ type: 'text', text: '' }, png] },
      { role: 'assistant', content: [{ type: 'text', text: 'Drawing.' }, action('a', 'draw'), action('b', 'add')] },
      results(
        ['a', 'draw', { outcome: 'ok', value: { size: 1 }, content: [{ type: 'text', text: 'a dot' }, png] }],
        ['b', 'add', ok(1)],
      ),
    ],
    announce: 'now',
  },
  'files that nobody can read': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'application/vnd.ms-excel', name: 'a.xls', data: PIXEL },
          { type: 'file', mediaType: 'text/csv', name: 'a.csv', data: Buffer.from('a,b\n1,ü').toString('base64') },
          { type: 'file', mediaType: 'application/zip', url: 'https://files.test/a.zip' },
          { type: 'file', mediaType: 'image/png', ref: 'abc' },
          { type: 'file', mediaType: 'image/png', data: '' },
          { type: 'file', mediaType: 'image/*', data: PIXEL },
          { type: 'file', mediaType: 'image/png', url: 'not a url' },
        ],
      },
    ],
  },
  'empty and blank texts everywhere': {
    instructions: ' \n',
    messages: [
      { role: 'user', content: [{ type: 'text', text: '' }] },
      said('hi'),
      { role: 'assistant', content: [{ type: 'text', text: '' }] },
      { role: 'assistant', content: [{ type: 'text', text: '  \n' }, action('a', 'add')] },
      results(['a', 'add', ok('')]),
      { role: 'user', content: [] },
    ],
    announce: ' ',
  },
  'nothing at all': { messages: [] },
  'an answer first': { messages: [spoke('Hello.'), said('hi')] },
  'an answer last': { messages: [said('hi'), spoke('Hello.')] },
  'several people’s messages in a row': {
    messages: [said('a'), said('b'), spoke('c'), spoke('d'), said('e')],
    announce: 'x',
  },
  'half characters': {
    instructions: 'be \ud83d kind',
    messages: [
      said('cut \ud83d'),
      { role: 'assistant', content: [{ type: 'text', text: '\ude00 cut' }, action('a', 'say', { text: '\ud83d' })] },
      results(['a', 'say', ok('\udc00 and 日本語 😀')]),
    ],
    announce: '\ud800',
  },
  'ids of 64 characters': {
    messages: [
      said('go'),
      { role: 'assistant', content: [action(long('a'), 'add'), action(long('b'), 'say')] },
      results([long('a'), 'add', ok(1)], [long('b'), 'say', ok(2)]),
    ],
  },
  'thinking of nobody in particular': {
    messages: [
      said('go'),
      {
        role: 'assistant',
        content: [{ type: 'thinking', text: 'hm' }, { type: 'text', text: 'well' }, action('a', 'add')],
      },
      results(['a', 'add', ok(1)]),
      { role: 'assistant', content: [{ type: 'thinking', text: 'only a thought' }] },
    ],
    announce: 'x',
  },
  'a note about an action that a person changed': {
    messages: [
      said('go'),
      { role: 'assistant', content: [action('a', 'say')] },
      { role: 'tool', results: [{ id: 'a', name: 'say', observation: ok(1), note: 'Changed by ana.' }] },
    ],
  },
};

const signed: Readonly<Record<WireProvider, readonly AssistantBlock[]>> = {
  anthropic: [
    { type: 'thinking', text: 'signed', opaque: { anthropic: { signature: 'c2ln' } } },
    { type: 'thinking', text: '', opaque: { anthropic: { redactedData: 'cmVk' } } },
  ],
  openai: [
    { type: 'thinking', text: 'one', opaque: { openai: { itemId: 'rs_1' } } },
    { type: 'thinking', text: 'two', opaque: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'ZW5j' } } },
  ],
  'openai-chat': [],
  google: [{ type: 'thinking', text: 'signed', opaque: { google: { thoughtSignature: 'c2ln' } } }],
  'openai-compatible': [{ type: 'thinking', text: 'plain' }],
};

function thinkingRequest(provider: WireProvider): ModelRequest {
  return aRequest({
    tools,
    messages: [
      said('go'),
      { role: 'assistant', content: [...signed[provider], action('a', 'add')] },
      results(['a', 'add', ok(1)]),
    ],
  });
}

for (const provider of WIRE_PROVIDERS) {
  describe(provider, () => {
    for (const [name, changes] of Object.entries(transcripts)) {
      test(`accepts a request with ${name}`, async () => {
        const body = await wireBody(provider, aRequest({ instructions: 'Be brief.', tools, ...changes }));
        assert.deepEqual(validators[provider](body), [], JSON.stringify(body, null, 1));
      });
    }

    test('gets its own thinking back whole, and nobody else’s', async () => {
      for (const origin of WIRE_PROVIDERS) {
        const body = await wireBody(provider, thinkingRequest(origin));
        assert.deepEqual(validators[provider](body), [], `${origin}: ${JSON.stringify(body)}`);
        const sent = JSON.stringify(body);
        const marks = {
          anthropic: ['"signature":"c2ln"', '"data":"cmVk"'],
          openai: ['"ZW5j"', '"one"', '"two"'],
          google: ['"c2ln"'],
        };
        for (const mark of Object.entries(marks).flatMap(([key, list]) => (key === provider ? list : []))) {
          assert.equal(sent.includes(mark), origin === provider, `${mark} of ${origin}`);
        }
      }
    });

    test('is told the tool choice', async () => {
      const choices = [
        { mode: 'auto' },
        { mode: 'required' },
        { mode: 'none' },
        { mode: 'tool', name: 'draw' },
      ] as const;
      const words: string[] = [];
      for (const toolChoice of choices) {
        const body = (await wireBody(provider, aRequest({ tools, messages: [said('hi')], toolChoice }))) as Record<
          string,
          unknown
        >;
        assert.deepEqual(validators[provider](body), []);
        words.push(JSON.stringify(body['tool_choice'] ?? body['toolConfig'] ?? 'absent'));
      }
      assert.equal(new Set(words).size, 4, words.join('\n'));
      assert.ok(words[3]?.includes('draw'));
    });

    test('keeps the whole catalogue when only some of it is allowed', async () => {
      for (const allowed of [['add'], ['add', 'say'], []]) {
        const body = await wireBody(provider, aRequest({ tools, messages: [said('hi')], allowed }));
        assert.deepEqual(validators[provider](body), []);
        for (const { name } of tools) assert.ok(JSON.stringify(body).includes(`"name":"${name}"`));
      }
    });

    test('shows announce last of all', async () => {
      const messages = [
        said('go'),
        { role: 'assistant' as const, content: [action('a', 'add')] },
        results(['a', 'add', ok(1)]),
      ];
      const body = (await wireBody(provider, aRequest({ tools, messages, announce: 'ANNOUNCED' }))) as Record<
        string,
        unknown
      >;
      const list = (body['messages'] ?? body['input'] ?? body['contents']) as unknown[];
      const last = JSON.stringify(list.at(-1));
      assert.ok(last.includes('ANNOUNCED') && !JSON.stringify(list.slice(0, -1)).includes('ANNOUNCED'));
      assert.match(last, /ANNOUNCED"[}\]]*$|ANNOUNCED"\}?\],"role":"user"\}$/);
    });

    test('is given the schema of an answer that has to be JSON', async () => {
      const loose = { type: 'object', properties: { a: { type: 'string' } } };
      const strict = { ...loose, required: ['a'], additionalProperties: false };
      for (const responseSchema of [loose, strict]) {
        const body = await wireBody(provider, aRequest({ messages: [said('hi')], responseSchema }));
        assert.deepEqual(validators[provider](body), [], JSON.stringify(body));
        assert.match(JSON.stringify(body), /json/);
      }
    });

    test('is given the limits and the effort of the model', async () => {
      const model = { provider: 'any', model: 'any', maxTokens: 2048, temperature: 0.5, effort: 'low' as const };
      const body = await wireBody(provider, aRequest({ model, messages: [said('hi')] }));
      assert.deepEqual(validators[provider](body), [], JSON.stringify(body));
      assert.match(JSON.stringify(body), /2048|"max_tokens":\d+/);
    });

    test('B066 B069 gets schemas in which every reference resolves and nullable unions survive', async () => {
      const schema = {
        $schema: 'https://example.test/some-dialect',
        type: 'object',
        properties: {
          languages: { type: ['array', 'null'], items: { type: 'string' } },
          tree: { $ref: '#/definitions/node' },
          elsewhere: { $ref: 'https://example.test/other.json', description: 'kept' },
          pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
          above: { type: 'number', minimum: 0, exclusiveMinimum: true },
          definitions: { type: 'string', description: 'a property, not a keyword' },
        },
        required: ['definitions'],
        definitions: { node: { type: 'object', properties: { next: { $ref: '#/definitions/node' } } } },
      };
      const before = JSON.stringify(schema);
      const body = await wireBody(provider, aRequest({ tools: [aTool('add', schema)], messages: [said('hi')] }));
      assert.deepEqual(validators[provider](body), [], JSON.stringify(body));
      const sent = JSON.stringify(body);
      assert.ok(sent.includes('"languages":{"type":["array","null"],"items":{"type":"string"}}'));
      assert.ok(sent.includes('"above":{"type":"number","exclusiveMinimum":0}'));
      assert.ok(sent.includes('"definitions":{"type":"string","description":"a property, not a keyword"}'));
      assert.ok(sent.includes('"elsewhere":{"description":"kept"}'));
      assert.equal(JSON.stringify(schema), before, 'the author’s schema is not touched');
    });
  });
}

test('B068 the dialect of a schema does not matter to what is sent', async () => {
  for (const $schema of [
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-04/schema#',
    'urn:nobody:knows',
  ]) {
    const body = await wireBody(
      'anthropic',
      aRequest({ tools: [aTool('add', { $schema, type: 'object' })], messages: [said('hi')] }),
    );
    assert.ok(!JSON.stringify(body).includes($schema));
  }
});

test('what a tool of the provider left open is sent only to be continued', async () => {
  const call: AssistantBlock = {
    type: 'provider',
    kind: 'anthropic.tool-call',
    role: 'call',
    call: 'srvtoolu_1',
    data: { name: 'web_search', input: { query: 'x' } },
  };
  const messages: Message[] = [
    said('search'),
    { role: 'assistant', content: [{ type: 'text', text: 'Searching.' }, call] },
  ];
  const paused = JSON.stringify(await wireBody('anthropic', aRequest({ messages, announce: 'now' })));
  assert.ok(paused.includes('srvtoolu_1') && !paused.includes('"now"'));
  const moved = await wireBody('anthropic', aRequest({ messages: [...messages, said('stop that')], announce: 'now' }));
  assert.ok(!JSON.stringify(moved).includes('srvtoolu_1'));
  assert.deepEqual(validators.anthropic(moved), []);
});

test('Mistral gets ids of nine letters and digits', async () => {
  const { createModelSource } = await import('../../src/adapters/models/model-source.ts');
  let sent = '';
  const source = createModelSource({
    environment: {},
    fetch: (_url, init) => {
      sent = init?.body as string;
      return Promise.resolve(new Response(''));
    },
  });
  const model = await source.open({
    provider: 'openai-compatible',
    model: 'mistral-small-latest',
    options: { baseUrl: 'https://api.mistral.ai/v1' },
  });
  const request = aRequest({
    tools,
    messages: [
      said('go'),
      { role: 'assistant', content: [action('t1-1-1', 'add')] },
      results(['t1-1-1', 'add', ok(1)]),
    ],
  });
  await (await model.call(request, { conversationId: 'c', signal: new AbortController().signal })).next();
  const ids = [...sent.matchAll(/"(?:id|tool_call_id)":"([^"]*)"/g)].map(([, id]) => id);
  assert.equal(ids.length, 2);
  assert.match(ids[0] ?? '', /^[a-z0-9]{9}$/);
  assert.equal(ids[0], ids[1]);
});

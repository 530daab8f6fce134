import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validators, type WireProvider } from '../support/wire.ts';

const user = { role: 'user', content: 'hi' };
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'add', input: {} }] };
const answer = { type: 'tool_result', tool_use_id: 'a', content: 'ok' };
const tool = { name: 'add', input_schema: { type: 'object' } };
const chatCall = { id: 'a', type: 'function', function: { name: 'add', arguments: '{}' } };
const functionCall = { type: 'function_call', call_id: 'a', name: 'add', arguments: '{}' };
const modelCall = { role: 'model', parts: [{ functionCall: { name: 'add', args: {}, id: 'a' } }] };
const modelAnswer = { role: 'user', parts: [{ functionResponse: { name: 'add', id: 'a', response: {} } }] };
const hi = { role: 'user', parts: [{ text: 'hi' }] };

function anthropic(messages: unknown[], more: object = {}): object {
  return { model: 'm', max_tokens: 10, tools: [tool], messages, ...more };
}

const good: readonly (readonly [WireProvider, object])[] = [
  ['anthropic', anthropic([user, call, { role: 'user', content: [answer, { type: 'text', text: 'x' }] }])],
  [
    'openai-chat',
    {
      model: 'm',
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [chatCall] },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    },
  ],
  ['openai', { model: 'm', input: [user, functionCall, { type: 'function_call_output', call_id: 'a', output: 'x' }] }],
  ['google', { contents: [hi, modelCall, modelAnswer] }],
];

const bad: readonly (readonly [WireProvider, says: RegExp, object])[] = [
  ['anthropic', /messages is empty/, anthropic([])],
  ['anthropic', /not the user’s/, anthropic([{ role: 'assistant', content: 'x' }, user])],
  ['anthropic', /role of the message before/, anthropic([user, user])],
  ['anthropic', /blank/, anthropic([{ role: 'user', content: [{ type: 'text', text: ' ' }] }])],
  ['anthropic', /no content/, anthropic([{ role: 'user', content: [] }])],
  ['anthropic', /with 0 results/, anthropic([user, call, user])],
  ['anthropic', /with 2 results/, anthropic([user, call, { role: 'user', content: [answer, answer] }])],
  ['anthropic', /did not ask/, anthropic([{ role: 'user', content: [answer] }])],
  [
    'anthropic',
    /before its tool_results/,
    anthropic([user, call, { role: 'user', content: [{ type: 'text', text: 'x' }, answer] }]),
  ],
  [
    'anthropic',
    /used twice/,
    anthropic([user, call, { role: 'user', content: [answer] }, call, { role: 'user', content: [answer] }]),
  ],
  ['anthropic', /prefill/, anthropic([user, { role: 'assistant', content: 'x' }])],
  [
    'anthropic',
    /without signature/,
    anthropic([
      user,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'x' },
          { type: 'text', text: 'x' },
        ],
      },
      user,
    ]),
  ],
  [
    'anthropic',
    /ends with thinking/,
    anthropic([user, { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 's' }] }, user]),
  ],
  ['anthropic', /no tools/, anthropic([user, call, { role: 'user', content: [answer] }], { tools: [] })],
  ['anthropic', /lone surrogate/, anthropic([{ role: 'user', content: 'x\ud800' }])],
  [
    'anthropic',
    /refers to #/,
    anthropic([user], {
      tools: [{ name: 'a', input_schema: { type: 'object', properties: { a: { $ref: '#/$defs/x' } } } }],
    }),
  ],
  [
    'anthropic',
    /2020-12/,
    anthropic([user], { tools: [{ name: 'a', input_schema: { type: 'object', properties: { a: { items: [{}] } } } }] }),
  ],
  [
    'openai-chat',
    /has no result/,
    { model: 'm', messages: [user, { role: 'assistant', content: null, tool_calls: [chatCall] }] },
  ],
  [
    'openai-chat',
    /comes before the result/,
    { model: 'm', messages: [user, { role: 'assistant', content: null, tool_calls: [chatCall] }, user] },
  ],
  [
    'openai-chat',
    /waits for nothing/,
    { model: 'm', messages: [user, { role: 'tool', tool_call_id: 'a', content: 'x' }] },
  ],
  ['openai-chat', /is blank/, { model: 'm', messages: [user, { role: 'assistant', content: '' }] }],
  [
    'openai-chat',
    /not an object/,
    {
      model: 'm',
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [{ ...chatCall, function: { name: 'add', arguments: 'x' } }] },
      ],
    },
  ],
  [
    'openai-chat',
    /call id/,
    {
      model: 'm',
      messages: [user, { role: 'assistant', content: null, tool_calls: [{ ...chatCall, id: 'a'.repeat(41) }] }],
    },
  ],
  ['openai', /has no output/, { model: 'm', input: [user, functionCall] }],
  [
    'openai',
    /waits for nothing/,
    { model: 'm', input: [user, { type: 'function_call_output', call_id: 'a', output: 'x' }] },
  ],
  [
    'openai',
    /nobody has the content/,
    {
      model: 'm',
      store: false,
      input: [user, { type: 'reasoning', id: 'r', summary: [] }, { role: 'assistant', content: 'x' }],
    },
  ],
  [
    'openai',
    /without what it led to/,
    { model: 'm', input: [user, { type: 'reasoning', id: 'r', summary: [] }, user] },
  ],
  ['openai', /not stored/, { model: 'm', store: false, input: [user, { type: 'item_reference', id: 'r' }] }],
  [
    'openai',
    /is not required/,
    {
      model: 'm',
      input: [user],
      text: {
        format: {
          type: 'json_schema',
          name: 'a',
          strict: true,
          schema: { type: 'object', additionalProperties: false, properties: { a: {} } },
        },
      },
    },
  ],
  ['google', /is answered by/, { contents: [hi, modelCall, hi] }],
  ['google', /not there/, { contents: [hi, modelAnswer] }],
  ['google', /does not follow/, { contents: [hi, { role: 'model', parts: [{ text: 'x' }] }, modelCall, modelAnswer] }],
  ['google', /no parts/, { contents: [{ role: 'user', parts: [] }] }],
  ['google', /blank text/, { contents: [{ role: 'user', parts: [{ text: '' }] }] }],
];

test('the validators accept what providers accept', () => {
  for (const [provider, body] of good) assert.deepEqual(validators[provider](body), [], provider);
});

test('each rule of the validators can fail', () => {
  for (const [provider, says, body] of bad) {
    const problems = validators[provider](body);
    assert.ok(
      problems.some((problem) => says.test(problem)),
      `${provider} should say ${String(says)} of ${JSON.stringify(body)} and says: ${problems.join('; ')}`,
    );
  }
});

test('the validators survive any JSON', () => {
  for (const body of [null, 1, 'x', [], {}, { messages: 1, input: {}, contents: 'x' }, { messages: [null, 1, 'x'] }]) {
    for (const validate of Object.values(validators)) assert.ok(validate(body).length > 0);
  }
});

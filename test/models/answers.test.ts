// Answers that providers were seen to give and clients to misread, served at wire level to the real adapters.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelPart } from '../../src/domain/model.ts';
import { frame, replay, serve } from '../support/recorded.ts';
import { actionsOf, textOf, thinkingOf } from '../support/streams.ts';
import type { WireProvider } from '../support/wire.ts';

async function answer(
  provider: WireProvider,
  payloads: readonly object[],
  settings: { readonly maxTokens?: number; readonly cut?: true } = {},
): Promise<ModelPart[]> {
  const { cut, ...rest } = settings;
  const framed = frame(
    provider,
    payloads.map((payload) => JSON.stringify(payload)),
  );
  const text = cut === true ? framed.replace('data: [DONE]\n\n', '') : framed;
  return replay(provider, serve(new TextEncoder().encode(text)), rest);
}

function lastOf(parts: readonly ModelPart[]): ModelPart {
  const last = parts.at(-1);
  assert.ok(last);
  return last;
}

function stopOf(parts: readonly ModelPart[]): string {
  const last = parts.at(-1);
  if (last?.type === 'finish') return last.stop;
  return last?.type === 'failure' ? `failure ${last.failure.class}` : 'cut';
}

const actionParts = (parts: readonly ModelPart[]) => parts.filter((part) => part.type === 'action');

// ── Chat Completions ─────────────────────────────────────────────────────────────────────────────────────────────

function delta(content: object, finish: string | null = null): object {
  return { id: 'c', created: 1, model: 'x', choices: [{ index: 0, delta: content, finish_reason: finish }] };
}

function callDelta(call: object): object {
  return delta({ tool_calls: [{ index: 0, ...call }] });
}

const begin = callDelta({ id: 'call_1', type: 'function', function: { name: 'write', arguments: '' } });
const piece = (text: string) => callDelta({ function: { arguments: text } });
const spent = (tokens: number) => ({
  ...delta({}),
  choices: [],
  usage: { prompt_tokens: 5, completion_tokens: tokens, total_tokens: 5 + tokens },
});

for (const provider of ['openai-chat', 'openai-compatible'] as const) {
  describe(provider, () => {
    test('arguments that end in the middle of a string with a length stop are a length stop', async () => {
      const parts = await answer(provider, [begin, piece('{"path":"a","content":"half'), delta({}, 'length')]);
      assert.equal(stopOf(parts), 'length');
    });

    test('a stop that the tokens contradict is a length stop', async () => {
      for (const finish of ['tool_calls', 'stop']) {
        const parts = await answer(provider, [begin, piece('{"a":"half'), delta({}, finish), spent(100)], {
          maxTokens: 100,
        });
        assert.equal(stopOf(parts), 'length', finish);
      }
    });

    test('broken arguments with tokens left are actions, for the loop to refuse one by one', async () => {
      const parts = await answer(provider, [begin, piece('{"a":'), delta({}, 'tool_calls'), spent(10)], {
        maxTokens: 100,
      });
      assert.equal(stopOf(parts), 'actions');
      assert.equal(actionParts(parts)[0]?.input, '{"a":');
    });

    test('a connection that ends in the middle of the arguments gives no action and no finish', async () => {
      for (const text of ['{"a":1', '{"a":1}']) {
        const parts = await answer(provider, [begin, piece(text)], { cut: true });
        assert.deepEqual(actionParts(parts), []);
        assert.equal(stopOf(parts), 'cut');
      }
    });

    test('a call is complete at the end and not when its arguments happen to parse', async () => {
      const parts = await answer(provider, [begin, piece('{"a":1}'), piece(' '), piece('  '), delta({}, 'tool_calls')]);
      assert.equal(actionParts(parts).length, 1);
      assert.equal(actionParts(parts)[0]?.input, '{"a":1}   ');
    });

    test('whole calls with the stop of an answer are actions', async () => {
      const parts = await answer(provider, [begin, piece('{}'), delta({}, 'stop')]);
      assert.equal(stopOf(parts), 'actions');
    });

    test('a stop for calls without a call is a protocol failure, or unknown where words were said', async () => {
      assert.equal(stopOf(await answer(provider, [delta({}, 'tool_calls')])), 'failure protocol');
      assert.equal(stopOf(await answer(provider, [delta({ content: 'hm' }), delta({}, 'tool_calls')])), 'unknown');
    });

    test('a stop nobody knows is unknown, and its word is kept', async () => {
      const last = lastOf(await answer(provider, [delta({ content: 'x' }), delta({}, 'eureka')]));
      assert.ok(last.type === 'finish' && last.stop === 'unknown' && last.raw === 'eureka');
    });

    test('a filter and a refusal are told apart', async () => {
      assert.equal(stopOf(await answer(provider, [delta({ content: 'x' }), delta({}, 'content_filter')])), 'filtered');
      const refused = await answer(provider, [delta({ refusal: 'I will not.' }), delta({}, 'stop')]);
      assert.equal(stopOf(refused), 'refused');
      assert.equal(textOf(refused), 'I will not.');
    });

    test('one constant id for two calls is two actions', async () => {
      const two = [0, 1].map((index) =>
        delta({
          tool_calls: [{ index, id: 'same', type: 'function', function: { name: 'add', arguments: `{"n":${index}}` } }],
        }),
      );
      const parts = await answer(provider, [...two, delta({}, 'tool_calls')]);
      assert.deepEqual(actionsOf(parts), [
        { name: 'add', arguments: { n: 0 } },
        { name: 'add', arguments: { n: 1 } },
      ]);
    });

    test('half a character at the end of a piece waits for its other half', async () => {
      const parts = await answer(provider, [
        delta({ content: 'a\ud83d' }),
        delta({ content: '\ude00b' }),
        delta({}, 'stop'),
      ]);
      assert.equal(textOf(parts), 'a😀b');
      for (const part of parts) if (part.type === 'delta') assert.ok(part.delta.isWellFormed());
    });

    test('usage that was not reported is absent', async () => {
      const last = lastOf(await answer(provider, [delta({ content: 'x' }), delta({}, 'stop')]));
      assert.ok(last.type === 'finish');
      assert.deepEqual(last.usage, {});
      const told = lastOf(await answer(provider, [delta({ content: 'x' }), delta({}, 'stop'), spent(3)]));
      assert.ok(told.type === 'finish');
      assert.deepEqual(told.usage, { input: 5, output: 3 });
    });

    test('an error in the middle of the stream is the last part and has its class', async () => {
      const error = { error: { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' } };
      const parts = await answer(provider, [delta({ content: 'x' }), error, delta({ content: 'y' })]);
      assert.equal(stopOf(parts), 'failure rate_limit');
      assert.equal(textOf(parts), 'x');
    });
  });
}

test('arguments before the name are kept for it', async () => {
  const parts = await answer('openai-compatible', [
    callDelta({ id: 'call_1', type: 'function', function: { arguments: '{"a"' } }),
    callDelta({ function: { name: 'add' } }),
    piece(':1}'),
    delta({}, 'tool_calls'),
  ]);
  assert.deepEqual(actionsOf(parts), [{ name: 'add', arguments: { a: 1 } }]);
});

test('DeepSeek’s and Moonshot’s own names for cache reads are read', async () => {
  for (const own of [{ prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 6 }, { cached_tokens: 4 }]) {
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, ...own };
    const last = lastOf(await answer('openai-compatible', [delta({ content: 'x' }, 'stop'), { ...spent(0), usage }]));
    assert.ok(last.type === 'finish');
    assert.deepEqual(last.usage, { input: 6, cacheRead: 4, output: 2 });
  }
});

// ── Anthropic ────────────────────────────────────────────────────────────────────────────────────────────────────

const start = {
  type: 'message_start',
  message: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x', content: [], stop_reason: null },
    usage: {
      ...{ input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 100, cache_creation_input_tokens: 30 },
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    },
  },
};
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const blockDelta = (index: number, change: object) => ({ type: 'content_block_delta', index, delta: change });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const ending = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const words = [block(0, { type: 'text', text: '' }), blockDelta(0, { type: 'text_delta', text: 'Hi' }), stop(0)];

describe('anthropic', () => {
  test('thinking keeps its signature, also when nothing of it is shown', async () => {
    const parts = await answer('anthropic', [
      start,
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      blockDelta(0, { type: 'thinking_delta', thinking: 'hm' }),
      blockDelta(0, { type: 'signature_delta', signature: 'c2ln' }),
      stop(0),
      block(1, { type: 'redacted_thinking', data: 'cmVk' }),
      stop(1),
      ...ending('end_turn'),
    ]);
    assert.equal(thinkingOf(parts), 'hm');
    const ends = parts.flatMap((part) => (part.type === 'end' ? [part.opaque] : []));
    assert.deepEqual(ends, [{ anthropic: { signature: 'c2ln' } }, { anthropic: { redactedData: 'cmVk' } }]);
  });

  test('usage is in parts that do not overlap, long cache writes apart', async () => {
    const last = lastOf(await answer('anthropic', [start, ...words, ...ending('end_turn')]));
    assert.ok(last.type === 'finish');
    assert.deepEqual(last.usage, { input: 10, cacheRead: 100, cacheWrite: 10, cacheWriteLong: 20, output: 9 });
  });

  test('each stop reason has its kind', async () => {
    const kinds = {
      end_turn: 'finished',
      stop_sequence: 'finished',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      pause_turn: 'paused',
      refusal: 'refused',
      something_new: 'unknown',
    };
    for (const [reason, kind] of Object.entries(kinds)) {
      assert.equal(stopOf(await answer('anthropic', [start, ...words, ...ending(reason)])), kind, reason);
    }
  });

  test('thinking and then a refusal is refused', async () => {
    const thought = [
      block(0, { type: 'thinking', thinking: '' }),
      blockDelta(0, { type: 'thinking_delta', thinking: 'no' }),
      stop(0),
    ];
    const parts = await answer('anthropic', [start, ...thought, ...ending('refusal')]);
    assert.equal(stopOf(parts), 'refused');
    assert.equal(textOf(parts), '');
  });

  test('a stop for tools without any block is a protocol failure', async () => {
    assert.equal(stopOf(await answer('anthropic', [start, ...ending('tool_use')])), 'failure protocol');
  });

  test('a message that never goes on is cut', async () => {
    assert.equal(stopOf(await answer('anthropic', [start])), 'cut');
    assert.equal(stopOf(await answer('anthropic', [])), 'cut');
  });

  test('an overload is one, first thing and in the middle', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    assert.equal(stopOf(await answer('anthropic', [error])), 'failure overloaded');
    const parts = await answer('anthropic', [start, ...words, error, ...ending('end_turn')]);
    assert.equal(stopOf(parts), 'failure overloaded');
    assert.equal(parts.filter((part) => part.type === 'failure').length, 1);
  });

  test('the arguments of a call that ran out of tokens come with a length stop', async () => {
    const call = block(0, { type: 'tool_use', id: 'toolu_1', name: 'write', input: {} });
    const half = blockDelta(0, { type: 'input_json_delta', partial_json: '{"path":"a","content":"half' });
    const parts = await answer('anthropic', [start, call, half, stop(0), ...ending('max_tokens')]);
    assert.equal(stopOf(parts), 'length');
  });

  test('what the provider’s own tools do is kept and is no action', async () => {
    const parts = await answer('anthropic', [
      start,
      block(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      blockDelta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
      stop(0),
      ...ending('pause_turn'),
    ]);
    assert.equal(stopOf(parts), 'paused');
    assert.deepEqual(actionParts(parts), []);
    const kept = parts.flatMap((part) => (part.type === 'block' && part.block.type === 'provider' ? [part.block] : []));
    assert.deepEqual(
      kept.map(({ kind, role, call }) => ({ kind, role, call })),
      [{ kind: 'anthropic.tool-call', role: 'call', call: 'srvtoolu_1' }],
    );
  });
});

// ── Google ───────────────────────────────────────────────────────────────────────────────────────────────────────

describe('google', () => {
  const content = (parts: readonly object[], finishReason?: string) => ({
    candidates: [{ content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
  });

  test('each finish reason has its kind', async () => {
    const kinds = {
      STOP: 'finished',
      MAX_TOKENS: 'length',
      SAFETY: 'filtered',
      RECITATION: 'filtered',
      OTHER: 'unknown',
      MALFORMED_FUNCTION_CALL: 'failure protocol',
    };
    for (const [reason, kind] of Object.entries(kinds)) {
      assert.equal(stopOf(await answer('google', [content([{ text: 'x' }], reason)])), kind, reason);
    }
  });

  test('the signature of a call goes with the action', async () => {
    const call = { functionCall: { name: 'add', args: { a: 1 } }, thoughtSignature: 'c2ln' };
    const parts = await answer('google', [content([call], 'STOP')]);
    assert.deepEqual(
      actionParts(parts).map((part) => part.opaque),
      [{ google: { thoughtSignature: 'c2ln' } }],
    );
  });

  test('keys that could reach a prototype stay keys', async () => {
    const text =
      '{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"add","args":{"__proto__":{"admin":true}}}}]},"finishReason":"STOP"}]}';
    const parts = await replay('google', serve(new TextEncoder().encode(`data: ${text}\r\n\r\n`)));
    const last = lastOf(parts);
    assert.ok(last.type === 'failure' || actionParts(parts)[0]?.input.includes('__proto__'));
    assert.equal(({} as Record<string, unknown>)['admin'], undefined);
  });
});

// ── OpenAI Responses ─────────────────────────────────────────────────────────────────────────────────────────────

describe('openai', () => {
  const created = { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-x' } };
  const spoken = [
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hi' },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1' } },
  ];
  const usage = { input_tokens: 5, output_tokens: 2 };

  test('each way to end has its kind', async () => {
    const incomplete = (reason: string) => ({
      type: 'response.incomplete',
      response: { incomplete_details: { reason }, usage, service_tier: null },
    });
    const completed = { type: 'response.completed', response: { usage, service_tier: null } };
    assert.equal(stopOf(await answer('openai', [created, ...spoken, completed])), 'finished');
    assert.equal(stopOf(await answer('openai', [created, ...spoken, incomplete('max_output_tokens')])), 'length');
    assert.equal(stopOf(await answer('openai', [created, ...spoken, incomplete('content_filter')])), 'filtered');
    assert.equal(stopOf(await answer('openai', [created, ...spoken])), 'cut');
  });

  test('a failed response is a failure with its words', async () => {
    const error = { code: 'server_error', message: 'Something broke.' };
    const failed = {
      type: 'response.failed',
      sequence_number: 3,
      response: { error, incomplete_details: null, usage: null },
    };
    const last = lastOf(await answer('openai', [created, ...spoken, failed]));
    assert.ok(
      last.type === 'failure' && last.failure.class === 'server' && last.failure.message.endsWith(': Something broke.'),
    );
  });
});

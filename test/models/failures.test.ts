import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { Fetch } from '../../src/adapters/models/providers.ts';
import type { ModelFailure, ModelPart } from '../../src/domain/model.ts';
import type { ModelStream } from '../../src/kernel/model.ts';
import { frame, replay, serve } from '../support/recorded.ts';
import { aRequest, collect, said, textOf } from '../support/streams.ts';
import { openWire, TEST_KEYS, WIRE_MODELS, WIRE_PROVIDERS, type WireProvider } from '../support/wire.ts';

const providers = WIRE_PROVIDERS;

function failureOf(parts: readonly ModelPart[]): ModelFailure {
  const last = parts.at(-1);
  assert.ok(last?.type === 'failure', JSON.stringify(parts));
  return last.failure;
}

/** A refusal in the words of the provider. */
function errorBody(provider: WireProvider, message: string): string {
  switch (provider) {
    case 'anthropic':
      return JSON.stringify({ type: 'error', error: { type: 'some_error', message } });
    case 'google':
      return JSON.stringify({ error: { code: 400, message, status: 'FAILED_PRECONDITION' } });
    default:
      return JSON.stringify({ error: { message, type: 'some_error', param: null, code: null } });
  }
}

function refuse(provider: WireProvider, status: number, message: string, headers: Record<string, string> = {}): Fetch {
  const body = new TextEncoder().encode(errorBody(provider, message));
  return serve(body, Infinity, { status, headers: { 'content-type': 'application/json', ...headers } });
}

for (const provider of providers) {
  describe(provider, () => {
    const cases: readonly (readonly [status: number, message: string, expected: ModelFailure['class']])[] = [
      [400, 'tools.0 is malformed', 'bad_request'],
      [401, 'invalid x-api-key', 'auth'],
      [403, 'not for you', 'auth'],
      [404, 'model not found', 'not_found'],
      [413, 'Request exceeds the maximum size', 'context_length'],
      [422, 'unprocessable', 'bad_request'],
      [400, 'prompt is too long: 200001 tokens > 200000 maximum', 'context_length'],
      [400, "This model's maximum context length is 8192 tokens.", 'context_length'],
      [400, 'The input token count (2000000) exceeds the maximum number of tokens allowed', 'context_length'],
      [400, 'the request exceeds the available context size', 'context_length'],
      [408, 'took too long', 'timeout'],
      [429, 'slow down', 'rate_limit'],
      [429, 'insufficient_quota: pay first', 'auth'],
      [500, 'boom', 'server'],
      [502, 'bad gateway', 'server'],
      [503, 'unavailable', 'overloaded'],
      [529, 'Overloaded', 'overloaded'],
    ];
    for (const [status, message, expected] of cases) {
      test(`calls a ${status} with “${message}” ${expected}`, async () => {
        const failure = failureOf(await replay(provider, refuse(provider, status, message)));
        assert.equal(failure.class, expected);
        assert.equal(failure.status, status);
        assert.ok(failure.message.includes(message), failure.message);
        const { provider: who, model } = WIRE_MODELS[provider];
        assert.ok(failure.message.startsWith(`${who}/${model}: `), failure.message);
        assert.ok(failure.message.endsWith(`(HTTP ${status})`), failure.message);
      });
    }

    test('an error page of a proxy is a failure of its status', async () => {
      const page = new TextEncoder().encode('<html><body>502 Bad Gateway</body></html>');
      const fetch = serve(page, Infinity, { status: 502, headers: { 'content-type': 'text/html' } });
      assert.equal(failureOf(await replay(provider, fetch)).class, 'server');
    });

    test('a page of a server that is no model server is a protocol failure that names it', async () => {
      const page = new TextEncoder().encode('<html><body>Welcome</body></html>');
      const fetch = serve(page, Infinity, { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
      const failure = failureOf(await replay(provider, fetch));
      assert.equal(failure.class, 'protocol');
      assert.match(failure.message, /the server at https?:\/\/\S+ did not answer .* text\/html/);
    });

    test('the wait that a provider asks for is passed on', async () => {
      for (const [header, value, expected] of [
        ['retry-after', '7', 7000],
        ['retry-after', '0.5', 500],
        ['retry-after-ms', '1500', 1500],
        ['retry-after', 'junk', undefined],
      ] as const) {
        const failure = failureOf(await replay(provider, refuse(provider, 429, 'slow', { [header]: value })));
        assert.equal(failure.retryAfterMs, expected, `${header}: ${value}`);
      }
      const date = new Date(Date.now() + 30_000).toUTCString();
      const { retryAfterMs = 0 } = failureOf(
        await replay(provider, refuse(provider, 503, 'x', { 'retry-after': date })),
      );
      assert.ok(retryAfterMs > 20_000 && retryAfterMs <= 31_000, String(retryAfterMs));
    });

    test('a key never shows in a message', async () => {
      const key = Object.values(TEST_KEYS).find((one) => one.includes(provider.split('-')[0] ?? ''));
      const words = `Incorrect API key provided: ${key ?? ''} sk-proj-abcdef123456 Bearer abcdefghij`;
      const { message } = failureOf(await replay(provider, refuse(provider, 401, words)));
      if (provider !== 'openai-compatible') assert.ok(key !== undefined && !message.includes(key), message);
      assert.ok(!/sk-proj|abcdefghij/.test(message), message);
      assert.ok(message.includes('[redacted]'));
    });

    test('a server that is not there is named', async () => {
      const dead = await closedPort();
      const baseUrl = `http://127.0.0.1:${dead}/v1`;
      const ref = { ...WIRE_MODELS[provider], options: { ...optionsOf(provider), baseUrl } };
      const model = await openWire(ref, globalThis.fetch);
      const failure = failureOf(await collect(await model.call(ask, context())));
      assert.equal(failure.class, 'network');
      assert.match(failure.message, new RegExp(`^No answer from http://127\\.0\\.0\\.1:${dead}/v1: .*ECONNREFUSED`));
    });

    test('garbage instead of events is a protocol failure or no answer at all, never an answer', async () => {
      for (const garbage of [
        'data: not json\n\n',
        'data: {"a":\n\n',
        'data: []\n\n',
        'hello',
        '\0\0\0',
        'event: x\ndata: 7\n\n',
      ]) {
        const parts = await replay(provider, serve(new TextEncoder().encode(garbage)));
        assert.ok(!parts.some((part) => part.type === 'finish'), JSON.stringify(parts));
        const last = parts.at(-1);
        if (last?.type === 'failure') assert.equal(last.failure.class, 'protocol', last.failure.message);
      }
    });

    test('a body of JSON where a stream should be is no answer', async () => {
      const parts = await replay(
        provider,
        serve(new TextEncoder().encode('{"ok":true}'), Infinity, { headers: { 'content-type': 'application/json' } }),
      );
      assert.ok(!parts.some((part) => part.type === 'finish'));
    });

    test('a server that says nothing is left when the call is aborted, and the request ends', async () => {
      await withServer(openStream, async ({ url, arrived, gone }) => {
        const controller = new AbortController();
        const stream = await call(provider, url, controller.signal);
        const next = stream.next();
        await arrived;
        controller.abort();
        const part = await next;
        assert.ok(part?.type === 'failure' && part.failure.class === 'aborted', JSON.stringify(part));
        assert.equal(await stream.next(), undefined);
        await gone;
      });
    });

    test('a server that does not even answer is left the same way, also by closing', async () => {
      await withServer(
        () => undefined,
        async ({ url, arrived, gone }) => {
          const stream = await call(provider, url, new AbortController().signal);
          const next = stream.next();
          await arrived;
          stream.close();
          assert.equal(await next, undefined);
          stream.close();
          await gone;
        },
      );
    });

    test('an abort before the call is a failure at once', async () => {
      const controller = new AbortController();
      controller.abort();
      const model = await openWire(WIRE_MODELS[provider], () => new Promise(() => undefined));
      const failure = failureOf(
        await collect(await model.call(ask, { conversationId: 'c', signal: controller.signal })),
      );
      assert.equal(failure.class, 'aborted');
    });

    test('a connection that breaks in the middle is a failure of the network', async () => {
      await withServer(openStream, async ({ url, arrived }) => {
        const stream = await call(provider, url, new AbortController().signal);
        const first = stream.next();
        const response = await arrived;
        response.write(frame(provider, firstPayloads[provider]).replace('data: [DONE]\n\n', ''));
        const parts = [];
        for (let part = await first; part !== undefined; part = await stream.next()) {
          parts.push(part);
          if (part.type === 'delta') response.destroy();
        }
        assert.equal(textOf(parts), 'Hel');
        assert.equal(failureOf(parts).class, 'network');
      });
    });
  });
}

const ask = aRequest({ messages: [said('hi')] });
const context = () => ({ conversationId: 'c1', signal: new AbortController().signal });

/** The beginning of an answer, up to its first three letters. */
const firstPayloads: Readonly<Record<WireProvider, readonly string[]>> = {
  anthropic: [
    JSON.stringify({
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'x',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
    JSON.stringify({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } }),
  ],
  openai: [
    JSON.stringify({ type: 'response.created', response: { id: 'r', created_at: 1, model: 'x' } }),
    JSON.stringify({ type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } }),
    JSON.stringify({ type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hel' }),
  ],
  'openai-chat': [
    JSON.stringify({ id: 'c', created: 1, model: 'x', choices: [{ index: 0, delta: { content: 'Hel' } }] }),
  ],
  google: [JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] } }] })],
  'openai-compatible': [
    JSON.stringify({ id: 'c', created: 1, model: 'x', choices: [{ index: 0, delta: { content: 'Hel' } }] }),
  ],
};

function optionsOf(provider: WireProvider): Readonly<Record<string, string>> {
  const ref = WIRE_MODELS[provider];
  return 'options' in ref ? ref.options : {};
}

async function call(provider: WireProvider, url: string, signal: AbortSignal): Promise<ModelStream> {
  const ref = { ...WIRE_MODELS[provider], options: { ...optionsOf(provider), baseUrl: `${url}/v1` } };
  const model = await openWire(ref, globalThis.fetch);
  return model.call({ ...ask, model: ref }, { conversationId: 'c1', signal });
}

interface TestServer {
  readonly url: string;
  /** The response to the first request, once it is there. */
  readonly arrived: Promise<ServerResponse>;
  /** The client has left. */
  readonly gone: Promise<void>;
}

const openStream: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
};

/** Runs a server for one test. */
async function withServer(listener: RequestListener, run: (server: TestServer) => Promise<void>): Promise<void> {
  const arrived = Promise.withResolvers<ServerResponse>();
  const gone = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    response.on('close', () => gone.resolve());
    listener(request, response);
    arrived.resolve(response);
  });
  await listening(server);
  const { port } = server.address() as AddressInfo; // it listens on a port
  try {
    await run({ url: `http://127.0.0.1:${port}`, arrived: arrived.promise, gone: gone.promise });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await listening(server);
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return port;
}

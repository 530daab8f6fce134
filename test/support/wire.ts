import { AsyncLocalStorage } from 'node:async_hooks';
import { systemClock } from '../../src/base/clock.ts';
import { createModelSource } from '../../src/adapters/models/model-source.ts';
import type { Fetch } from '../../src/adapters/models/providers.ts';
import type { ModelRef } from '../../src/domain/agent.ts';
import type { ModelRequest } from '../../src/domain/model.ts';
import type { Model } from '../../src/kernel/model.ts';
import { collect } from './streams.ts';
import { validate as anthropic } from './validators/anthropic.ts';
import { validate as google } from './validators/google.ts';
import { validate as openaiChat } from './validators/openai-chat.ts';
import { validate as openaiResponses } from './validators/openai-responses.ts';

/** Built-in providers, each with a model of today and the keys that it would have. */
export const WIRE_MODELS = {
  anthropic: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
  openai: { provider: 'openai', model: 'gpt-5.2' },
  'openai-chat': { provider: 'openai', model: 'gpt-5.2', options: { api: 'chat' } },
  google: { provider: 'google', model: 'gemini-3-flash-preview' },
  'openai-compatible': {
    provider: 'openai-compatible',
    model: 'some-model',
    options: { baseUrl: 'http://models.test/v1' },
  },
} as const satisfies Readonly<Record<string, ModelRef>>;

export type WireProvider = keyof typeof WIRE_MODELS;
export const WIRE_PROVIDERS = Object.keys(WIRE_MODELS) as readonly WireProvider[];

/** What is wrong with a body, by each provider's documented rules. Independent of the code under test. */
export const validators: Readonly<Record<WireProvider, (body: unknown) => string[]>> = {
  anthropic,
  openai: openaiResponses,
  'openai-chat': openaiChat,
  google,
  'openai-compatible': openaiChat,
};

export const TEST_KEYS = {
  ANTHROPIC_API_KEY: 'test-key-anthropic',
  OPENAI_API_KEY: 'test-key-openai',
  GOOGLE_GENERATIVE_AI_API_KEY: 'test-key-google',
};

/** The real adapter of a provider, talking to `fetch`. */
export async function openWire(ref: ModelRef, fetch: Fetch): Promise<Model> {
  return createModelSource({ environment: TEST_KEYS, clock: systemClock, fetch }).open(ref);
}

/** The HTTP body that the real adapter sends for this request; `request.model` is replaced where it is not of the provider. */
export async function wireBody(provider: WireProvider, request: ModelRequest): Promise<unknown> {
  const ref: ModelRef = WIRE_MODELS[provider];
  const { provider: _, model, options, ...settings } = request.model;
  const wanted: ModelRef =
    request.model.provider === ref.provider ? { ...ref, model, ...settings } : { ...ref, ...settings };
  const opened = await openOnce(wanted);
  const sent: { body?: unknown } = {};
  const parts = await capturing.run(sent, async () =>
    collect(
      await opened.call({ ...request, model: wanted }, { conversationId: 'c1', signal: new AbortController().signal }),
    ),
  );
  if (!('body' in sent)) throw new Error(`nothing was sent: ${JSON.stringify(parts)}`);
  return sent.body;
}

const capturing = new AsyncLocalStorage<{ body?: unknown }>();
const models = new Map<string, Promise<Model>>();

/** One adapter for all requests to a model: to open it takes longer than to write most of them. */
function openOnce(ref: ModelRef): Promise<Model> {
  const key = JSON.stringify(ref);
  let opened = models.get(key);
  if (opened === undefined) {
    opened = openWire(ref, (_url, init) => {
      const sent = capturing.getStore();
      if (sent !== undefined) sent.body = JSON.parse(init?.body as string);
      return Promise.resolve(new Response('', { headers: { 'content-type': 'text/event-stream' } }));
    });
    models.set(key, opened);
  }
  return opened;
}

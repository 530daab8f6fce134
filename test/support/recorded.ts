import { AsyncLocalStorage } from 'node:async_hooks';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelRef } from '../../src/domain/agent.ts';
import type { ModelPart } from '../../src/domain/model.ts';
import type { Model } from '../../src/kernel/model.ts';
import type { Fetch } from '../../src/adapters/models/providers.ts';
import { CASES } from './cases.ts';
import { aRequest, collect, said } from './streams.ts';
import { openWire, WIRE_MODELS, type WireProvider } from './wire.ts';

/** A stream as a provider once sent it: one JSON payload a line, the SSE framing taken off. */
export interface Recorded {
  readonly name: string;
  /** Whose adapter reads it. */
  readonly provider: WireProvider;
  readonly payloads: readonly string[];
  /** The bytes of the body, framed again. */
  readonly bytes: Uint8Array;
}

const FOLDERS: Readonly<Record<string, WireProvider>> = {
  anthropic: 'anthropic',
  google: 'google',
  openai: 'openai',
  xai: 'openai',
  deepseek: 'openai-compatible',
  groq: 'openai-compatible',
  mistral: 'openai-compatible',
  moonshotai: 'openai-compatible',
  'openai-compatible': 'openai-compatible',
};

/** Interfaces of Google that no model of Treadle uses. */
const OTHER_INTERFACES = /^google\/(interactions|speech-translation)--/;

function providerOf(name: string): WireProvider {
  if (name.startsWith('openai/chat--')) return 'openai-chat';
  if (name === 'xai/xai-tool-call') return 'openai-compatible';
  const folder = name.split('/')[0] ?? '';
  const provider = FOLDERS[folder];
  if (provider === undefined) throw new Error(`no adapter is named for the recorded streams of ${folder}`);
  return provider;
}

export function recordedStreams(): readonly Recorded[] {
  const root = path.join(CASES, 'streams');
  return globSync('*/*.chunks.txt', { cwd: root })
    .map((file) => file.replaceAll(path.sep, '/').replace(/\.chunks\.txt$/, ''))
    .filter((name) => !OTHER_INTERFACES.test(name))
    .sort()
    .map(recorded);
}

export function recorded(name: string): Recorded {
  const text = readFileSync(path.join(CASES, 'streams', `${name}.chunks.txt`), 'utf8');
  const payloads = text.split('\n').filter((line) => line.trim() !== '');
  const provider = providerOf(name);
  return { name, provider, payloads, bytes: new TextEncoder().encode(frame(provider, payloads)) };
}

/** Server-sent events as the provider frames them: Anthropic and OpenAI's Responses name each after its `type`. */
export function frame(provider: WireProvider, payloads: readonly string[]): string {
  switch (provider) {
    case 'anthropic':
    case 'openai':
      return payloads.map((payload) => `event: ${typeOf(payload)}\ndata: ${payload}\n\n`).join('');
    case 'google':
      return payloads.map((payload) => `data: ${payload}\r\n\r\n`).join('');
    case 'openai-chat':
    case 'openai-compatible':
      return [...payloads, '[DONE]'].map((payload) => `data: ${payload}\n\n`).join('');
  }
}

function typeOf(payload: string): string {
  const { type } = JSON.parse(payload) as { type?: unknown };
  return typeof type === 'string' ? type : 'message';
}

/** A `fetch` that answers every call with these bytes, in pieces of `size`. */
export function serve(
  bytes: Uint8Array,
  size = Infinity,
  init: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Fetch {
  return () => {
    let from = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (from >= bytes.length) {
          controller.close();
          return;
        }
        const piece = bytes.slice(from, from + Math.min(size, bytes.length));
        from += piece.length;
        controller.enqueue(piece);
      },
    });
    const headers = { 'content-type': 'text/event-stream', ...init.headers };
    return Promise.resolve(new Response(body, { ...init, headers }));
  };
}

/** One model for all replays of a provider, because opening one takes longer than most recordings: each run brings its own `fetch`. */
const fetching = new AsyncLocalStorage<Fetch>();
const models = new Map<WireProvider, Promise<Model>>();

function model(provider: WireProvider): Promise<Model> {
  let found = models.get(provider);
  if (found === undefined) {
    found = openWire(WIRE_MODELS[provider], (input, init) => {
      const fetch = fetching.getStore();
      if (fetch === undefined) throw new Error('a replay lost its way');
      return fetch(input, init);
    });
    models.set(provider, found);
  }
  return found;
}

/**
 * Everything the adapter makes of what `fetch` serves, put `into` a list as it comes. Never throws: a throw of the adapter
 * is a rejection here.
 */
export async function replay(
  provider: WireProvider,
  fetch: Fetch,
  settings: Partial<Pick<ModelRef, 'maxTokens'>> = {},
  into: ModelPart[] = [],
): Promise<ModelPart[]> {
  const request = aRequest({ model: { ...WIRE_MODELS[provider], ...settings }, messages: [said('hi')] });
  const opened = await model(provider);
  return fetching.run(fetch, async () =>
    collect(await opened.call(request, { conversationId: 'c1', signal: new AbortController().signal }), into),
  );
}

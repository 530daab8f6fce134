import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { DEFAULT_MODELS } from '../../src/adapters/models/default-models.ts';
import { detect } from '../../src/adapters/models/detect.ts';
import { localUrl } from '../../src/adapters/models/local-servers.ts';
import { createModelSource } from '../../src/adapters/models/model-source.ts';
import { loadScript } from '../../src/adapters/models/script.ts';
import type { Fetch } from '../../src/adapters/models/providers.ts';
import { TreadleError } from '../../src/base/errors.ts';
import type { ModelRef } from '../../src/domain/agent.ts';
import { aRequest, collect, said, textOf } from '../support/streams.ts';

interface Sent {
  readonly url: string;
  readonly headers: Headers;
}

/** What a model of this reference sends, and where. */
async function sent(ref: ModelRef, environment: Record<string, string> = {}): Promise<Sent> {
  let found: Sent | undefined;
  const fetch: Fetch = (url, init) => {
    found = { url: url instanceof Request ? url.url : url.toString(), headers: new Headers(init?.headers) };
    return Promise.resolve(new Response(''));
  };
  const model = await createModelSource({ environment, fetch }).open(ref);
  await collect(await model.call(aRequest({ model: ref, messages: [said('hi')] }), context()));
  assert.ok(found, 'nothing was sent');
  return found;
}

const context = () => ({ conversationId: 'c1', signal: new AbortController().signal });

async function errorOf(
  ref: ModelRef,
  options: Partial<Parameters<typeof createModelSource>[0]> = {},
): Promise<TreadleError> {
  try {
    await createModelSource({ environment: {}, ...options }).open(ref);
  } catch (error) {
    assert.ok(TreadleError.is(error), String(error));
    return error;
  }
  throw new Error('the model was opened');
}

test('each provider is called where it is, with the key of the environment that was handed in', async () => {
  const environment = { ANTHROPIC_API_KEY: 'k-a', OPENAI_API_KEY: 'k-o', GOOGLE_GENERATIVE_AI_API_KEY: 'k-g' };
  const anthropic = await sent({ provider: 'anthropic', model: 'claude-x' }, environment);
  assert.equal(anthropic.url, 'https://api.anthropic.com/v1/messages');
  assert.equal(anthropic.headers.get('x-api-key'), 'k-a');
  const openai = await sent({ provider: 'openai', model: 'gpt-x' }, environment);
  assert.equal(openai.url, 'https://api.openai.com/v1/responses');
  assert.equal(openai.headers.get('authorization'), 'Bearer k-o');
  const chat = await sent({ provider: 'openai', model: 'gpt-x', options: { api: 'chat' } }, environment);
  assert.equal(chat.url, 'https://api.openai.com/v1/chat/completions');
  const google = await sent({ provider: 'google', model: 'gemini-x' }, environment);
  assert.match(
    google.url,
    /^https:\/\/generativelanguage\.googleapis\.com\/v1beta\/models\/gemini-x:streamGenerateContent/,
  );
  assert.equal(google.headers.get('x-goog-api-key'), 'k-g');
});

test('a base URL comes from the model first and then from the environment', async () => {
  const environment = {
    ANTHROPIC_API_KEY: 'k',
    OPENAI_API_KEY: 'k',
    ANTHROPIC_BASE_URL: 'https://a.test/v1',
    OPENAI_BASE_URL: 'https://o.test/v1',
  };
  assert.equal((await sent({ provider: 'anthropic', model: 'x' }, environment)).url, 'https://a.test/v1/messages');
  assert.equal((await sent({ provider: 'openai', model: 'x' }, environment)).url, 'https://o.test/v1/responses');
  const own = { provider: 'openai', model: 'x', options: { baseUrl: 'https://own.test/v1' } };
  assert.equal((await sent(own, environment)).url, 'https://own.test/v1/responses');
});

test('the process’s own environment is not looked at', async () => {
  process.env['ANTHROPIC_API_KEY'] = 'from the process';
  try {
    assert.equal((await errorOf({ provider: 'anthropic', model: 'x' })).code, 'model_no_key');
  } finally {
    delete process.env['ANTHROPIC_API_KEY'];
  }
});

test('a missing key names the variable', async () => {
  for (const [provider, variable] of [
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['openai', 'OPENAI_API_KEY'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ] as const) {
    const error = await errorOf({ provider, model: 'x' }, { environment: { [variable]: '  ' } });
    assert.equal(error.code, 'model_no_key');
    assert.ok(error.message.includes(variable));
  }
  const own = await errorOf({ provider: 'anthropic', model: 'x', options: { apiKeyEnv: 'MY_KEY' } });
  assert.match(own.message, /MY_KEY/);
});

test('a key may come from another variable', async () => {
  const ref = {
    provider: 'openai-compatible',
    model: 'x',
    options: { baseUrl: 'https://c.test', apiKeyEnv: 'MY_KEY' },
  };
  const { url, headers } = await sent(ref, { MY_KEY: 'k-mine' });
  assert.equal(url, 'https://c.test/v1/chat/completions');
  assert.equal(headers.get('authorization'), 'Bearer k-mine');
});

test('a compatible server without an address is refused', async () => {
  assert.match((await errorOf({ provider: 'openai-compatible', model: 'x' })).message, /base_url/);
});

test('a provider that is not known is told the nearest, or the package to install', async () => {
  const importPackage = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }));
  const near = await errorOf({ provider: 'antropic', model: 'x' }, { importPackage });
  assert.equal(near.code, 'model_unknown_provider');
  assert.match(near.message, /did you mean "anthropic"/);
  assert.match(
    (await errorOf({ provider: 'groq', model: 'x' }, { importPackage })).message,
    /npm install @ai-sdk\/groq/,
  );
  const far = await errorOf({ provider: 'somethingelse', model: 'x' }, { importPackage });
  assert.ok(far.message.includes('anthropic, openai, google') && !far.message.includes('did you mean'));
  assert.equal((await errorOf({ provider: '../evil', model: 'x' }, { importPackage })).code, 'model_unknown_provider');
});

test('a provider without any package installed is unknown, by the real import', async () => {
  assert.equal((await errorOf({ provider: 'no-such-provider-at-all', model: 'x' })).code, 'model_unknown_provider');
});

test('any installed AI SDK package is a provider', async () => {
  const asked: string[] = [];
  let settings: unknown;
  const importPackage = async (name: string): Promise<unknown> => {
    asked.push(name);
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return {
      VERSION: '1',
      createGroq: (given: Record<string, unknown>) => {
        settings = given;
        return createOpenAICompatible({ name: 'groq', baseURL: 'https://groq.test/v1', fetch });
      },
    };
  };
  let url = '';
  const fetch: Fetch = (to) => {
    url = to instanceof Request ? to.url : to.toString();
    return Promise.resolve(new Response(''));
  };
  for (const provider of ['groq', '@ai-sdk/groq']) {
    const model = await createModelSource({ environment: { GROQ_API_KEY: 'k-q' }, importPackage }).open({
      provider,
      model: 'x',
    });
    await collect(await model.call(aRequest({ messages: [said('hi')] }), context()));
    assert.deepEqual(settings, { apiKey: 'k-q' });
    assert.equal(url, 'https://groq.test/v1/chat/completions');
  }
  assert.deepEqual(asked, ['@ai-sdk/groq', '@ai-sdk/groq']);
});

test('a package that is no provider says so', async () => {
  for (const module of [{}, { createX: () => ({}) }, { createX: () => () => ({ specificationVersion: 'v1' }) }]) {
    const error = await errorOf({ provider: 'left-pad', model: 'x' }, { importPackage: () => Promise.resolve(module) });
    assert.equal(error.code, 'model_unknown_provider');
  }
});

test('local servers are found as people name them', () => {
  const cases = [
    [{}, 'http://127.0.0.1:11434/v1'],
    [{ OLLAMA_HOST: '0.0.0.0' }, 'http://127.0.0.1:11434/v1'],
    [{ OLLAMA_HOST: ':9999' }, 'http://127.0.0.1:9999/v1'],
    [{ OLLAMA_HOST: 'box' }, 'http://box:11434/v1'],
    [{ OLLAMA_HOST: 'box:80' }, 'http://box/v1'],
    [{ OLLAMA_HOST: 'https://ollama.test' }, 'https://ollama.test/v1'],
    [{ OLLAMA_HOST: 'http://ollama.test:1/api/' }, 'http://ollama.test:1/api'],
    [{ OLLAMA_HOST: ' ' }, 'http://127.0.0.1:11434/v1'],
  ] as const;
  for (const [environment, url] of cases) assert.equal(localUrl('ollama', environment, undefined), url);
  assert.equal(localUrl('ollama', { OLLAMA_HOST: 'box' }, { baseUrl: 'http://mine:1' }), 'http://mine:1/v1');
  assert.equal(localUrl('lmstudio', {}, undefined), 'http://127.0.0.1:1234/v1');
  assert.equal(localUrl('llamacpp', {}, undefined), 'http://127.0.0.1:8080/v1');
  assert.equal(localUrl('vllm', {}, undefined), 'http://127.0.0.1:8000/v1');
  assert.throws(() => localUrl('vllm', { VLLM_BASE_URL: 'http://[' }, undefined), { code: 'bundle_invalid' });
});

test('a local model is called at its server', async () => {
  const { url, headers } = await sent({ provider: 'ollama', model: 'qwen3:4b' }, { OLLAMA_HOST: 'box' });
  assert.equal(url, 'http://box:11434/v1/chat/completions');
  assert.equal(headers.get('authorization'), null);
});

test('a reference is opened once', async () => {
  const source = createModelSource({ environment: { ANTHROPIC_API_KEY: 'k' } });
  const ref = { provider: 'anthropic', model: 'x' };
  const first = await source.open(ref);
  assert.equal(await source.open({ model: 'x', provider: 'anthropic' }), first);
  assert.ok(!(source.open(ref) instanceof Promise), 'and without a promise after that');
  assert.notEqual(await source.open({ ...ref, model: 'y' }), first);
});

test('what could not be opened is tried again', async () => {
  const environment: Record<string, string> = {};
  const source = createModelSource({ environment });
  const ref = { provider: 'anthropic', model: 'x' };
  await assert.rejects(async () => source.open(ref), { code: 'model_no_key' });
  environment['ANTHROPIC_API_KEY'] = 'k';
  await source.open(ref);
});

test('the scripted model is a provider like any other', async () => {
  const source = createModelSource({ environment: {}, scripts: (name) => [{ text: `script ${name}` }] });
  const model = await source.open({ provider: 'scripted', model: 'x', options: { script: 'a.json' } });
  assert.equal(
    textOf(await collect(await model.call(aRequest({ messages: [said('hi')] }), context()))),
    'script a.json',
  );
  assert.equal((await errorOf({ provider: 'scripted', model: 'x' })).code, 'script_invalid');
});

test('a script is read from the file it names', async () => {
  const script = path.join(import.meta.dirname, '../../agents/exposure.script.ts');
  const model = await createModelSource({ environment: {} }).open({
    provider: 'scripted',
    model: 'x',
    options: { script },
  });
  const parts = await collect(await model.call(aRequest({ messages: [said('80 of 100')] }), context()));
  assert.ok(parts.some((part) => part.type === 'action' && part.name === 'calculate_exposure'));
  for (const file of ['nowhere.json', 'nowhere.ts', import.meta.filename]) {
    const options = { script: file };
    assert.equal((await errorOf({ provider: 'scripted', model: 'x', options })).code, 'script_invalid');
  }
});

test('a script inside an installed package is read as the JavaScript beside it', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-'));
  const inside = path.join(folder, 'node_modules/some-package');
  mkdirSync(inside, { recursive: true });
  writeFileSync(path.join(inside, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(inside, 'a.script.ts'), 'export const script: unknown = [{ text: "types" }];');
  writeFileSync(path.join(inside, 'a.script.js'), 'export const script = [{ text: "no types" }];');
  try {
    assert.deepEqual(await loadScript(path.join(inside, 'a.script.ts')), [{ text: 'no types' }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// ── detect ───────────────────────────────────────────────────────────────────────────────────────────────────────

const nobody: Fetch = () => Promise.reject(new TypeError('fetch failed'));

test('a key decides which model could run, in a fixed order', async () => {
  const all = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };
  assert.deepEqual(await detect(all, { fetch: nobody }), { provider: 'anthropic', model: DEFAULT_MODELS.anthropic });
  assert.equal((await detect({ ...all, ANTHROPIC_API_KEY: '' }, { fetch: nobody }))?.provider, 'openai');
  assert.equal((await detect({ GEMINI_API_KEY: 'k' }, { fetch: nobody }))?.provider, 'google');
  assert.equal(await detect({}, { fetch: nobody }), undefined);
});

test('without a key the first chat model of a local server is taken', async () => {
  const fetch: Fetch = (url) => {
    const models: Readonly<Record<string, unknown>> = {
      'http://127.0.0.1:8000/v1/models': { error: 'not a model server' },
      'http://127.0.0.1:8080/v1/models': { data: [{ id: 'whisper-large' }] },
      'http://127.0.0.1:1234/v1/models': { data: [{ id: 'text-embedding-nomic' }, { id: 'qwen3-4b' }] },
    };
    const body = models[url as string];
    return body === undefined ? nobody('') : Promise.resolve(Response.json(body));
  };
  assert.deepEqual(await detect({}, { fetch }), { provider: 'lmstudio', model: 'qwen3-4b' });
});

test('a server that does not answer costs no more than the timeout', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const hosts = Object.fromEntries(
    ['OLLAMA_HOST', 'LMSTUDIO_BASE_URL', 'LLAMACPP_BASE_URL', 'VLLM_BASE_URL'].map((name) => [
      name,
      `127.0.0.1:${port}`,
    ]),
  );
  const began = performance.now();
  assert.equal(await detect(hosts, { timeoutMs: 100 }), undefined);
  assert.ok(performance.now() - began < 5_000);
  server.closeAllConnections();
  server.close();
});

test('the installed packages know the default models', () => {
  const require = createRequire(import.meta.url);
  for (const [provider, model] of Object.entries(DEFAULT_MODELS)) {
    const folder = path.dirname(require.resolve(`@ai-sdk/${provider}/package.json`));
    const declared = readFileSync(path.join(folder, 'dist/index.d.ts'), 'utf8');
    assert.ok(declared.includes(`'${model}'`) || declared.includes(`"${model}"`), model);
  }
});

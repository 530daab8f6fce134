// MCP as clients speak it: through the official client, over the newest revision of the protocol and over an older one.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ApiKey } from '../../src/kernel/stores.ts';
import { aServer, linesFile, type Served } from './server.ts';

interface Connected {
  readonly client: Client;
  readonly progress: string[];
  readonly call: (
    name: string,
    args: Record<string, unknown>,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<Result>;
}

interface Result {
  readonly text: string;
  readonly isError: boolean;
  readonly data: {
    readonly run: string;
    readonly status: string;
    readonly requests: readonly { readonly request: string; readonly digest: string }[];
  };
}

interface Options {
  readonly scopes?: ApiKey['scopes'];
  readonly legacy?: boolean;
  /** The person behind the client: what they fill into a form. */
  readonly person?: (message: string) => Record<string, unknown>;
}

async function connect(
  t: { after(undo: () => Promise<void>): void },
  server: Served,
  { scopes = ['read', 'run', 'approve'], legacy = false, person }: Options = {},
): Promise<Connected> {
  const key = await server.key({ scopes });
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: legacy ? 'legacy' : 'auto' },
      ...(person !== undefined && { capabilities: { elicitation: { form: {} } } }),
    },
  );
  if (person !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => person(params.message) as never); // one of its answers
  }
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  t.after(() => client.close());
  const progress: string[] = [];
  return {
    client,
    progress,
    async call(name, args, { signal } = {}) {
      const onprogress = ({ message = '' }: { message?: string | undefined }): void => void progress.push(message);
      const params = { name, arguments: args };
      const result = await client.callTool(params, {
        onprogress,
        ...(signal !== undefined && { signal }),
      });
      const [first] = result.content;
      return {
        text: first?.type === 'text' ? first.text : '',
        isError: result.isError === true,
        data: result.structuredContent as Result['data'],
      };
    },
  };
}

for (const legacy of [false, true]) {
  const era = legacy ? 'an older revision' : 'the newest revision';

  test(`each agent is a tool, over ${era}`, async (t) => {
    const { client, call } = await connect(t, await aServer(t), { legacy });
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((one) => one.name).sort(), ['main', 'run_answer', 'run_say', 'run_stop', 'run_wait']);
    const { text, isError, data } = await call('main', { prompt: 'one' });
    assert.deepEqual([text, isError, data.status], ['You said: one', false, 'completed']);
  });

  test(`what a run waits for is told, and answered by its digest, over ${era}`, async (t) => {
    const file = linesFile(t);
    const { call } = await connect(t, await aServer(t), { legacy });
    const { data } = await call('main', { prompt: `write ${file}` });
    const [request] = data.requests;
    assert.deepEqual([data.status, existsSync(file)], ['pending_action_approval', false]);
    const { run } = data;
    const wrong = await call('run_answer', { run, request: request?.request, digest: 'other', decision: 'allow' });
    assert.match(wrong.text, /\(digest_mismatch\)$/);
    const { text } = await call('run_answer', {
      run,
      request: request?.request,
      digest: request?.digest,
      decision: 'allow',
    });
    assert.deepEqual([text, readFileSync(file, 'utf8')], ['The tool said: 1', 'one\n']);
  });
}

test('a person behind the client is asked through it, and their yes lets the action run', async (t) => {
  const file = linesFile(t);
  const asked: string[] = [];
  const { call } = await connect(t, await aServer(t), {
    person(message) {
      asked.push(message);
      return { action: 'accept', content: { decision: 'allow' } };
    },
  });
  const { text } = await call('main', { prompt: `write ${file}` });
  assert.deepEqual([text, readFileSync(file, 'utf8')], ['The tool said: 1', 'one\n']);
  assert.match(asked.join(), /approved_line \{"file":/);
});

test('a person who declines refuses, and one who leaves decides nothing', async (t) => {
  const file = linesFile(t);
  const server = await aServer(t);
  const refused = await connect(t, server, { person: () => ({ action: 'decline' }) });
  assert.match((await refused.call('main', { prompt: `write ${file}` })).text, /declined/);
  const left = await connect(t, server, { person: () => ({ action: 'cancel' }) });
  assert.equal((await left.call('main', { prompt: `write ${file}` })).data.status, 'pending_action_approval');
  assert.ok(!existsSync(file));
});

test('a question is asked with its choices', async (t) => {
  const { call } = await connect(t, await aServer(t), {
    person: () => ({ action: 'accept', content: { text: 'blue' } }),
  });
  assert.equal((await call('main', { prompt: 'colour' })).text, 'You like blue.');
});

test('progress is told while it goes', async (t) => {
  const { call, progress } = await connect(t, await aServer(t));
  await call('main', { prompt: 'story' });
  assert.ok(progress.length > 0);
});

test('a call that is cancelled stops the run', async (t) => {
  const file = linesFile(t);
  const server = await aServer(t);
  const { call } = await connect(t, server);
  const abort = new AbortController();
  const called = call('main', { prompt: `slowly ${file}` }, { signal: abort.signal });
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
  abort.abort();
  await assert.rejects(called);
  const { body } = await server.call('GET', '/api/v1/runs', { as: await server.key() });
  const [run] = body['runs'] as readonly { id: string }[];
  assert.equal((await server.rest(run?.id ?? '', { as: await server.key() }))['status'], 'stopped');
});

test('a run that takes longer than the caller waits goes on, and can be waited for', async (t) => {
  const { call } = await connect(t, await aServer(t));
  const { data, text } = await call('main', { prompt: 'story', wait: 0 });
  assert.match(text, /goes on .*run_wait/);
  assert.equal((await call('run_wait', { run: data.run })).data.status, 'completed');
});

test('a run that fails is a result that says so, and so is one that is not there', async (t) => {
  const { call } = await connect(t, await aServer(t));
  const failed = await call('main', { prompt: 'fail' });
  assert.deepEqual([failed.isError, failed.data.status], [true, 'error']);
  const unknown = await call('run_wait', { run: 'run_nowhere' });
  assert.match(unknown.text, /\(not_found\)$/);
});

test('a run is spoken to and stopped', async (t) => {
  const { call } = await connect(t, await aServer(t));
  const { data } = await call('main', { prompt: 'one' });
  assert.equal((await call('run_say', { run: data.run, text: 'two' })).text, 'You said: two');
  assert.equal((await call('run_stop', { run: data.run })).data.status, 'completed');
});

test('a caller is shown the tools that it may use, and no others', async (t) => {
  const server = await aServer(t);
  const reader = await connect(t, server, { scopes: ['read'] });
  assert.deepEqual(
    (await reader.client.listTools()).tools.map((one) => one.name),
    ['run_wait'],
  );
  const runner = await connect(t, server, {
    scopes: ['read', 'run'],
    person: () => ({ action: 'accept', content: {} }),
  });
  const { tools } = await runner.client.listTools();
  const decisions = tools.find((one) => one.name === 'run_answer')?.inputSchema.properties?.['decision'];
  assert.deepEqual((decisions as { enum: unknown }).enum, ['reject', 'reply']);
  // Nobody is asked for a yes that the key could not pass on.
  const { data } = await runner.call('main', { prompt: `write ${linesFile(t)}` });
  assert.equal(data.status, 'pending_action_approval');
});

test('without a key nothing is told', async (t) => {
  const server = await aServer(t);
  await server.key();
  assert.equal((await server.call('POST', '/mcp', { body: {} })).status, 401);
  assert.equal((await server.call('GET', '/mcp')).status, 405);
});

// What an entry of a bundle hands its tools: files of one folder, a guarded way out, and secrets that nobody hears of.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Tool } from '../../src/kernel/running-tool.ts';
import type { LoadedBundle } from '../../src/platform/bundle/load.ts';
import { loadBundle } from '../../src/platform/bundle/load.ts';
import { effective, inFolder, loadOptions, problemsOf, type Files } from '../support/bundles.ts';
import { aContext } from '../support/tool-context.ts';

const granted = (entry: string) => `
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - ${entry}
`;

const tool = (run: string) => `export const t = {
  name: 't', description: 'A tool.', effect: 'read', input: { type: 'object' },
  run: async (args, context) => { ${run} },
};
`;

async function ran(
  entry: string,
  run: string,
  { files = {}, environment = {} }: { files?: Files; environment?: Record<string, string> } = {},
): Promise<unknown> {
  return inFolder(granted(entry), { ...files, 't.js': tool(run) }, async (file) => {
    const bundle = await loadBundle(file, { ...loadOptions, environment });
    try {
      return await (await toolOf(bundle)).run({}, aContext());
    } finally {
      await bundle.close();
    }
  });
}

async function toolOf(bundle: LoadedBundle): Promise<Tool> {
  const found = bundle
    .agentSource()
    .tools(await effective(bundle))
    .get('t');
  assert.ok(found);
  return found;
}

test('an entry that names a folder hands its tools the files in it', async () => {
  const text = await ran(
    '{ name: t, kind: module, module: ./t.js, files: { root: ./work, ignore: [hidden] } }',
    `return [await context.files.readText('a.txt'), await context.files.read('hidden').catch((e) => e.code)];`,
    { files: { 'work/a.txt': 'hello', 'work/hidden': 'x' } },
  );
  assert.deepEqual(text, ['hello', 'hidden']);
});

test('an entry that names none hands over no files and no secrets', async () => {
  const seen = await ran(
    '{ name: t, kind: module, module: ./t.js }',
    'return [context.files ?? null, context.secrets];',
  );
  assert.deepEqual(seen, [null, {}]);
});

test('a folder that is not there is told where it is named', async () => {
  const problems = await problemsOf(granted('{ name: t, kind: module, module: ./t.js, files: { root: ./none } }'), {
    't.js': tool(''),
  });
  assert.match(problems, /app\.yaml:7:\d+ {2}surfaces\S+files\.root.*no folder/s);
});

const SECRET = 'sesame-open-42';
const withSecret = '{ name: t, kind: module, module: ./t.js, secrets: { KEY: "${KEY}" } }';

test('a secret is handed over and taken out of what comes back, deep in a value, too', async () => {
  const value = await ran(
    withSecret,
    'return { length: context.secrets.KEY.length, said: { list: [`Bearer ${context.secrets.KEY}`] } };',
    { environment: { KEY: SECRET } },
  );
  assert.deepEqual(value, { length: SECRET.length, said: { list: ['Bearer ***'] } });
});

test('a secret is taken out of what a tool throws', async () => {
  const thrown = ran(withSecret, 'throw new Error(`no entry with ${context.secrets.KEY}`);', {
    environment: { KEY: SECRET },
  });
  await assert.rejects(thrown, { message: 'no entry with ***' });
});

test('settings for tools that read none are told', async () => {
  const problems = await problemsOf(granted('{ name: t, kind: module, module: ./t.js, config: { a: 1 } }'), {
    't.js': tool(''),
  });
  assert.match(problems, /settings for \.\/t\.js/);
});

async function aServer<T>(use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer((request, response) => response.end(`you asked ${request.url ?? ''}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

test('fetch asks no private address unless the bundle allows its host', async () => {
  await aServer(async (port) => {
    const run = `return await context.fetch('http://127.0.0.1:${port}/x').then((r) => r.text(), (e) => e.message);`;
    const closed = await ran('{ name: t, kind: module, module: ./t.js }', run);
    const open = await ran(
      `{ name: t, kind: module, module: ./t.js, fetch: { allow_hosts: ['127.0.0.1:${port}'] } }`,
      run,
    );
    assert.deepEqual([closed, open], ['127.0.0.1 is a private address', 'you asked /x']);
  });
});

test('fetch asks only the hosts that the bundle names, where it names some', async () => {
  const run = `return await context.fetch('https://example.com/').catch((e) => e.message);`;
  const said = await ran("{ name: t, kind: module, module: ./t.js, fetch: { only_hosts: ['*.example.org'] } }", run);
  assert.equal(said, 'example.com is not among the hosts that are asked');
});

test('fetch refuses a reply that is longer than the bundle allows', async () => {
  await aServer(async (port) => {
    const said = await ran(
      `{ name: t, kind: module, module: ./t.js, fetch: { allow_hosts: ['127.0.0.1:${port}'], max_bytes: 1024 } }`,
      `return await context.fetch('http://127.0.0.1:${port}/${'x'.repeat(1_100)}').then((r) => r.text(), (e) => [e.code, e.sent]);`,
    );
    assert.deepEqual(said, ['refused', true]);
  });
});

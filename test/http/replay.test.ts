import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { aServer, OUTCOMES } from './server.ts';

const yaml = readFileSync(OUTCOMES, 'utf8');

test('a run is replayed under another text of its bundle, for an admin', async (t) => {
  const served = await aServer(t);
  const [user, admin] = [await served.key(), await served.key({ scopes: ['admin'] })];
  const id = await served.begin('hello', { as: user });
  await served.rest(id, { as: user });
  const client = createClient({ url: served.url, key: admin });
  const report = await client.replay(id, {
    bundle: yaml.replace('max_iterations: 3', 'max_iterations: 3, system_prompt: Be short.'),
  });
  assert.deepEqual(
    [report.rules, report.same, report.calls[0]?.differences[0]?.section],
    ['bundle', false, 'instructions'],
  );
});

test('whoever may only read is not told what another bundle would do', async (t) => {
  const served = await aServer(t);
  const user = await served.key();
  const id = await served.begin('hello', { as: user });
  await served.rest(id, { as: user });
  const refused = await served.call('POST', `/api/v1/runs/${id}/replay`, { as: user, body: { bundle: yaml } });
  assert.deepEqual([refused.status, refused.code], [403, 'insufficient_scope']);
});

test('a text that is no bundle is refused, and says where it is wrong', async (t) => {
  const served = await aServer(t);
  const id = await served.begin('hello');
  await served.rest(id);
  const refused = await served.call('POST', `/api/v1/runs/${id}/replay`, { body: { bundle: 'agents: [' } });
  assert.deepEqual([refused.status, refused.code], [422, 'bundle_invalid']);
});

test('an edit from outside may name a variable, and is not told what it holds', async (t) => {
  const served = await aServer(t, { environment: { SECRET: 'correct horse' } });
  const id = await served.begin('hello');
  await served.rest(id);
  const bundle = yaml.replace('max_iterations: 3', "max_iterations: 3, system_prompt: 'it is ${SECRET}'");
  const { status, body } = await served.call('POST', `/api/v1/runs/${id}/replay`, { body: { bundle } });
  const text = JSON.stringify(body);
  assert.deepEqual([status, text.includes('correct horse'), text.includes('it is ${SECRET}')], [200, false, true]);
});

test('a transcript comes as a file, as Markdown or as lines, and to whoever may read the run', async (t) => {
  const served = await aServer(t);
  const id = await served.begin('hello');
  await served.rest(id);
  const client = createClient({ url: served.url });
  const read = async (format: 'md' | 'jsonl'): Promise<string> => {
    let text = '';
    for await (const piece of client.transcript(id, format)) text += piece;
    return text;
  };
  assert.match(await read('md'), /> hello[^]*> You said: hello/);
  assert.equal((await read('jsonl')).trimEnd().split('\n').length, 4);
  const given = await fetch(`${served.url}/api/v1/runs/${id}/transcript`);
  assert.match(given.headers.get('content-disposition') ?? '', /^attachment; filename="run_\w+\.md"$/);
  assert.equal((await served.call('GET', '/api/v1/runs/none/transcript')).status, 404);
});

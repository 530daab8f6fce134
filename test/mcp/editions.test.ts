import assert from 'node:assert/strict';
import { test } from 'node:test';
import process from 'node:process';
import { stringify } from 'yaml';
import { setting } from '../bundles/reloading.ts';
import { fake } from './support.ts';

const bundle = (prompt: string, more: object = {}): string =>
  stringify({
    id: 'app',
    config: { react: { main: { system_prompt: prompt } } },
    surfaces: {
      as_consumer: {
        agents: { main: { tools: [{ name: 'fake', kind: 'mcp' }] } },
        mcp: { services: { fake: fake({ pages: [[{ name: 'echo' }]] }, more) } },
      },
    },
    models: { balanced: { provider: 'scripted', model: 'scripted' } },
  });
const options = { text: bundle('One.'), environment: { PATH: process.env['PATH'] } };

test('an edit that leaves the declaration of a server as it was keeps its connection', async () => {
  await setting(
    ({ step }) => (step === 0 ? { actions: [{ name: 'fake_echo' }] } : { text: 'Yes.' }),
    async ({ edit, bundle: opened, turn, lines, facts }) => {
      const { id } = await turn('hi');
      edit(bundle('Two.'));
      assert.equal(await opened.reload(), 'new');
      const { requests } = await turn('again', id);
      assert.deepEqual([requests[0]?.instructions, requests[0]?.tools[0]?.name], ['Two.', 'fake_echo']);
      const asked = lines.filter((line) => line === 'an MCP server was asked for its tools').length;
      const outcomes = (await facts(id, 'tool.result')).map(({ outcome }) => outcome);
      assert.deepEqual([asked, outcomes], [1, ['ok', 'ok']]);
    },
    options,
  );
});

test('a server that an edit declares otherwise is connected anew', async () => {
  await setting(
    [{ text: 'Yes.' }],
    async ({ edit, bundle: opened, turn, lines }) => {
      const { id } = await turn('hi');
      edit(bundle('One.', { ttl_seconds: 5 }));
      assert.equal(await opened.reload(), 'new');
      assert.equal(opened.loaded.servers.health()[0]?.status, 'idle');
      await turn('again', id);
      assert.equal(lines.filter((line) => line === 'an MCP server was asked for its tools').length, 2);
    },
    options,
  );
});

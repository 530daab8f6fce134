// A server that is down when the menu is read, when a choice is saved, and when a turn runs: nothing fails but its tools.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aServer } from '../http/server.ts';
import { inFolder } from '../support/bundles.ts';

test('a server that is down costs its own tools, at the menu, at a save and in a run', async (t) => {
  const yaml = JSON.stringify({
    surfaces: {
      as_consumer: {
        agents: {
          main: {
            tools: [
              { name: 'kb', kind: 'mcp', allowed: ['search'] },
              { name: 'math', kind: 'module', module: 'builtin/math' },
            ],
          },
        },
        mcp: { services: { kb: { transport: 'http', url: 'http://127.0.0.1:9/mcp', connect_timeout_ms: 1_000 } } },
      },
    },
    models: { balanced: { provider: 'scripted', script: 'script.json' } },
  });
  const script = [
    { actions: [{ name: 'kb_search', arguments: {} }] },
    { actions: [{ name: 'calculate', arguments: { expression: '1+1' } }] },
    { text: 'Done.' },
  ];
  await inFolder(yaml, { 'script.json': JSON.stringify(script) }, async (file) => {
    const { call, begin, rest, log } = await aServer(t, { bundles: [file] });
    const menu = await call('GET', '/api/v1/agents/main/capabilities');
    const groups = menu.body['groups'] as { group: string; entries: { own: string; unavailable?: string }[] }[];
    assert.match(groups.find(({ group }) => group === 'kb')?.entries[0]?.unavailable ?? '', /kb cannot be used/);
    const body = { disabled: { mcp: { kb: ['search'] } } };
    const saved = await call('PATCH', '/api/v1/agents/main/selection', { body });
    assert.equal(saved.status, 200, JSON.stringify(saved.body));
    assert.match(JSON.stringify(saved.body['selection']), /"kb":\["search"\]/);
    await call('PATCH', '/api/v1/agents/main/selection', { body: { disabled: { mcp: { kb: false } } } });
    const id = await begin('look');
    assert.equal((await rest(id))['status'], 'completed');
    const facts = await log.read(id, 0, 1_000);
    const payloads = (type: string) =>
      facts.filter((one) => one.type === type).map(({ payload }) => payload as Record<string, unknown>); // of that type
    assert.deepEqual(
      payloads('tool.result').map(({ outcome }) => outcome),
      ['refused', 'ok'],
    );
    assert.match(String(payloads('llm.request')[0]?.['announce']), /- kb_search: the MCP server kb cannot be used/);
  });
});

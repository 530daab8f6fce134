// The packages for MCP are optional: what is told where they are not installed, and what goes on without them.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import '../support/without-mcp.ts';
import { aServer, OUTCOMES } from '../http/server.ts';
import { inside } from '../cli/inside.ts';
import { treadle, workplace } from '../cli/treadle.ts';

const CLIENT = 'npm install @modelcontextprotocol/client';
const SERVER = 'npm install @modelcontextprotocol/server';
const HOOK = path.join(import.meta.dirname, '../support/without-mcp.ts');

const MODEL = 'models: { balanced: { provider: scripted, model: authored, script: ./script.json } }\n';
const NAMES_A_SERVER = `id: desk@1
surfaces:
  as_consumer:
    agents:
      main: { tools: [{ name: kb, kind: mcp }, { name: math, kind: module, module: builtin/math }] }
    mcp: { services: { kb: { transport: http, url: 'http://127.0.0.1:9/mcp' } } }
${MODEL}`;

function aDesk(t: { after(undo: () => void): void }, bundle = NAMES_A_SERVER): string {
  const cwd = workplace(t);
  writeFileSync(path.join(cwd, 'desk.yaml'), bundle);
  writeFileSync(path.join(cwd, 'script.json'), JSON.stringify({ replies: [{ text: 'Hello.' }], repeat: true }));
  return cwd;
}

for (const args of [
  ['check', 'desk.yaml'],
  ['run', 'desk.yaml', 'hi'],
  ['chat', 'desk.yaml'],
  ['serve', 'desk.yaml', '--port', '0'],
]) {
  test(`treadle ${args[0] ?? ''} of a bundle that names an MCP server says what to install`, async (t) => {
    const cwd = aDesk(t);
    const env = { NODE_OPTIONS: `--import=${HOOK}`, TREADLE_DATA: path.join(cwd, 'data') };
    const { code, out, err } = await treadle(args, { cwd, env });
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, new RegExp(`where +MCP servers[^]* do +${CLIENT}\n[^]*code +package_missing`));
  });
}

test('a bundle that names no MCP server runs without the packages', async (t) => {
  const cwd = aDesk(t, MODEL);
  const ran = await inside(['run', 'desk.yaml', 'hi'], { cwd, env: { TREADLE_DATA: cwd } });
  assert.deepEqual([ran.code, ran.out], [0, 'Hello.\n']);
});

test('POST /mcp says that a package is missing, the log of the server which, and the rest of it goes on', async (t) => {
  const { call, begin, rest, lines } = await aServer(t, { bundles: [OUTCOMES] });
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const headers = { accept: 'application/json, text/event-stream' };
  const told = await call('POST', '/mcp', { body, headers });
  assert.deepEqual([told.status, told.code], [501, 'package_missing']);
  assert.ok(
    lines.some((line) => line.includes(SERVER)),
    lines.join('\n'),
  );
  assert.equal((await rest(await begin('hello')))['status'], 'completed');
});

for (const [page, line] of [
  ['tools.md', CLIENT],
  ['configuration.md', CLIENT],
  ['protocols.md', SERVER],
] as const) {
  test(`${page} says what to install for MCP`, () => {
    assert.ok(readFileSync(path.join(import.meta.dirname, '../../docs', page), 'utf8').includes(line));
  });
}

// A replay under another bundle asks nobody: no tool server, no service, no address.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { isPromise } from '../../src/base/promise.ts';
import { deny } from '../../src/kernel/verdict.ts';
import { replay } from '../../src/platform/replay/replay.ts';
import { aHouse, aTool, silent } from '../support/house.ts';
import { aServer } from '../http/server.ts';

const FAKE = path.join(import.meta.dirname, '../mcp/fake-server.ts');
const books = { operationId: 'books', summary: 'All books.', responses: { 200: { description: 'ok' } } };
const DOCUMENT = { openapi: '3.1.0', info: { title: 'Shelf', version: '1' }, paths: { '/books': { get: books } } };

test('what a run was told by servers and services stands in for them, and they hear nothing', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-untouched-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let requests = 0;
  const shelf = createServer(({ url }, response) => {
    requests++;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(url === '/books' ? ['Emma'] : DOCUMENT));
  });
  await new Promise<void>((resolve) => shelf.listen(0, '127.0.0.1', resolve));
  t.after(() => shelf.close());
  const { port } = shelf.address() as AddressInfo; // it listens on a port
  const heard = path.join(folder, 'heard');
  writeFileSync(heard, '');
  const listing = JSON.stringify({ pages: [[{ name: 'echo', annotations: { readOnlyHint: true } }]] });
  const line = `tee -a ${heard} | exec ${process.execPath} ${FAKE} "$0"`;
  const host = `127.0.0.1:${port}`;
  const yaml = `
id: untouched@1
config: { react: { main: { system_prompt: Be brief. } } }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: kb, kind: mcp, server_id: fake }
          - { name: shelves, kind: named_service, namespaces: { shelf: {} } }
    mcp:
      services:
        fake: { transport: stdio, command: sh, args: [-c, '${line}', '${listing}'] }
    named_services:
      shelf: { kind: openapi, document: 'http://${host}/openapi.json', base_url: 'http://${host}', allow_hosts: ['${host}'] }
models:
  balanced: { provider: scripted, model: authored, script: ./script.json }
`;
  const bundle = path.join(folder, 'bundle.yaml');
  writeFileSync(bundle, yaml);
  const use = (name: string, args: object) => ({ actions: [{ name, arguments: args }] });
  const script = [use('kb_echo', { a: 1 }), use('shelf_books', {}), { text: 'Done.' }];
  writeFileSync(path.join(folder, 'script.json'), JSON.stringify(script));
  const served = await aServer(t, { bundles: [bundle] });
  const id = await served.begin('Go.');
  await served.rest(id);
  const read = served.log.read(id, 0, 100);
  const facts = isPromise(read) ? await read : read;
  const results = facts.flatMap((fact) => (fact.type === 'tool.result' ? [fact.payload.outcome] : []));
  assert.deepEqual(results, ['ok', 'ok']);
  const before = [requests, readFileSync(heard, 'utf8')];
  for (const [text, same] of [
    [yaml, true],
    [yaml.replace('Be brief.', 'Be long.'), false],
  ] as const) {
    const { status, body } = await served.call('POST', `/api/v1/runs/${id}/replay`, { body: { bundle: text } });
    assert.deepEqual([status, body['same'], body['actions'], body['notes']], [200, same, [], []]);
    assert.deepEqual([requests, readFileSync(heard, 'utf8')], before);
  }
});

for (const stands of [true, false]) {
  test(`a run that a budget has cut ${stands ? 'ends as it did' : 'would go on'} where that word ${stands ? 'stands' : 'does not'}`, async () => {
    const house = aHouse({
      script: [{ actions: [{ name: 'look' }] }, { text: 'Done.' }],
      tools: [aTool('look', () => 'seen')],
      plugins: (bus) =>
        void bus.before(
          'before:llm.request',
          ({ iteration }) => (iteration === 2 ? deny('the budget of the day is spent', 'user_max_money') : undefined),
          { source: 'gate.budget' },
        ),
    });
    await house.ask('Go.');
    const rules = {
      install: () => [],
      agents: () => house.ports.agents,
      has: () => false,
      stands: () => stands,
      notes: [],
    };
    const report = await replay(house.meta, await house.facts(), { rules, logger: silent });
    assert.deepEqual([report.same, report.beyond], stands ? [true, undefined] : [false, { turn: 1, iteration: 2 }]);
  });
}

import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { openRequests } from '../../src/domain/conversation.ts';
import type { McpService } from '../../src/domain/mcp.ts';
import { atDesk } from './bundles.ts';
import { call, offered, withServer } from './support.ts';

const require = createRequire(import.meta.url);

/** A server of the MCP project, as a child. */
function reference(name: string, ...args: readonly string[]): McpService {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  return {
    transport: 'stdio',
    command: process.execPath,
    args: [path.join(path.dirname(manifest), 'dist/index.js'), ...args],
  };
}

test('the everything server: its tools, a structured result, a picture, progress, resources', async () => {
  await withServer(reference('server-everything', 'stdio'), async (server) => {
    const names = await offered(server);
    for (const name of [
      'echo',
      'get-sum',
      'get-structured-content',
      'get-tiny-image',
      'read_resource',
      'list_resources',
      'get_prompt',
    ]) {
      assert.ok(names.includes(name), name);
    }
    assert.deepEqual(await call(server, 'echo', { message: 'hello' }), {
      kind: 'result',
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
    const structured = (await call(server, 'get-structured-content', { location: 'New York' })) as Record<
      string,
      unknown
    >;
    assert.deepEqual(Object.keys(structured), ['kind', 'value']);
    const image = (await call(server, 'get-tiny-image')) as { content: { type: string; mediaType?: string }[] };
    assert.ok(image.content.some(({ mediaType }) => mediaType === 'image/png'));
    const reports: unknown[] = [];
    const slow = { duration: 0.2, steps: 2 };
    await call(server, 'trigger-long-running-operation', slow, { progress: (one) => void reports.push(one) });
    assert.equal(reports.length, 2);
    const listed = (await call(server, 'resources/list')) as { value: { resources: { uri: string }[] } };
    const uri = listed.value.resources[0]?.uri ?? '';
    const read = (await call(server, 'resources/read', { uri })) as { content: unknown[] };
    assert.equal(read.content.length, 1);
    const prompt = (await call(server, 'prompts/get', { name: 'simple-prompt' })) as { content: { text: string }[] };
    assert.match(prompt.content[0]?.text ?? '', /^user: /);
  });
});

test('the everything server asks, and a person answers, through a turn', async () => {
  const services = { everything: reference('server-everything', 'stdio') };
  const tools = [{ name: 'everything', kind: 'mcp', allowed: ['trigger-elicitation-request'] }];
  const script = [{ actions: [{ name: 'everything_trigger-elicitation-request', arguments: {} }] }, { text: 'Done.' }];
  await atDesk({ services, tools, script }, async (desk) => {
    const { turn } = await desk.ask('Go.');
    const [request] = turn === undefined ? [] : openRequests(turn);
    assert.match(request?.question ?? '', /^The tool server everything asks: /);
    const ended = await desk.answer('reply', 'name: Ana\ncheck: yes');
    assert.equal(ended.turns.at(-1)?.output, 'Done.');
    assert.match(JSON.stringify(await desk.all('tool.result')), /Ana/);
  });
});

test('the filesystem server reads in its folder and nowhere else', async () => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'treadle-files-')));
  try {
    writeFileSync(path.join(folder, 'note.txt'), 'remember the milk');
    await withServer(reference('server-filesystem', folder), async (server) => {
      const listing = await server.listing();
      assert.ok(listing.status === 'up');
      const effects = new Map(listing.listed.tools.map(({ own, definition }) => [own, definition.effect]));
      assert.deepEqual(
        ['read_text_file', 'write_file'].map((name) => effects.get(name)),
        ['read', 'idempotent'],
      );
      const read = await call(server, 'read_text_file', { path: path.join(folder, 'note.txt') });
      assert.match(JSON.stringify(read), /remember the milk/);
      const outside = (await call(server, 'read_text_file', { path: '/etc/passwd' })) as { kind: string };
      assert.equal(outside.kind, 'failure');
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

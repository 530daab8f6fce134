// Files for a model: pages of text, pictures, exact edits, and nothing overwritten that nobody has seen.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRootedFiles } from '../../src/adapters/files/rooted.ts';
import { isToolReturn } from '../../src/kernel/tool.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { compileTool } from '../../src/platform/grant/catalog.ts';
import { edited } from '../../src/plugins/tools/files/edits.ts';
import { aContext, runTool } from '../support/tool-context.ts';

interface Ending {
  after(undo: () => unknown): void;
}

let conversations = 0;

/** A folder, and the tools of one conversation in it. */
function aDesk(t: Ending, content: Readonly<Record<string, string | Uint8Array>> = {}) {
  const root = mkdtempSync(path.join(tmpdir(), 'treadle-files-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(content)) writeFileSync(path.join(root, name), text);
  const group = builtinGroups.get('files');
  assert.ok(group);
  const context: Partial<ToolContext> = {
    files: createRootedFiles({ root }),
    conversationId: `files-${++conversations}`,
  };
  return {
    root,
    now: (name: string) => readFileSync(path.join(root, name), 'utf8'),
    use: async (name: string, args: Parameters<typeof runTool>[2]) => {
      const returned = await runTool(group, name, args, context);
      assert.ok(isToolReturn(returned), JSON.stringify(returned));
      return returned;
    },
    preview: async (name: string, args: Parameters<typeof runTool>[2]): Promise<string> => {
      const spec = group.tools.find((one) => one.name === name);
      const parts = await compileTool(spec, name).hands.preview?.(args, aContext(context));
      return (parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
    },
  };
}

function valueOf(returned: unknown): unknown {
  return isToolReturn(returned) && returned.kind === 'result' ? returned.value : returned;
}

function textOf(returned: unknown): string {
  const content = isToolReturn(returned) && returned.kind === 'result' ? (returned.content ?? []) : [];
  return content.map((part) => (part.type === 'text' ? part.text : part.mediaType)).join('\n');
}

function codeOf(returned: unknown): string {
  return isToolReturn(returned) && returned.kind === 'failure' ? returned.code : 'done';
}

test('a file is read with the numbers of its lines, a page at a time', async (t) => {
  const { use } = aDesk(t, { 'a.txt': 'one\r\ntwo\nthree\n' });
  const first = await use('files_read', { path: 'a.txt', lines: 2 });
  assert.equal(textOf(first), '1\tone\n2\ttwo');
  assert.deepEqual(
    { ...(valueOf(first) as object), digest: '' },
    { path: 'a.txt', lines: 3, next_line: 3, digest: '' },
  );
  assert.equal(textOf(await use('files_read', { path: 'a.txt', start_line: 3 })), '3\tthree');
  assert.equal(codeOf(await use('files_read', { path: 'a.txt', start_line: 4 })), 'past_end');
});

test('an empty file has no lines', async (t) => {
  const read = await aDesk(t, { 'a.txt': '' }).use('files_read', { path: 'a.txt' });
  assert.deepEqual([textOf(read), codeOf(read)], ['', 'done']);
});

test('a picture is shown, whatever it is called, and other bytes are no text', async (t) => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]);
  const { use } = aDesk(t, { 'x.txt': png, 'y.txt': Buffer.from([1, 0, 2]), 'z.txt': Buffer.from([0xff, 0xfe]) });
  assert.equal(textOf(await use('files_read', { path: 'x.txt' })), 'image/png');
  assert.equal(codeOf(await use('files_read', { path: 'y.txt' })), 'binary');
  assert.equal(codeOf(await use('files_read', { path: 'z.txt' })), 'binary');
});

test('what is outside, or not there, is told', async (t) => {
  const { use } = aDesk(t);
  assert.equal(codeOf(await use('files_read', { path: '../x' })), 'outside');
  assert.equal(codeOf(await use('files_read', { path: 'x' })), 'not_found');
  assert.equal(codeOf(await use('files_list', { path: 'x' })), 'not_found');
  assert.equal(codeOf(await use('files_grep', { pattern: 'x', path: '/etc' })), 'outside');
});

test('a file that is there is written only by whoever has read it as it is', async (t) => {
  const { use, now, root } = aDesk(t, { 'a.txt': 'one\n' });
  assert.equal(codeOf(await use('files_write', { path: 'a.txt', content: 'two\n' })), 'not_read');
  await use('files_read', { path: 'a.txt' });
  writeFileSync(path.join(root, 'a.txt'), 'mine\n');
  assert.equal(codeOf(await use('files_write', { path: 'a.txt', content: 'two\n' })), 'stale');
  assert.equal(now('a.txt'), 'mine\n');
  await use('files_read', { path: 'a.txt' });
  assert.equal(codeOf(await use('files_write', { path: 'a.txt', content: 'two\n' })), 'done');
  assert.equal(
    codeOf(await use('files_write', { path: 'a.txt', content: 'three\n' })),
    'done',
    'it knows what it wrote',
  );
  assert.equal(now('a.txt'), 'three\n');
});

test('the same content again changes nothing, also for whoever has not read it', async (t) => {
  const { use } = aDesk(t, { 'a.txt': 'one\n' });
  const again = valueOf(await use('files_write', { path: 'a.txt', content: 'one\n' }));
  assert.equal((again as { unchanged?: boolean }).unchanged, true);
});

test('edits are all made or none', async (t) => {
  const { use, now } = aDesk(t, { 'a.txt': 'a b a\nc\n' });
  await use('files_read', { path: 'a.txt' });
  const edit = (...edits: readonly { old_text: string; new_text: string; replace_all?: boolean }[]) =>
    use('files_edit', { path: 'a.txt', edits });
  assert.equal(codeOf(await edit({ old_text: 'a', new_text: 'x' })), 'not_unique');
  assert.equal(codeOf(await edit({ old_text: 'c', new_text: 'd' }, { old_text: 'none', new_text: 'x' })), 'not_found');
  assert.equal(now('a.txt'), 'a b a\nc\n');
  assert.equal(
    codeOf(await edit({ old_text: 'a', new_text: 'x', replace_all: true }, { old_text: 'x b', new_text: '$& b' })),
    'done',
  );
  assert.equal(now('a.txt'), '$& b x\nc\n');
});

test('lines that end as on Windows stay so', async (t) => {
  const { use, now } = aDesk(t, { 'a.txt': 'one\r\ntwo\r\n' });
  await use('files_read', { path: 'a.txt' });
  await use('files_edit', { path: 'a.txt', edits: [{ old_text: 'one\ntwo', new_text: '1\n2' }] });
  assert.equal(now('a.txt'), '1\r\n2\r\n');
});

test('a slip in the spaces is told with its line', () => {
  const made = edited('if (x) {\n    y();\n}\n', [{ old_text: 'if (x) {\n  y();\n}', new_text: '' }]);
  assert.match(made.ok ? '' : made.problem, /Line 1 has it with other spaces/);
});

test('two edits of one file, asked for side by side, are both made', async (t) => {
  const { use, now } = aDesk(t, { 'a.txt': 'one\ntwo\n' });
  await use('files_read', { path: 'a.txt' });
  const edits = [
    { old_text: 'one', new_text: '1' },
    { old_text: 'two', new_text: '2' },
  ];
  await Promise.all(edits.map((one) => use('files_edit', { path: 'a.txt', edits: [one] })));
  assert.equal(now('a.txt'), '1\n2\n');
});

test('a person is shown what will be different, and the change is kept for people and not for the model', async (t) => {
  const { use, preview } = aDesk(t, { 'a.txt': 'one\ntwo\n' });
  await use('files_read', { path: 'a.txt' });
  const change = { path: 'a.txt', edits: [{ old_text: 'two', new_text: '2' }] };
  const diff = '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n';
  assert.equal(await preview('files_edit', change), diff);
  assert.equal(
    await preview('files_write', { path: 'b.txt', content: 'new\n' }),
    '--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+new\n',
  );
  assert.match(
    await preview('files_edit', { path: 'a.txt', edits: [{ old_text: 'x', new_text: 'y' }] }),
    /It would fail/,
  );
  const made = await use('files_edit', change);
  assert.deepEqual(made.kind === 'result' ? made.content : [], [
    { type: 'text', text: diff, format: 'diff', audience: 'people' },
  ]);
});

test('an edit is what a split at the old text and a join with the new one make of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 1 }), fc.string(), (text, from, to) => {
      const made = edited(text, [{ old_text: from, new_text: to, replace_all: true }]);
      if (made.ok) assert.equal(made.text, text.split(from).join(to));
      else assert.ok(from === to || !text.includes(from));
    }),
  );
});

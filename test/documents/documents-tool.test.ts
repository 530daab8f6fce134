// The text of what a person attached, as a model asks for it.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createTextReader } from '../../src/adapters/documents/read-text.ts';
import { createDocumentReader } from '../../src/adapters/documents/reader.ts';
import { createRootedFiles } from '../../src/adapters/files/rooted.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { FilePart } from '../../src/domain/content.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import { documentsGroup } from '../../src/plugins/tools/documents.ts';
import { aHouse } from '../support/house.ts';
import { runTool } from '../support/tool-context.ts';

const group = documentsGroup(createTextReader(createDocumentReader()));
const pdf = readFileSync(new URL('../fixtures/documents/tea.pdf', import.meta.url));
const sent = (name: string, content: Uint8Array | string, mediaType = 'text/plain'): FilePart => ({
  ...{ type: 'file', mediaType, name },
  data: Buffer.from(content).toString('base64'),
});

/** What the tool gives when these files were sent, one message after the other. */
async function read(args: JsonObject, files: readonly FilePart[], more: Partial<ToolContext> = {}): Promise<Result> {
  const house = aHouse({ script: { replies: [{ text: 'Thanks.' }], repeat: true } });
  for (const file of files) {
    await house.post({ type: 'io.input', payload: { text: 'Here.', mode: 'message', attachments: [file] } });
    await house.drive();
  }
  const conversation = await house.fold();
  return (await runTool(group, 'document_read', args, { conversation, ...more })) as Result;
}

interface Result {
  readonly value?: JsonObject;
  readonly content?: readonly [{ readonly text: string }];
  readonly code?: string;
  readonly message?: string;
}

test('a PDF file that was sent is read as its text, page by page', async () => {
  const { value, content } = await read({ name: 'tea.pdf' }, [sent('tea.pdf', pdf, 'application/pdf')]);
  assert.deepEqual(
    [value?.['title'], value?.['pages'], content?.[0].text],
    [
      'Tea report',
      2,
      '[page 1]\nTea report\nGreen tea is drunk at 80 °C.\n\n[page 2]\nThe second page speaks of black tea: naïve “quotes”.',
    ],
  );
});

test('one page of a document is read alone', async () => {
  const { content } = await read({ name: 'tea.pdf', page: 2 }, [sent('tea.pdf', pdf, 'application/pdf')]);
  assert.equal(content?.[0].text, 'The second page speaks of black tea: naïve “quotes”.');
});

test('of two files of one name the one that was sent last is read', async () => {
  const { content } = await read({ name: 'a.txt' }, [sent('a.txt', 'old'), sent('a.txt', 'new')]);
  assert.equal(content?.[0].text, 'new');
});

test('a name in another case or with a folder before it is understood', async () => {
  const { content } = await read({ name: './Files/A.TXT' }, [sent('a.txt', 'tea')]);
  assert.equal(content?.[0].text, 'tea');
});

const refused: readonly (readonly [what: string, args: JsonObject, file: FilePart, code: string])[] = [
  ['a file that was not sent', { name: 'b.txt' }, sent('a.txt', 'tea'), 'unknown_file'],
  ['a page that is not there', { name: 'tea.pdf', page: 3 }, sent('tea.pdf', pdf), 'past_end'],
  ['what is past the end', { name: 'a.txt', offset: 3 }, sent('a.txt', 'tea'), 'past_end'],
  ['what is neither text nor a document', { name: 'a.bin' }, sent('a.bin', Uint8Array.of(0, 255, 1)), 'unsupported'],
  ['a broken document', { name: 'a.pdf' }, sent('a.pdf', '%PDF-1.7 nonsense'), 'unreadable'],
];
for (const [what, args, file, code] of refused) {
  test(`${what} is told as ${code}`, async () => {
    assert.equal((await read(args, [file])).code, code);
  });
}

test('a file of the folder that the bundle names is read by its path, and none beside it', async (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'treadle-documents-'));
  t.after(() => rmSync(root, { recursive: true }));
  writeFileSync(path.join(root, 'tea.pdf'), pdf);
  const files = createRootedFiles({ root, readOnly: true });
  const inside = await read({ name: 'tea.pdf', page: 1 }, [], { files });
  const outside = await read({ name: '../../etc/passwd' }, [], { files });
  assert.deepEqual([inside.content?.[0].text, outside.code], ['Tea report\nGreen tea is drunk at 80 °C.', 'outside']);
});

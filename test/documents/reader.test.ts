// Documents that strangers wrote, each read in a thread that ends with it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kindOf, type DocumentRequest } from '../../src/adapters/documents/document.ts';
import { createDocumentReader, type ReaderLimits } from '../../src/adapters/documents/reader.ts';

async function read(
  request: Partial<DocumentRequest> & Pick<DocumentRequest, 'kind' | 'bytes'>,
  limits?: ReaderLimits,
) {
  return await createDocumentReader(limits)(request, new AbortController().signal);
}

async function page(html: string, more: Partial<DocumentRequest> = {}): Promise<string> {
  const outcome = await read({ kind: 'html', bytes: Buffer.from(html), url: 'https://tea.example/a/b', ...more });
  return outcome.ok ? outcome.text.pages.join() : outcome.why;
}

const fixture = (name: string): Uint8Array => readFileSync(new URL(`../fixtures/documents/${name}`, import.meta.url));

const sentences =
  '<p>Tea is a drink that many people like, and it has been drunk for long years by all of them.</p>'.repeat(9);

test('a page is its main text, without the menu and without its scripts', async () => {
  const html = `<html><head><title>On tea</title></head><body><nav><a href="/">Home</a> <a href="/cart">Cart</a></nav>
    <article><h2>Green</h2>${sentences}<script>steal()</script></article></body></html>`;
  const text = await page(html);
  assert.deepEqual(
    [text.includes('## Green'), text.includes('many people'), /Cart|steal/.test(text)],
    [true, true, false],
  );
});

test('all of a page is had by asking for it whole', async () => {
  const html = `<html><body><nav><a href="/cart">Cart</a></nav><article>${sentences}</article></body></html>`;
  assert.match(await page(html, { whole: true }), /\[Cart\]\(https:\/\/tea\.example\/cart\)/);
});

test('links are absolute, and what is no page is no link', async () => {
  const html = '<a href="../c?x=1">one</a> <a href="javascript:alert(1)">two</a> <a href="data:text/html,x">three</a>';
  assert.equal(await page(html, { whole: true }), '[one](https://tea.example/c?x=1) two three');
});

test('a picture is its words and never an address', async () => {
  assert.equal(
    await page('<p>See <img src="https://track.example/p.png?u=1" alt="a cup"> and <img src="x"></p>', { whole: true }),
    'See \\[picture: a cup] and',
  );
});

test('a table stays a table', async () => {
  const html = '<table><tr><th>kind</th><th>minutes</th></tr><tr><td>green</td><td>2</td></tr></table>';
  assert.match(await page(html, { whole: true }), /\| kind +\| minutes \|\n\| -+ \| -+ \|\n\| green \| 2 +\|/);
});

test('bytes are text as the header says, or as the page says of itself', async () => {
  const latin = Buffer.from(
    '<html><head><meta charset="iso-8859-1"></head><body><p>caf\xe9</p></body></html>',
    'latin1',
  );
  const texts = [];
  for (const charset of [undefined, 'windows-1252', 'no-such-charset']) {
    const outcome = await read({ kind: 'html', bytes: latin, whole: true, charset });
    texts.push(outcome.ok ? outcome.text.pages[0] : outcome.why);
  }
  assert.deepEqual(texts, ['café', 'café', 'caf\ufffd']);
});

test('a PDF file is its text, page by page', async () => {
  const outcome = await read({ kind: 'pdf', bytes: fixture('tea.pdf') });
  assert.deepEqual(outcome.ok && outcome.text, {
    title: 'Tea report',
    pages: ['Tea report\nGreen tea is drunk at 80 °C.', 'The second page speaks of black tea: naïve “quotes”.'],
  });
});

test('a Word file is Markdown', async () => {
  const outcome = await read({ kind: 'docx', bytes: fixture('tea.docx') });
  const text = outcome.ok ? (outcome.text.pages[0] ?? '') : outcome.why;
  assert.match(text, /^# Tea memo\n\nWater at \*\*80 °C\*\*\.\n\n[^]*\| green \| 2 +\|$/);
});

for (const [kind, start] of [
  ['pdf', '%PDF-1.7'],
  ['docx', 'PK\u0003\u0004'],
] as const) {
  test(`a broken ${kind} file is told as unreadable`, async () => {
    const outcome = await read({ kind, bytes: Buffer.from(`${start} nonsense`) });
    assert.equal(outcome.ok, false);
  });
}

test('a document that wants all memory ends its own thread only', async () => {
  const bytes = Buffer.from('<p>x'.repeat(2_000_000));
  assert.deepEqual(await read({ kind: 'html', bytes }, { memoryMb: 16 }), {
    ok: false,
    why: 'reading it took more than 16 MiB',
  });
});

test('a document that would take for ever is given up', async () => {
  const bytes = Buffer.from('<div>x'.repeat(100_000));
  const outcome = await read({ kind: 'html', bytes }, { timeMs: 100 });
  assert.deepEqual(outcome, { ok: false, why: 'reading it took longer than 0.1 s' });
});

test('a reading is given up when nobody wants it any longer', async () => {
  const ending = new AbortController();
  const reading = createDocumentReader()({ kind: 'pdf', bytes: fixture('tea.pdf') }, ending.signal);
  ending.abort();
  assert.deepEqual(await reading, { ok: false, why: 'it was given up' });
});

test('what a document is stands in its first bytes, whatever a server says', () => {
  assert.deepEqual(
    [
      kindOf(fixture('tea.pdf'), 'application/octet-stream'),
      kindOf(fixture('tea.pdf'), 'text/html'),
      kindOf(fixture('tea.docx'), 'application/octet-stream', '/files/tea.docx'),
      kindOf(fixture('tea.docx'), 'application/zip'),
      kindOf(Buffer.from('<p>x'), 'text/html; charset=utf-8'),
      kindOf(Buffer.from('{}'), 'application/json'),
    ],
    ['pdf', 'pdf', 'docx', undefined, 'html', undefined],
  );
});

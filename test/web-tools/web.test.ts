// The web as a model has it, against real servers on this machine that the guard was told to let through.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createDocumentReader } from '../../src/adapters/documents/reader.ts';
import { createGuardedFetch } from '../../src/adapters/net/guarded-fetch.ts';
import { createPageReader } from '../../src/adapters/web/read-page.ts';
import { createWebSearch, type SearchProvider } from '../../src/adapters/web/search.ts';
import { isObject, type JsonObject } from '../../src/base/json.ts';
import type { GuardedFetch } from '../../src/kernel/fetch.ts';
import { webGroup } from '../../src/plugins/tools/web.ts';
import { runTool } from '../support/tool-context.ts';

interface Site {
  readonly base: string;
  readonly asked: { readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
}

async function aSite(t: TestContext, answer: (path: string, response: ServerResponse) => void): Promise<Site> {
  const asked: Site['asked'][number][] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      asked.push({ url: request.url ?? '', headers: request.headers, body });
      answer(request.url ?? '', response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** The group as the platform makes it, with this machine's own servers allowed where the test says so. */
function theWeb(t: TestContext, { allow = [], search }: { allow?: readonly string[]; search?: SearchProvider } = {}) {
  const hosts = allow.map((base) => new URL(base).host);
  const fetcher = createGuardedFetch({ allowHosts: hosts, mostBytes: 1_000_000 });
  t.after(() => fetcher.close());
  const group = webGroup({
    readPage: createPageReader({ readDocument: createDocumentReader(), userAgent: 'treadle-test' }),
    searchWith: (provider) => createWebSearch(provider).search,
  });
  const tools = group.configured?.tools(search === undefined ? {} : { search }) ?? [];
  const { signal } = new AbortController();
  const fetch: GuardedFetch = (url, init) => fetcher.fetch(url, { ...init, signal });
  return async (name: string, args: JsonObject, more = {}): Promise<JsonObject> => {
    const result = await runTool({ ...group, tools }, name, args, { fetch, ...more });
    assert.ok(isObject(result));
    return result as JsonObject; // what tools give here
  };
}

function sending(type: string, body: string | Uint8Array, status = 200) {
  return (_: string, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  };
}

test('a page is read as Markdown, with where it came from', async (t) => {
  const site = await aSite(t, sending('text/html', '<title>Tea</title><h1>Tea</h1><p>Hot.</p>'));
  const result = await theWeb(t, { allow: [site.base] })('web_fetch', { url: `${site.base}/tea` });
  assert.deepEqual(
    { value: (result['value'] as JsonObject)['title'], content: result['content'] },
    { value: 'Tea', content: [{ type: 'text', text: 'Hot.' }] },
  );
});

test('a long text is read in parts that fit each other, and asked for once', async (t) => {
  const text = Array.from({ length: 3_000 }, (_, at) => `line ${at}`).join('\n');
  const site = await aSite(t, sending('text/plain', text));
  const web = theWeb(t, { allow: [site.base] });
  let [read, offset]: [string, number | null] = ['', 0];
  while (offset !== null) {
    const { value, content } = await web('web_fetch', { url: site.base, offset, limit: 9_000 });
    read += (content as unknown as readonly [{ text: string }])[0].text;
    offset = (value as { next_offset: number | null }).next_offset;
  }
  assert.deepEqual([read === text, site.asked.length], [true, 1]);
});

test('what one conversation has read is not what another is given', async (t) => {
  let version = 0;
  const site = await aSite(t, (_, response) => response.end(`<!doctype html>version ${++version}`));
  const web = theWeb(t, { allow: [site.base] });
  await web('web_fetch', { url: site.base });
  const { content } = await web('web_fetch', { url: site.base }, { conversationId: 'c2' });
  assert.deepEqual(content, [{ type: 'text', text: 'version 2' }]);
});

test('a PDF file that a server does not know is read as its text', async (t) => {
  const pdf = readFileSync(new URL('../fixtures/documents/tea.pdf', import.meta.url));
  const site = await aSite(t, sending('application/octet-stream', pdf));
  const { content } = await theWeb(t, { allow: [site.base] })('web_fetch', { url: `${site.base}/x` });
  assert.match((content as unknown as readonly [{ text: string }])[0].text, /^\[page 1\]\nTea report/);
});

test('a picture is handed over as a picture', async (t) => {
  const site = await aSite(t, sending('image/png', Uint8Array.of(1, 2, 3)));
  const { content } = await theWeb(t, { allow: [site.base] })('web_fetch', { url: site.base });
  assert.deepEqual(content, [{ type: 'file', mediaType: 'image/png', data: 'AQID' }]);
});

const notRead: readonly (readonly [what: string, url: string, code: string])[] = [
  ['the loopback address', 'http://127.0.0.1:9/', 'refused'],
  ['the metadata address', 'http://169.254.169.254/latest/meta-data', 'refused'],
  ['the loopback address in IPv6', 'http://[::ffff:127.0.0.1]/', 'refused'],
  ['the loopback address as a number', 'http://2130706433/', 'refused'],
  ['a file', 'file:///etc/passwd', 'url'],
  ['a password in the address', 'https://ana:secret@example.com/', 'url'],
  ['nonsense', 'http://', 'url'],
];
for (const [what, url, code] of notRead) {
  test(`${what} is not read`, async (t) => {
    assert.equal((await theWeb(t)('web_fetch', { url }))['code'], code);
  });
}

test('a redirect to a private address is not followed', async (t) => {
  const site = await aSite(t, (_, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
  });
  const result = await theWeb(t, { allow: [site.base] })('web_fetch', { url: site.base });
  assert.equal(result['code'], 'refused');
});

const unread: readonly (readonly [what: string, type: string, status: number, code: string])[] = [
  ['a page that is not there', 'text/html', 404, 'http_status'],
  ['a film', 'video/mp4', 200, 'unsupported'],
];
for (const [what, type, status, code] of unread) {
  test(`${what} is told as ${code}`, async (t) => {
    const site = await aSite(t, sending(type, 'x', status));
    assert.equal((await theWeb(t, { allow: [site.base] })('web_fetch', { url: site.base }))['code'], code);
  });
}

test('there is no search where no provider is configured', async (t) => {
  await assert.rejects(theWeb(t)('web_search', { query: 'tea' }), /has no web_search/);
});

/** What each engine answers, and what it must be asked. */
const engines: readonly {
  readonly name: SearchProvider['provider'];
  readonly answer: unknown;
  readonly wants: (asked: Site['asked'][number]) => unknown;
  readonly wanted: unknown;
}[] = [
  {
    name: 'searxng',
    answer: {
      results: [{ title: 'On tea', url: 'https://tea.example/', content: 'Hot <b>tea</b>', publishedDate: null }],
    },
    wants: ({ url }) => url,
    wanted: '/search?q=tea+%28site%3Atea.example%29&format=json&time_range=week&language=de',
  },
  {
    name: 'brave',
    answer: {
      web: { results: [{ title: 'On tea', url: 'https://tea.example/', description: 'Hot <strong>tea</strong>' }] },
    },
    wants: ({ url, headers }) => [url, headers['x-subscription-token']],
    wanted: ['/?q=tea+%28site%3Atea.example%29&count=3&freshness=pw&search_lang=de', 'k-1'],
  },
  {
    name: 'tavily',
    answer: { results: [{ title: 'On tea', url: 'https://tea.example/', content: 'Hot tea', score: 0.9 }] },
    wants: ({ headers, body }) => [headers.authorization, body],
    wanted: ['Bearer k-1', '{"query":"tea","max_results":3,"time_range":"week","include_domains":["tea.example"]}'],
  },
];
function providerAt(name: SearchProvider['provider'], url: string): SearchProvider {
  return name === 'searxng' ? { provider: name, url } : { provider: name, url, api_key: 'k-1' };
}
const question = { query: 'tea', count: 3, freshness: 'week', language: 'de', sites: ['tea.example'] };

for (const { name, answer, wants, wanted } of engines) {
  test(`${name} is asked in its own words`, async (t) => {
    const site = await aSite(t, sending('application/json', JSON.stringify(answer)));
    await theWeb(t, { allow: [site.base], search: providerAt(name, site.base) })('web_search', question);
    assert.deepEqual(site.asked.map(wants), [wanted]);
  });

  test(`${name} gives titles, addresses and passages`, async (t) => {
    const site = await aSite(t, sending('application/json', JSON.stringify(answer)));
    const found = await theWeb(t, { allow: [site.base], search: providerAt(name, site.base) })('web_search', question);
    assert.deepEqual(found, { results: [{ title: 'On tea', url: 'https://tea.example/', snippet: 'Hot tea' }] });
  });

  for (const [what, status, body, code] of [
    ['nonsense', 200, '<html>', 'bad_answer'],
    ['no more', 429, '', 'busy'],
    ['a wrong key', 401, '{}', 'http_status'],
  ] as const) {
    test(`${name} that answers with ${what} is told as ${code}`, async (t) => {
      const site = await aSite(t, sending('application/json', body, status));
      const result = await theWeb(t, { allow: [site.base], search: providerAt(name, site.base) })(
        'web_search',
        question,
      );
      assert.equal(result['code'], code);
    });
  }
}

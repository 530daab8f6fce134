// Images from elsewhere: fetched by the server, for whoever asked, and nothing more than the image.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createImages } from '../../src/adapters/net/images.ts';
import { shownImage } from '../../src/http/wire.ts';
import { aServer, type Served } from './server.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface Ending {
  after(undo: () => unknown): void;
}

/** A host that others run. */
async function aHost(t: Ending, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const shown = async (served: Served, url: string) => {
  const id = await served.begin('hello');
  return served.call('GET', `/api/v1/runs/${id}/image?url=${encodeURIComponent(url)}`);
};

const aServerFor = (t: Parameters<typeof aServer>[0], ...allowHosts: string[]) =>
  aServer(t, { images: createImages({ allowHosts, mostBytes: 1_000, timeoutMs: 400 }) });

test('an image is shown by value, is kept by the browser, and its host is told of nobody', async (t) => {
  const { host, asked } = await aHost(t, (_request, response) => response.end(PNG));
  const { body, headers } = await shown(await aServerFor(t, host), `http://${host}/p.png?a=1`);
  assert.deepEqual(shownImage.parse(body), { mediaType: 'image/png', data: PNG.toString('base64') });
  assert.equal(headers.get('cache-control'), 'private, max-age=86400');
  assert.deepEqual(
    asked.map(({ url, headers: { cookie, referer, authorization } }) => [url, cookie, referer, authorization]),
    [['/p.png?a=1', undefined, undefined, undefined]],
  );
});

for (const [what, answer] of Object.entries<(response: ServerResponse) => void>({
  'a page that calls itself an image': (response) => {
    response.setHeader('content-type', 'image/png').end('<html>');
  },
  'a drawing that may hold a script': (response) => {
    response.setHeader('content-type', 'image/svg+xml').end('<svg xmlns="http://www.w3.org/2000/svg"/>');
  },
  'an image that is too large': (response) => response.end(Buffer.concat([PNG, Buffer.alloc(2_000)])),
  'an image that does not come': () => undefined,
  'an image that is not there': (response) => response.writeHead(404).end(PNG),
}))
  test(`${what} is not shown`, async (t) => {
    const { host } = await aHost(t, (_request, response) => {
      answer(response);
    });
    assert.equal((await shown(await aServerFor(t, host), `http://${host}/p.png`)).code, 'image_refused');
  });

test('a host that sends one on to another is not followed: the other is asked nothing', async (t) => {
  const other = await aHost(t, (_request, response) => response.end(PNG));
  const first = await aHost(t, (_request, response) =>
    response.writeHead(302, { location: `http://${other.host}/p.png?secret` }).end(),
  );
  const { code } = await shown(await aServerFor(t, first.host, other.host), `http://${first.host}/p.png`);
  assert.deepEqual([code, first.asked.length, other.asked.length], ['image_refused', 1, 0]);
});

test('an address of this machine, of the web in no way, or with a password is not asked', async (t) => {
  const { host, asked } = await aHost(t, (_request, response) => response.end(PNG));
  const served = await aServerFor(t);
  for (const url of [`http://${host}/p.png`, 'file:///etc/passwd', `http://a:b@${host}/`, 'data:image/png;base64,x'])
    assert.equal((await shown(served, url)).code, 'image_refused', url);
  assert.equal(asked.length, 0);
});

test('a run of somebody else, and a server whose operator wants none, ask nobody', async (t) => {
  const { host, asked } = await aHost(t, (_request, response) => response.end(PNG));
  const served = await aServerFor(t, host);
  const id = await served.begin('hello');
  const as = await served.key({ userId: 'somebody else' });
  const at = `/api/v1/runs/${id}/image?url=${encodeURIComponent(`http://${host}/p.png`)}`;
  assert.equal((await served.call('GET', at, { as })).code, 'not_found');
  assert.equal((await shown(await aServer(t), `http://${host}/p.png`)).code, 'image_refused');
  assert.equal(asked.length, 0);
});

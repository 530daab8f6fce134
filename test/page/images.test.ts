// Images that an answer names: nobody is asked for them before the person says so, and then by the server alone.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { createImages } from '../../src/adapters/net/images.ts';
import { systemClock } from '../../src/base/clock.ts';
import { cachedModels } from '../support/cached-model.ts';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

type Ending = Parameters<typeof visit>[0];

async function aHost(t: Ending): Promise<{ readonly host: string; readonly asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    response.end(PNG);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A server whose agent answers with these images, and that may ask these hosts. */
async function anAnswerWith(t: Ending, hosts: readonly string[], text: (said: string) => string) {
  const served = await aPageServer(t, {
    images: createImages({ allowHosts: hosts }),
    models: cachedModels(({ userText }) => ({ text: text(userText) }), systemClock),
    environment: { ANTHROPIC_API_KEY: 'none' },
    bundles: [new URL('fixtures/market.yaml', import.meta.url).pathname],
  });
  const { page, strays } = await visit(t, served);
  await say(page, 'draw');
  await lastAnswer(page);
  return { page, strays };
}

describe('an image from elsewhere', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('is asked for once a person agrees, one by one, by the server and without a word about them', async (t) => {
    const { host, asked } = await aHost(t);
    const text = `![a cat](http://${host}/cat.png) and ![a dog](http://${host}/dog.png)`;
    const { page, strays } = await anAnswerWith(t, [host], () => text);
    await page.getByText(`a cat (image at ${host}, not loaded)`).waitFor();
    assert.equal(asked.length, 0);
    await page.getByRole('button', { name: 'Show the image a cat' }).click();
    await page.getByRole('img', { name: 'a cat' }).waitFor();
    assert.deepEqual(
      asked.map(({ url, headers: { cookie, referer } }) => [url, cookie, referer]),
      [['/cat.png', undefined, undefined]],
    );
    assert.deepEqual(strays, []);
  });

  it('comes by itself after a yes to its host, in this conversation and no other', async (t) => {
    const { host, asked } = await aHost(t);
    const { page } = await anAnswerWith(t, [host], (said) => `![${said}](http://${host}/${said}.png)`);
    await page.getByRole('button', { name: `Show all of ${host} here` }).click();
    await page.getByRole('img', { name: 'draw' }).waitFor();
    await say(page, 'more');
    await page.getByRole('img', { name: 'more' }).waitFor();
    await page.getByRole('link', { name: 'New conversation', exact: true }).click();
    await say(page, 'elsewhere');
    await page.getByText(`elsewhere (image at ${host}, not loaded)`).waitFor();
    assert.deepEqual(
      asked.map(({ url }) => url),
      ['/draw.png', '/more.png'],
    );
  });

  it('carries nothing that a model writes to a host that nobody agreed to', async (t) => {
    const agreed = await aHost(t);
    const other = await aHost(t);
    const forms = [
      `![x](http://${other.host}/a.png?secret=1)`,
      `![x][ref]\n\n[ref]: http://${other.host}/b.png?secret=2`,
      `[![x](http://${other.host}/c.png?secret=3)](http://${other.host}/d)`,
      `![x](http://${agreed.host}@${other.host}/e.png?secret=4)`,
      `![x](//${other.host}/f.png) ![x](http:${other.host}/g.png)`,
      `<img src="http://${other.host}/h.png"> ![x](<http://${other.host}/i.png> "t")`,
    ];
    const text = `![mine](http://${agreed.host}/mine.png)\n\n${forms.join('\n\n')}`;
    const { page, strays } = await anAnswerWith(t, [agreed.host, other.host], () => text);
    await page.getByRole('button', { name: `Show all of ${agreed.host} here` }).click();
    await page.getByRole('img', { name: 'mine' }).waitFor();
    await page.reload();
    await page.getByRole('img', { name: 'mine' }).waitFor();
    assert.deepEqual([other.asked.length, strays], [0, []]);
  });

  it('says why it is not shown, and stays a link', async (t) => {
    const { host } = await aHost(t);
    const { page } = await anAnswerWith(t, [], () => `![a cat](http://${host}/cat.png)`);
    await page.getByRole('button', { name: 'Show the image a cat' }).click();
    await page.getByRole('alert').getByText('is a private address', { exact: false }).waitFor();
    assert.equal(await page.getByRole('link', { name: /a cat/ }).getAttribute('href'), `http://${host}/cat.png`);
  });
});

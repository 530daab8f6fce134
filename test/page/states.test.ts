// What the page does when things are many, slow, cut, refused or somewhere else.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { pageFolder } from '../../src/http/page.ts';
import { seriousFindings } from './axe.ts';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';

describe('the page when it is not easy', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('shows a conversation again after a reload in the middle of an answer, whole and once', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'slow words');
    await page.getByText('piece1').waitFor();
    await page.reload();
    await page.getByText('piece59').waitFor();
    assert.equal(await page.locator('.said').count(), 1);
    assert.match(await lastAnswer(page), /^piece0 piece1 /);
  });

  it('can be read as soon as the theme is switched, with everything in its new colour at once', async (t) => {
    const { page } = await visit(t, await aPageServer(t), '/');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.getByRole('textbox', { name: 'Message' }).fill('so that the button is there');
    await page.getByRole('button', { name: 'Theme: system' }).click();
    const fading = await page.evaluate<number>(`(() => {
      document.querySelector('[aria-label="Theme: light"]').click();
      return document.getAnimations().filter((one) => one instanceof CSSTransition).length;
    })()`);
    assert.equal(fading, 0);
    assert.deepEqual(await seriousFindings(page), []);
  });

  it('says that one is offline', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'hello');
    await lastAnswer(page);
    await page.context().setOffline(true);
    await served.server.close({ drainMs: 0 });
    await page.getByText('You are offline.').waitFor();
  });

  it('opens another stream as soon as the browser says that the line is gone', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'hello');
    await lastAnswer(page);
    const id = page.url().split('/').at(-1) ?? '';
    // A stream over such a line says nothing, and does not end for long.
    await Promise.all([
      page.waitForRequest((request) => request.url().includes(`/runs/${id}/stream`)),
      page.evaluate('dispatchEvent(new Event("offline"))'),
    ]);
    await served.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'meanwhile' } });
    await page.getByText('You said: meanwhile').waitFor();
  });

  it('goes on where it was when the server comes back at the same address', async (t) => {
    const log = createMemoryLog({ clock: systemClock });
    const shared = { ...log, close: () => undefined };
    const first = await aPageServer(t, { log: shared });
    const { page } = await visit(t, first);
    await say(page, 'note after the restart');
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    await first.server.close({ drainMs: 0 });
    await first.host.close({ drainMs: 0 });
    await page.getByText('The connection was lost.').waitFor();
    await aPageServer(t, { log: shared, control: first.control, port: Number(new URL(first.url).port) });
    await page.getByRole('button', { name: 'Allow once' }).click();
    assert.match(await lastAnswer(page), /^Noted/);
  });

  it('shows the same in two tabs', async (t) => {
    const served = await aPageServer(t);
    const { page, tab } = await visit(t, served);
    await say(page, 'note for two tabs');
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    const other = await tab(page.url());
    await other.getByRole('button', { name: 'Allow once' }).click();
    assert.equal(await lastAnswer(page), await lastAnswer(other));
    assert.equal(await page.getByRole('button', { name: 'Allow once' }).count(), 0);
  });

  it('asks for a key where the server wants one, and says when it is wrong', async (t) => {
    const served = await aPageServer(t);
    const key = await served.key();
    const { page } = await visit(t, served);
    await page.getByLabel('API key').fill('sk-wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await say(page, 'with a key');
    assert.equal(await lastAnswer(page), 'You said: with a key');
  });

  it('lists conversations: found by their words, renamed, archived, brought back, deleted', async (t) => {
    const served = await aPageServer(t);
    for (const text of ['apples', 'pears']) await served.rest(await served.begin(text));
    const { page } = await visit(t, served);
    const list = page.getByRole('navigation');
    await page.getByLabel('Search conversations').fill('APP');
    await list.getByText('pears').waitFor({ state: 'detached' });
    await list.getByRole('button', { name: 'More about apples' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('apple pie');
    await page.keyboard.press('Enter');
    await list.getByRole('button', { name: 'More about apple pie' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await list.getByText('Nothing found.').waitFor();
    await list.getByRole('button', { name: 'Archive' }).click();
    await list.getByRole('button', { name: 'More about apple pie' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await list.getByText('Nothing found.').waitFor();
    assert.equal((await served.log.list({ limit: 9, archived: 'any' })).length, 1);
  });

  it('draws what is in sight of a long conversation, and comes to its end', async (t) => {
    const served = await aPageServer(t);
    const id = await served.begin('turn 0');
    for (let turn = 1; turn < 120; turn++) {
      await served.rest(id);
      await served.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: `turn ${turn}` } });
    }
    await served.rest(id);
    const { page } = await visit(t, served, `/r/${id}`);
    await page.getByText('You said: turn 119').waitFor();
    assert.ok((await page.locator('.turn').count()) < 60);
    await page.locator('.thread').focus();
    await page.keyboard.press('Home');
    await page.getByText('You said: turn 0', { exact: true }).waitFor();
  });

  it('takes in two thousand pieces of an answer', async (t) => {
    const served = await aPageServer(t);
    const { page, strays } = await visit(t, served);
    await say(page, 'long answer');
    assert.match(await lastAnswer(page), /word1999$/);
    assert.deepEqual(strays, []);
  });

  it('switches off what an agent may use, for this conversation', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'hello');
    await lastAnswer(page);
    await page.getByRole('button', { name: 'What the agent may use' }).click();
    const notes = page.getByRole('switch', { name: 'notes', exact: true });
    await notes.click();
    await page.locator('[role=switch][aria-label=notes]:not([data-checked])').waitFor();
    await page.keyboard.press('Escape');
    await say(page, 'note this');
    await page.getByText('1 without success').waitFor();
  });

  it('tells a person who lost the way so, and a program in its own words', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served, '/nowhere');
    await page.getByText('There is nothing here').waitFor();
    assert.equal((await served.call('GET', '/nowhere')).code, 'not_found');
    assert.equal((await served.call('GET', '/api/nowhere', { headers: { accept: 'text/html' } })).code, 'not_found');
  });

  it('has no page that is wider than a small phone', async (t) => {
    const served = await aPageServer(t);
    const id = await served.begin('markdown');
    await served.rest(id);
    const { page } = await visit(t, served, `/r/${id}`, { width: 360 });
    await page.getByText('Numbers').waitFor();
    for (const address of [`/r/${id}`, '/', '/approvals', '/agents', '/usage', '/keys', `/r/${id}/inspect`]) {
      await page.goto(address);
      await page.locator('#main > *').first().waitFor();
      assert.ok(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'), address);
    }
  });

  for (const dark of [false, true])
    it(`has no serious finding of accessibility in the ${dark ? 'dark' : 'light'}`, async (t) => {
      const served = await aPageServer(t);
      const done = await served.begin('markdown');
      const waits = await served.begin('note for the checker');
      await served.rest(done);
      await served.rest(waits);
      const { page } = await visit(t, served, '/', { dark });
      const found: string[] = [];
      for (const address of [
        '/',
        `/r/${done}`,
        `/r/${waits}`,
        `/r/${done}/inspect`,
        '/approvals',
        '/agents',
        '/keys',
      ]) {
        await page.goto(address);
        await page.locator('#main h1, #main h2').first().waitFor();
        await page.locator('.loading').waitFor({ state: 'detached' });
        if (/^\/r\/\w+$/.test(address)) await page.locator('.turn').last().waitFor();
        if (address === `/r/${waits}`) await page.getByRole('button', { name: 'Allow once' }).waitFor();
        // The list shows what it has measured with the frame after: the checker must not come in between.
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
        found.push(...(await seriousFindings(page)).map((one) => `${address} ${one}`));
      }
      assert.deepEqual(found, []);
    });

  it('is small to load first: 250 KB with its letters, and 300 KB with all of the chat, compressed', () => {
    const folder = pageFolder() ?? '';
    const bytes = (file: string): number => {
      const whole = readFileSync(path.join(folder, file));
      return file.endsWith('.woff2') ? whole.length : gzipSync(whole).length;
    };
    const named = readFileSync(path.join(folder, 'index.html'), 'utf8').matchAll(/"\/(assets\/[^"]+)"/g);
    const first = [...new Set([...named].map(([, file = '']) => file))];
    const chat = readdirSync(path.join(folder, 'assets')).filter((file) => /^chat-page-.*\.(js|css)$/.test(file));
    const sum = (files: readonly string[]): number => files.reduce((total, file) => total + bytes(file), 0);
    assert.ok(first.length >= 4 && sum(first) < 250_000, `${sum(first)}: ${first.join(' ')}`);
    const letters = first.filter((file) => file.endsWith('.woff2'));
    const all = sum(first) - sum(letters) + sum(chat.map((file) => `assets/${file}`));
    assert.ok(chat.length > 0 && all < 300_000, String(all));
    assert.ok(!first.some((file) => /inspector|token-bars|katex/.test(file)), 'the inspector comes when it is wanted');
  });
});

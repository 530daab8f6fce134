// What the page does under way: a key that counts no more, a slow line, a server that goes, and nobody's mouse.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { cachedModels } from '../support/cached-model.ts';
import { seriousFindings } from './axe.ts';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';
import { HOSTILE } from './fixtures/hostile.ts';
import { written } from './fixtures/notes.tool.ts';

/** Counts, by frame, how often the answer is changed, and what of it that stood still before. */
const WATCH = `
  window.watched = { most: 0, commits: 0, frames: 0, long: 0, old: 0 };
  let inFrame = 0;
  (function frame() {
    watched.frames += 1;
    watched.most = Math.max(watched.most, inFrame);
    inFrame = 0;
    requestAnimationFrame(frame);
  })();
  new MutationObserver((changes) => {
    const blocks = (change) => change.target.nodeType === 1 ? change.target : change.target.parentElement;
    const answer = changes.map(blocks).filter((one) => one?.closest('.answer'));
    if (answer.length === 0) return;
    inFrame += 1;
    watched.commits += 1;
    // A block that has some others behind it was finished before this frame: nothing of it may be drawn anew.
    const behind = (block) => block.parentElement.children.length - [...block.parentElement.children].indexOf(block);
    watched.old += answer.map((one) => one.closest('.markdown > *')).filter((one) => one && behind(one) > 9).length;
  }).observe(document, { subtree: true, childList: true, characterData: true });
  new PerformanceObserver((list) => (watched.long += list.getEntries().length)).observe({ type: 'longtask' });
`;

interface Watched {
  readonly most: number;
  readonly commits: number;
  readonly frames: number;
  readonly long: number;
  readonly old: number;
}

/** Presses Tab until it is there, as whoever has no mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if ((await target.and(page.locator(':focus')).count()) === 1) return;
    await page.keyboard.press('Tab');
  }
  assert.fail('it cannot be reached with the keyboard');
}

describe('the page under way', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('asks for a key again when the one it had counts no more, and keeps what was typed', async (t) => {
    const served = await aPageServer(t);
    const keeper = await served.key();
    const key = await served.key({ name: 'lost' });
    const { page } = await visit(t, served);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await say(page, 'with a key');
    await lastAnswer(page);
    await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
    const lost = (await served.control.list()).find(({ name }) => name === 'lost');
    await served.control.revoke(lost?.id ?? '', systemClock.now());
    await page.getByLabel('API key').fill(keeper);
    await page.keyboard.press('Enter');
    await page.getByText('You said: with a key').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'half a thought');
  });

  it('says that it is sending on a slow line, and gets there', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    const line = await page.context().newCDPSession(page);
    await line.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 700,
      downloadThroughput: 20_000,
      uploadThroughput: 5_000,
    });
    await say(page, 'hello from afar');
    await page.getByText('Sending…').waitFor();
    assert.equal(await lastAnswer(page), 'You said: hello from afar');
  });

  it('goes on with an answer that a restart of the server cut in the middle, and shows it once', async (t) => {
    const log = createMemoryLog({ clock: systemClock });
    const shared = { ...log, close: () => undefined };
    const first = await aPageServer(t, { log: shared });
    const { page } = await visit(t, first);
    await say(page, 'slow words');
    await page.getByText('piece2').waitFor();
    await first.server.close({ drainMs: 0 });
    await first.host.close({ drainMs: 0 });
    await aPageServer(t, { log: shared, control: first.control, port: Number(new URL(first.url).port) });
    const answer = await lastAnswer(page);
    assert.deepEqual([answer.match(/piece0 /g)?.length, answer.match(/piece59/g)?.length], [1, 1]);
    assert.equal(await page.locator('.said').count(), 1);
  });

  it('draws once a frame, and nothing again that is finished, while two thousand pieces come', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await page.evaluate(WATCH);
    await say(page, 'steady');
    assert.match(await lastAnswer(page), /599\.$/);
    const watched = await page.evaluate<Watched>('watched');
    t.diagnostic(JSON.stringify(watched));
    assert.ok(watched.commits > 10, 'it came in pieces');
    assert.ok(watched.most <= 1, `${watched.most} commits in one frame`);
    assert.equal(watched.old, 0);
  });

  it('is used from the first word to the inspector without a mouse', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('note without a mouse');
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Allow once' }));
    await page.keyboard.press('Enter');
    assert.match(await lastAnswer(page), /^Noted/);
    assert.ok(written.includes('without a mouse'));
    await tabTo(page, page.getByRole('button', { name: 'What the agent may use' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('switch', { name: 'ask', exact: true }));
    await page.keyboard.press('Space');
    await page.locator('[role=switch][aria-label=ask]:not([data-checked])').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'What the agent may use' }).and(page.locator(':focus')).waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Edit the message' }));
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'The message in other words' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await tabTo(page, page.getByRole('link', { name: 'Inspect' }));
    await page.keyboard.press('Enter');
    await page.getByText('add_note').first().waitFor();
  });

  for (const dark of [false, true])
    it(`has no serious finding of accessibility with everything open, in the ${dark ? 'dark' : 'light'}`, async (t) => {
      const served = await aPageServer(t);
      const { page } = await visit(t, served, '/', { dark });
      const found: string[] = [];
      const look = async (what: string): Promise<void> => {
        await page.waitForTimeout(300); // what opens has come to rest
        found.push(...(await seriousFindings(page)).map((one) => `${what}: ${one}`));
      };
      await say(page, 'search');
      await lastAnswer(page);
      await page.getByRole('button', { name: /Used search/ }).click();
      await page.getByRole('button', { name: /^done search/ }).click();
      await page.getByRole('button', { name: 'Edit the message' }).click();
      await page.getByRole('textbox', { name: 'The message in other words' }).waitFor();
      await look('an exchange');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'What the agent may use' }).click();
      await page.getByRole('button', { name: 'Tools of notes' }).click();
      await look('the menu');
      await page.keyboard.press('Escape');
      await say(page, 'edit');
      await page.locator('.diff').waitFor();
      await look('a change');
      await page.getByRole('button', { name: 'Allow further' }).click();
      await look('how far a yes reaches');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Refuse…' }).click();
      await look('a refusal');
      await page.goto('/');
      await say(page, 'mail');
      await page.getByRole('button', { name: 'Edit…' }).click();
      await page.getByRole('textbox', { name: 'subject' }).fill('x');
      await page.getByRole('button', { name: 'Allow with these' }).click();
      await look('a form');
      assert.deepEqual(found, []);
    });

  it('moves nothing for whoever wants it still', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'slow words');
    await page.getByText('piece1').waitFor();
    const moving = await page.evaluate<number>(
      'document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime > 10).length',
    );
    assert.equal(moving, 0);
  });

  it('neither runs nor fetches anything that a model, a tool or a title writes', async (t) => {
    const served = await aPageServer(t, {
      bundles: [path.join(import.meta.dirname, 'fixtures/market.yaml')],
      models: cachedModels(
        ({ step }) =>
          step === 0
            ? { actions: [{ name: 'stall_000', arguments: { what: HOSTILE.join('\n') } }] }
            : { text: HOSTILE.join('\n\n') },
        systemClock,
      ),
    });
    const { page, strays } = await visit(t, served);
    await say(page, HOSTILE.join(' '));
    await lastAnswer(page);
    await page.getByRole('button', { name: /Used stall_000/ }).click();
    await page.getByRole('button', { name: /^done stall_000/ }).click();
    await page.locator('.action-part').first().waitFor();
    const found = await page.evaluate<Readonly<Record<string, number>>>(`({
      scripts: document.querySelectorAll('main script, nav script').length,
      frames: document.querySelectorAll('iframe, object, embed, form[action], base, link[rel=preload]:not([href^="/assets/"]), style').length,
      images: [...document.images].filter((one) => !one.src.startsWith(location.origin)).length,
      handlers: [...document.querySelectorAll('*')].filter((one) => [...one.attributes].some(({ name }) => /^on/.test(name))).length,
      links: [...document.links].filter((one) => !/^https?:$/.test(one.protocol)).length,
      leaks: [...document.links].filter((one) => one.origin !== location.origin && !one.relList.contains('noreferrer')).length,
    })`);
    assert.deepEqual(found, { scripts: 0, frames: 0, images: 0, handlers: 0, links: 0, leaks: 0 });
    // The tab is called by the title of the conversation, letter by letter: what stands in it does not run there either.
    assert.match(await page.title(), /^<script>.* · Treadle$/);
    assert.deepEqual(strays, []);
  });
});

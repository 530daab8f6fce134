// What a person has open or half written, and where they read: the page takes neither from them.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Served } from '../http/server.ts';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';

const EDITOR = { name: 'The message in other words' } as const;

/** A conversation of so many exchanges that most of them are out of sight, after one of the first words. */
async function aLongOne(served: Served, first = 'turn 0', turns = 40): Promise<string> {
  const id = await served.begin(first);
  for (let turn = 1; turn < turns; turn++) {
    await served.rest(id);
    await said(served, id, `turn ${turn}`);
  }
  await served.rest(id);
  return id;
}

async function said(served: Served, id: string, content: string): Promise<void> {
  await served.call('POST', `/api/v1/runs/${id}/messages`, { body: { content } });
}

/** Whatever was measured is drawn. */
const drawn = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))');

/** Opens a conversation at its end, and lets the list find its place. */
async function atEnd(t: Parameters<typeof visit>[0], served: Served, id: string, last: string): Promise<Page> {
  const { page } = await visit(t, served, `/r/${id}`);
  await page.getByText(last).waitFor();
  await drawn(page);
  return page;
}

/** Moves the conversation without a wheel or a key, as the search of a browser does. */
function scroll(page: Page, to: 'start' | 'end'): Promise<unknown> {
  const top = to === 'start' ? '0' : 'thread.scrollHeight';
  return page.evaluate(`{ const thread = document.querySelector('.thread'); thread.scrollTop = ${top}; }`);
}

after(closeBrowser);

describe('what a person has in hand', { skip: noBrowser, concurrency: 2 }, () => {
  it('is an edit that is there again when it comes back into sight', async (t) => {
    const served = await aPageServer(t);
    const page = await atEnd(t, served, await aLongOne(served), 'You said: turn 39');
    await scroll(page, 'start');
    await page.getByRole('button', { name: 'Edit the message' }).first().click();
    await page.getByRole('textbox', EDITOR).fill('turn zero');
    await page.getByRole('textbox', { name: 'Message', exact: true }).focus();
    await scroll(page, 'end');
    await page.getByRole('textbox', EDITOR).waitFor({ state: 'detached' });
    await scroll(page, 'start');
    assert.equal(await page.getByRole('textbox', EDITOR).inputValue(), 'turn zero');
    assert.equal(
      await page.getByRole('textbox', { name: 'Message', exact: true }).and(page.locator(':focus')).count(),
      1,
    );
  });

  it('is an edit that keeps the keys while it is out of sight', async (t) => {
    const served = await aPageServer(t);
    const page = await atEnd(t, served, await aLongOne(served), 'You said: turn 39');
    await scroll(page, 'start');
    await page.getByRole('button', { name: 'Edit the message' }).first().click();
    await page.getByRole('textbox', EDITOR).fill('turn');
    await scroll(page, 'end');
    await page.getByText('You said: turn 39').waitFor();
    await page.keyboard.type(' naught');
    assert.equal(await page.getByRole('textbox', EDITOR).inputValue(), 'turn naught');
  });

  it('is an edit that goes on, and stays in its place, while new words arrive', async (t) => {
    const served = await aPageServer(t);
    const id = await aLongOne(served);
    const page = await atEnd(t, served, id, 'You said: turn 39');
    await scroll(page, 'start');
    await page.getByRole('button', { name: 'Edit the message' }).first().click();
    await page.keyboard.type(', in other words');
    await said(served, id, 'from somewhere else');
    await served.rest(id);
    await page.getByRole('button', { name: 'To the end' }).waitFor();
    await drawn(page);
    await page.keyboard.type(', at length');
    assert.equal(await page.getByRole('textbox', EDITOR).inputValue(), 'turn 0, in other words, at length');
    assert.equal(await page.evaluate('document.querySelector(".thread").scrollTop < 40'), true);
  });

  it('is an edit that the server did not take: its words stay, and it is said why', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'hello');
    await lastAnswer(page);
    await page.getByRole('button', { name: 'Edit the message' }).click();
    await page.getByRole('textbox', EDITOR).fill('good evening');
    await page.route('**/fork', (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'conflict', message: 'Not just now.' } } }),
    );
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Not just now.').waitFor();
    assert.equal(await page.getByRole('textbox', EDITOR).inputValue(), 'good evening');
  });

  it('is a card that was opened, and the fold around it', async (t) => {
    const served = await aPageServer(t);
    const page = await atEnd(t, served, await aLongOne(served, 'think of looms'), 'You said: turn 39');
    await scroll(page, 'start');
    await page.getByRole('button', { name: /Used look_up/ }).click();
    await page.getByRole('button', { name: 'Thought' }).click();
    await page.getByRole('button', { name: /look_up what: nothing/ }).click();
    await page.getByText('There is nothing to look up.').waitFor();
    await page.getByRole('textbox', { name: 'Message', exact: true }).focus();
    await scroll(page, 'end');
    await page.getByText('There is nothing to look up.').waitFor({ state: 'detached' });
    await scroll(page, 'start');
    await page.getByText('There is nothing to look up.').waitFor();
    await page.getByText('I should look this up').waitFor();
  });

  it('is a card that was opened while the agent worked: it stays in the open when the turn is over', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'look, then note it');
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    await page.getByRole('button', { name: /look_up what: looms/ }).click();
    await page.getByText('LOOMS', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Allow once' }).click();
    await lastAnswer(page);
    assert.equal(await page.getByText('LOOMS', { exact: true }).isVisible(), true);
  });

  it('is a form that is half filled in, wherever one goes meanwhile', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'mail');
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('textbox', { name: 'subject' }).fill('A better word');
    await page.getByRole('link', { name: 'New conversation', exact: true }).click();
    await page.getByRole('link', { name: 'Approvals' }).click();
    assert.equal(await page.getByRole('textbox', { name: 'subject' }).inputValue(), 'A better word');
    await page.reload();
    assert.equal(await page.getByRole('textbox', { name: 'subject' }).inputValue(), 'A better word');
  });

  it('is half a number in a form, which stays in the way until it is a whole one', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'mail');
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByLabel('copies', { exact: true }).fill('1e');
    await page.getByText('This is not a number.').waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    assert.equal(await page.getByLabel('copies', { exact: true }).inputValue(), '1e');
    assert.ok(await page.getByRole('button', { name: 'Allow with these' }).isDisabled());
    await page.getByLabel('copies', { exact: true }).fill('1');
    assert.ok(await page.getByRole('button', { name: 'Allow with these' }).isEnabled());
  });

  it('is a file beside words that were not sent, wherever one goes meanwhile', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    const files = { name: 'loom.txt', mimeType: 'text/plain', buffer: Buffer.from('warp') };
    await page.locator('input[type=file]').setInputFiles(files);
    await page.getByText('loom.txt').waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    await page.getByRole('link', { name: 'New conversation', exact: true }).click();
    await page.getByText('loom.txt').waitFor();
    await page.getByRole('button', { name: 'Take loom.txt off' }).click();
    await page.getByText('loom.txt').waitFor({ state: 'detached' });
  });

  it('is a field that stays the same one however long its text becomes', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'mail');
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('textbox', { name: 'subject' }).fill('');
    await page.keyboard.type('The looms '.repeat(8));
    assert.equal(await page.getByRole('textbox', { name: 'subject' }).inputValue(), 'The looms '.repeat(8));
  });
});

describe('where a person reads', { skip: noBrowser, concurrency: 2 }, () => {
  it('is left alone when more comes, also where it was not a wheel that went there', async (t) => {
    const served = await aPageServer(t);
    const id = await aLongOne(served);
    const page = await atEnd(t, served, id, 'You said: turn 39');
    await scroll(page, 'start');
    await page.getByText('You said: turn 0', { exact: true }).waitFor();
    await said(served, id, 'slow words');
    await page.getByText('Working').first().waitFor();
    await served.rest(id);
    await drawn(page);
    assert.equal(await page.evaluate('document.querySelector(".thread").scrollTop'), 0);
  });

  it('does not move when something is folded out there', async (t) => {
    const served = await aPageServer(t);
    const id = await served.begin('long answer');
    await served.rest(id);
    await said(served, id, 'think of looms');
    await served.rest(id);
    const { page } = await visit(t, served, `/r/${id}`);
    const fold = page.getByRole('button', { name: /Used look_up/ });
    await fold.waitFor();
    await drawn(page);
    const before = await fold.boundingBox();
    await fold.click();
    await page.getByRole('button', { name: /look_up what: nothing/ }).click();
    await page.getByText('There is nothing to look up.').waitFor();
    await drawn(page);
    assert.equal((await fold.boundingBox())?.y, before?.y);
  });

  it('takes a click also while the list still moves', async (t) => {
    const served = await aPageServer(t);
    const page = await atEnd(t, served, await aLongOne(served), 'You said: turn 39');
    await scroll(page, 'start');
    await page.getByText('You said: turn 0', { exact: true }).waitFor();
    const isThere = await page.evaluate<boolean>(`new Promise((done) => {
      document.querySelector('.thread').scrollTop += 20;
      const { x, y } = document.querySelector('.answer').getBoundingClientRect();
      requestAnimationFrame(() => requestAnimationFrame(() =>
        done(document.elementFromPoint(x + 10, y + 10).closest('.turn') !== null)));
    })`);
    assert.ok(isThere);
  });

  it('is followed to the end of an answer that comes', async (t) => {
    const served = await aPageServer(t);
    const page = await atEnd(t, served, await aLongOne(served, 'turn 0', 12), 'You said: turn 11');
    await say(page, 'slow words');
    await page.getByText('piece59').waitFor();
    await lastAnswer(page);
    await drawn(page);
    const left = '(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)';
    assert.ok((await page.evaluate<number>(`${left}(document.querySelector('.thread'))`)) < 2);
  });
});

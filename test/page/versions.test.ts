// What was said, said otherwise; and what can be taken along.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';

describe('a conversation that is gone over', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('keeps both versions of a message, and steps between them', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'one');
    await lastAnswer(page);
    await say(page, 'two');
    await page.getByText('You said: two').waitFor();
    await page.locator('.said').nth(1).hover();
    await page.getByRole('button', { name: 'Edit the message' }).nth(1).click();
    await page.getByRole('textbox', { name: 'The message in other words' }).fill('zwei');
    await page.keyboard.press('Enter');
    await page.getByText('You said: zwei').waitFor();
    const first = await served.log.list({ limit: 9, q: 'one' });
    await page.getByText('You said: one').waitFor();
    await page.getByRole('group', { name: 'Version 2 of 2' }).waitFor();
    await page.getByRole('link', { name: 'The version before' }).click();
    await page.getByText('You said: two').waitFor();
    await page.getByRole('group', { name: 'Version 1 of 2' }).waitFor();
    await page.locator('.turn-foot').nth(1).waitFor();
    await page.getByRole('button', { name: 'Ask again, as another version' }).nth(1).click();
    await page.getByRole('group', { name: 'Version 3 of 3' }).waitFor();
    const label = { name: 'version_of', value: first.find(({ title }) => title === 'one')?.id ?? '' };
    assert.equal((await served.log.list({ limit: 9, label })).length, 2);
  });

  it('names the sources of an answer by number, and fetches nothing from there', async (t) => {
    const served = await aPageServer(t);
    const { page, strays } = await visit(t, served);
    await say(page, 'search');
    await lastAnswer(page);
    assert.deepEqual(await page.locator('.answer sup').allTextContents(), ['1', '2']);
    assert.deepEqual(await page.getByRole('list', { name: 'Sources' }).locator('a').allTextContents(), [
      'How looms work',
      'in China',
      'A history of weaving',
    ]);
    assert.deepEqual(strays, []);
  });

  it('is taken along as Markdown and as JSON lines, from itself and from the list', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'search');
    await lastAnswer(page);
    const exported = async (from: string, name: string) => {
      await page.getByRole('button', { name: from }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: `Export as ${name}` }).click(),
      ]);
      await page.keyboard.press('Escape');
      return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
    };
    const told = async (format: string) =>
      (
        await fetch(`${served.url}/api/v1/runs/${page.url().split('/').at(-1) ?? ''}/transcript?format=${format}`)
      ).text();
    const markdown = await exported('Copy or export the conversation', 'Markdown');
    assert.deepEqual(markdown, { name: 'search.md', text: await told('md') });
    const lines = await exported('More about search', 'JSON lines');
    assert.deepEqual(lines, { name: 'search.jsonl', text: await told('jsonl') });
    assert.ok(lines.text.split('\n').some((line) => line.includes('"action"')));
  });

  it('says so in its menu when it cannot be taken along', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'hello');
    await lastAnswer(page);
    await page.route('**/transcript*', (route) =>
      route.fulfill({ status: 404, json: { error: { code: 'not_found', message: 'It is gone.' } } }),
    );
    await page.getByRole('button', { name: 'Copy or export the conversation' }).click();
    await page.getByRole('menuitem', { name: 'Export as Markdown' }).click();
    await page.getByRole('alert').getByText('It is gone.').waitFor();
  });
});

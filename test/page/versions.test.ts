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

  it('is taken along as Markdown and as JSON', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'search');
    await lastAnswer(page);
    const exported = async (name: string) => {
      await page.getByRole('button', { name: 'Copy or export the conversation' }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: `Export as ${name}` }).click(),
      ]);
      return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
    };
    const markdown = await exported('Markdown');
    assert.equal(markdown.name, 'search.md');
    assert.match(markdown.text, /## You\n\nsearch\n\n- `search` .*: ok\n\n## Agent\n\nA \*\*treadle\*\*/);
    const json = JSON.parse((await exported('JSON')).text) as { entries: { role: string }[] };
    assert.ok(json.entries.some(({ role }) => role === 'action'));
  });
});

// What a person is asked, and the words they have for it.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';
import { written } from './fixtures/notes.tool.ts';

describe('what a person is asked', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('is edited in fields that the schema of the tool makes, and goes nowhere while it does not fit', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'mail');
    const card = page.getByRole('region', { name: 'May send_mail run?' });
    await card.getByRole('button', { name: 'Edit…' }).click();
    await card.getByLabel('priority').selectOption('high');
    await card.getByLabel('copies', { exact: true }).fill('12');
    await card.getByRole('button', { name: 'One more' }).click();
    await card.getByLabel('2', { exact: true }).fill('bo@example.org');
    await card.getByRole('button', { name: 'isPrivate' }).click();
    await card.getByLabel('isPrivate', { exact: true }).selectOption('yes');
    await card.getByRole('textbox', { name: 'text' }).fill('Dear both,\nthe looms are ready.\nMarta');
    await card.getByRole('button', { name: 'Allow with these' }).click();
    await card.getByText('12 is greater than 9', { exact: false }).waitFor();
    assert.equal(written.filter((one) => one.startsWith('{')).length, 0);
    await card.getByLabel('copies', { exact: true }).fill('2');
    await card.locator('del', { hasText: 'Dear Ana,' }).waitFor();
    await card.getByRole('button', { name: 'Allow with these' }).click();
    assert.equal(await lastAnswer(page), 'Sent: ana@example.org and bo@example.org.');
    const sent: unknown = JSON.parse(written.find((one) => one.startsWith('{')) ?? '{}');
    assert.deepEqual(sent, {
      to: ['ana@example.org', 'bo@example.org'],
      subject: 'The looms',
      text: 'Dear both,\nthe looms are ready.\nMarta',
      priority: 'high',
      copies: 2,
      isPrivate: true,
    });
  });

  it('is shown as a change where it is one, also when it is done', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'edit');
    const card = page.getByRole('region', { name: 'May edit_file run?' });
    await card.locator('ins mark').first().waitFor();
    assert.deepEqual(await card.locator('del mark').allTextContents(), ['hand', 'a', 'day']);
    assert.deepEqual(await card.locator('ins mark').allTextContents(), ['machine', 'an', 'hour']);
    await card.getByRole('button', { name: 'Allow once' }).click();
    await lastAnswer(page);
    await page.getByRole('button', { name: /Used edit_file/ }).click();
    await page.getByRole('button', { name: /^done edit_file/ }).click();
    await page.locator('.action .diff').nth(1).waitFor();
  });

  it('is what the tool itself shows, before what its arguments say', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'write');
    const card = page.getByRole('region', { name: 'May write_file run?' });
    await card.locator('del', { hasText: 'what was there' }).waitFor();
    await card.getByText('All arguments').click();
    await card.locator('dd', { hasText: 'what will be there' }).waitFor();
  });

  it('is not asked again in a conversation where the yes was for all of it', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'note first of many');
    await page.getByRole('button', { name: 'Allow further' }).click();
    await page.getByText('A yes to every run of add_note:').waitFor();
    await page.getByRole('menuitem', { name: 'Allow for this conversation' }).click();
    await lastAnswer(page);
    await say(page, 'note second of many');
    await page.locator('.turn-foot').nth(1).waitFor();
    assert.ok(written.includes('second of many'));
    await page.getByRole('link', { name: 'New conversation', exact: true }).click();
    await say(page, 'note elsewhere');
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
  });

  it('can be answered all at once', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served, '/approvals');
    await served.rest(await served.begin('two notes'));
    await page.getByText('2 actions wait for your word').waitFor();
    await page.getByRole('button', { name: 'Refuse all' }).click();
    await page.getByText('Nothing waits for you').waitFor();
  });

  it('stands in the inbox page by page, however much it is, and goes from there when it is answered', async (t) => {
    const served = await aPageServer(t);
    const ids: string[] = [];
    for (let at = 0; at < 53; at++) ids.push(await served.begin(`note number ${at}`));
    for (const id of ids) await served.rest(id);
    const { page } = await visit(t, served, '/approvals');
    await page.getByText('50 and more waiting for you.').waitFor();
    await page.getByRole('button', { name: 'Show more that wait' }).click();
    await page.getByText('53 waiting for you.').waitFor();
    const { requests } = (await served.rest(ids[0] ?? '')) as { requests: { id: string; digest: string }[] };
    const body = requests.map(({ id, digest }) => ({ request: id, digest, decision: 'reject' }));
    await served.call('POST', `/api/v1/runs/${ids[0] ?? ''}/answers`, { body });
    await page.getByText('number 0', { exact: true }).waitFor({ state: 'detached' });
    await served.begin('note that came late');
    await page.getByText('that came late', { exact: true }).waitFor();
  });

  it('is two questions at once, each with a field of its own name', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'two questions');
    await page.getByRole('textbox', { name: 'Your answer to “Warp?”' }).fill('Linen');
    await page.getByRole('textbox', { name: 'Your answer to “Weft?”' }).fill('Wool');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Your answer to “Weft?”' }).waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Your answer to “Warp?”' }).press('Enter');
    assert.equal(await lastAnswer(page), 'Both are answered.');
  });

  it('fits a small phone, the button of a question too', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served, '/', { width: 360 });
    await say(page, 'two questions');
    await page.getByRole('textbox', { name: 'Your answer to “Weft?”' }).waitFor();
    const ends = '(selector) => document.querySelector(selector).getBoundingClientRect().right';
    assert.ok(await page.evaluate<boolean>(`((end) => end('.question-form .button') < end('.question'))(${ends})`));
  });

  it('says before the click that a key may refuse and not allow', async (t) => {
    const served = await aPageServer(t);
    const key = await served.key({ scopes: ['read', 'run'] });
    const { page } = await visit(t, served);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await say(page, 'note with half a key');
    await page.getByText('Your key may refuse and not allow.', { exact: false }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Allow once' }).isDisabled());
    await page.getByRole('button', { name: 'Refuse…' }).click();
    await page.getByRole('button', { name: 'Refuse', exact: true }).click();
    await page.locator('.turn-foot').waitFor();
    assert.ok(!written.includes('with half a key'));
  });
});

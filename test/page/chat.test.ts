// The chat as a person sees it.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';
import { written } from './fixtures/notes.tool.ts';

describe('the chat page', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('begins a conversation with the first words, and shows the answer at an address of its own', async (t) => {
    const served = await aPageServer(t);
    const { page, strays } = await visit(t, served);
    await say(page, 'hello there');
    assert.equal(await lastAnswer(page), 'You said: hello there');
    assert.match(page.url(), /\/r\/run_\w+$/);
    assert.deepEqual(strays, []);
  });

  it('shows exactly what would run, and runs it once with what the person made of it', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'note buy yarn');
    const card = page.getByRole('region', { name: 'May add_note run?' });
    await card.getByText('buy yarn', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Edit…' }).click();
    await card.getByRole('textbox').fill('buy green yarn');
    await card.getByRole('button', { name: 'Allow with these' }).click();
    assert.match(await lastAnswer(page), /^Noted: \d+\.$/);
    assert.equal(written.filter((text) => text === 'buy green yarn').length, 1);
    assert.ok(!written.includes('buy yarn'));
  });

  it('keeps a refused action from running, and tells the agent why', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'note sell everything');
    const card = page.getByRole('region', { name: 'May add_note run?' });
    await card.getByRole('button', { name: 'Refuse…' }).click();
    await card.getByRole('textbox').fill('far too bold');
    await card.getByRole('button', { name: 'Refuse', exact: true }).click();
    await lastAnswer(page);
    await page.getByText('1 without success').click();
    await page.getByRole('button', { name: /^not run add_note/ }).click();
    await page.getByText('You refused it: far too bold').waitFor();
    assert.ok(!written.includes('sell everything'));
  });

  it('asks for several approvals at once, in any order', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'two notes');
    const cards = page.getByRole('region', { name: 'May add_note run?' });
    await cards.nth(1).getByText('second', { exact: true }).waitFor();
    await cards.nth(1).getByRole('button', { name: 'Allow once' }).click();
    await cards.getByText('second', { exact: true }).waitFor({ state: 'detached' });
    await cards.first().getByRole('button', { name: 'Allow once' }).click();
    assert.equal(await lastAnswer(page), 'Both are noted.');
  });

  it('offers the choices of a question, and one’s own words', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'ask');
    await page.getByRole('button', { name: 'Coffee', exact: true }).click();
    assert.equal(await lastAnswer(page), 'Then Coffee.');
    await say(page, 'ask again');
    await page.getByRole('textbox', { name: 'Your answer' }).fill('Water');
    await page.keyboard.press('Enter');
    await page.getByText('Then Water.').waitFor();
  });

  it('sets aside what waits for a yes when a person says something else, and shows the words in the open', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'note something unwise');
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    await say(page, 'never mind');
    await page.getByRole('button', { name: 'Allow once' }).waitFor({ state: 'detached' });
    await page.locator('.turn-foot').waitFor();
    await page.locator('.said').getByText('never mind').waitFor();
    assert.ok(!written.includes('something unwise'));
  });

  it('takes words said at a question for its answer', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'ask');
    await page.getByRole('button', { name: 'Coffee', exact: true }).waitFor();
    await say(page, 'Cocoa');
    assert.equal(await lastAnswer(page), 'Then Cocoa.');
  });

  it('folds thinking and actions away, and shows all of them on demand', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'think of looms');
    await lastAnswer(page);
    await page.getByRole('button', { name: /Used look_up/ }).click();
    await page.getByRole('button', { name: /look_up what: nothing/ }).click();
    await page.getByText('There is nothing to look up.').waitFor();
    await page.getByRole('button', { name: 'Thought' }).click();
    await page.getByText('I should look this up').waitFor();
  });

  it('stops a turn that runs, and goes on with it', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'slow words');
    await page.getByText('piece2').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Go on', exact: true }).click();
    await page.getByText('piece59').waitFor();
  });

  it('shows an error in words, and lets the next message begin anew', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'fail');
    await page.getByText('This went wrong.').waitFor();
    await say(page, 'better now');
    await page.getByText('You said: better now').waitFor();
  });

  it('renders tables, code and lists, and neither runs nor fetches what a model writes', async (t) => {
    const served = await aPageServer(t);
    const { page, strays } = await visit(t, served);
    await say(page, 'markdown');
    await lastAnswer(page);
    const answer = page.locator('.answer');
    assert.equal(await answer.locator('td').first().textContent(), 'one');
    // Coloured by what it is, and the same letters.
    await answer.locator('pre .hljs-keyword').getByText('const', { exact: true }).waitFor();
    assert.equal(await answer.locator('pre code').textContent(), 'const one = 1;\n');
    assert.equal(await answer.locator('img, script, a[href^="javascript"]').count(), 0);
    await answer.getByText('pixel (image at evil.example, not loaded)').waitFor();
    assert.match(await page.title(), /^(?:markdown · )?Treadle$/); // what it calls itself, and no script
    assert.deepEqual(strays, []);
  });

  it('writes each text from its own side, formulas as such, and every line of code within reach of its button', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'letters');
    await lastAnswer(page);
    const answer = page.locator('.answer');
    await answer.locator('.katex-display').waitFor();
    const sides = '[...document.querySelectorAll(".answer [dir]")].map((one) => getComputedStyle(one).direction)';
    assert.deepEqual(await page.evaluate(sides), ['rtl', 'rtl', 'ltr']);
    const sizes =
      '[...document.querySelectorAll(".katex .vlist .mtight")].map((one) => parseFloat(getComputedStyle(one).fontSize))';
    const whole = 'parseFloat(getComputedStyle(document.querySelector(".katex")).fontSize)';
    assert.ok(
      (await page.evaluate<number[]>(sizes)).every(Number) &&
        (await page.evaluate(`${sizes}.every((one) => one < ${whole})`)),
    );
    await page.evaluate('{ const it = document.querySelector(".thread"); it.scrollTop = it.scrollHeight / 2; }');
    await page.getByRole('button', { name: 'Copy code' }).waitFor();
    const box = await page.getByRole('button', { name: 'Copy code' }).boundingBox();
    assert.ok(box !== null && box.y > 0 && box.y < 200);
  });

  it('goes on from any exchange in a new conversation, and leaves the old one as it was', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'one');
    await lastAnswer(page);
    await say(page, 'two');
    await page.getByText('You said: two').waitFor();
    const first = page.url();
    await page.getByRole('button', { name: 'Go on from here in a new conversation' }).first().click();
    await page.waitForURL((url) => url.href !== first);
    await page.getByText('You said: one').waitFor();
    assert.equal(await page.getByText('You said: two').count(), 0);
  });

  it('keeps what was typed and not sent', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
    await page.reload();
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'half a thought');
  });

  it('can be used with the keyboard alone', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('note by keyboard');
    await page.keyboard.press('Enter');
    const allow = page.getByRole('button', { name: 'Allow once' });
    await allow.waitFor();
    for (let presses = 0; presses < 40; presses++) {
      if ((await allow.and(page.locator(':focus')).count()) === 1) break;
      await page.keyboard.press('Shift+Tab');
    }
    await page.keyboard.press('Enter');
    assert.match(await lastAnswer(page), /^Noted/);
  });
});

// The pages of operators: usage and budgets, agents, keys, accounts, allowances, approvals.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { createMemoryNotes } from '../../src/adapters/stores/notes/memory.ts';
import { seriousFindings } from './axe.ts';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';
import { anObservatory, OBSERVATORY } from './observatory.ts';

async function downloaded(page: Page, click: () => Promise<void>): Promise<readonly string[]> {
  const [file] = await Promise.all([page.waitForEvent('download'), click()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString().trim().split('\r\n');
}

/** The named row of a table, its cells as text. */
async function cells(page: Page, name: string): Promise<readonly string[]> {
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  await row.waitFor();
  return row.locator('th, td').allTextContents();
}

describe('the pages of operators', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('show usage over time by agent, model or user, of whom one wants, and hand it out as a file', async (t) => {
    const served = await anObservatory(t);
    const { page, strays } = await visit(t, served, '/usage');
    assert.equal((await cells(page, 'main'))[1], '42');
    await page.getByRole('button', { name: 'by model' }).click();
    await page.getByRole('rowheader', { name: 'anthropic/claude-haiku-4-5' }).waitFor();
    await page.getByRole('combobox', { name: 'Only one user' }).click();
    await page.getByRole('option', { name: 'bo' }).click();
    await page.getByRole('rowheader', { name: 'anthropic/claude-sonnet-4-6' }).waitFor({ state: 'detached' });
    assert.equal((await cells(page, 'anthropic/claude-haiku-4-5'))[1], '21');
    assert.match(page.url(), /split=model.*user=bo|user=bo.*split=model/);
    const lines = await downloaded(page, () => page.getByRole('button', { name: 'CSV' }).click());
    assert.equal(
      lines[0],
      'Period,Model,Calls,Cache read,Cache write,Fresh input,Output,Known cost in USD,Calls of unknown cost',
    );
    assert.equal(lines.length, 22);
    await page.getByRole('button', { name: '7 days' }).click();
    await page.getByRole('cell', { name: '7', exact: true }).waitFor();
    assert.deepEqual(strays, []);
  });

  it('draw no empty axis where no cost is known, and offer the tokens', async (t) => {
    const served = await aPageServer(t, { bundles: ['agents/exposure.yaml'] });
    await served.rest(await served.begin('12k in 80k'));
    const { page } = await visit(t, served, '/usage');
    await page.getByText(/^No cost is known/).waitFor();
    assert.equal(await page.locator('.chart').count(), 0);
    await page.getByRole('button', { name: 'Draw their tokens' }).click();
    await page.locator('.chart svg').first().waitFor();
  });

  it('stand in one place, whichever of them is shown', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, '/usage');
    const places: (number | undefined)[] = [];
    for (const at of ['/usage', '/budgets', '/keys', '/accounts', '/allowances', '/agents']) {
      await page.goto(at);
      places.push((await page.locator('#main h1').boundingBox())?.x);
    }
    assert.equal(new Set(places).size, 1, places.join());
  });

  it('give a setting the width of a phone, value below name', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, '/agents/main?tab=settings', { width: 390 });
    const value = page.getByText(/^You keep watch over an observatory/);
    await value.waitFor();
    assert.ok(((await value.boundingBox())?.width ?? 0) > 280);
  });

  it('say what is left of each budget, and who is blocked', async (t) => {
    const served = await anObservatory(t, {});
    const at = Date.now();
    const call = { provider: 'p', model: 'm', usage: { input: 1 }, cost: '2', failed: false };
    const spender = {
      conversationId: 'rich',
      tenant: 'local',
      userId: 'bo',
      agent: 'main',
      bundle: 'b',
      runs: ['rich'],
    };
    await served.ledger.add(spender, [{ seq: 1, at, call, charge: { tokens: 1, money: '2' } }], { through: 1 });
    const { page } = await visit(t, served, '/budgets');
    await page.getByText('One cannot go on:').waitFor();
    await page.getByRole('heading', { name: 'bo user' }).waitFor();
    await page.getByText('nothing left').waitFor();
    const meter = page.getByRole('meter', { name: /^tokens/ }).first();
    assert.match((await meter.getAttribute('aria-valuetext')) ?? '', /spent, 0 set aside, [\d,]+ left/);
  });

  it('show an agent with its tools, prices, gates and servers, and ask a server that is down again', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, '/agents');
    await page.getByText('attic is down').first().waitFor();
    await page.getByRole('link', { name: 'main', exact: true }).click();
    const tool = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await tool('log_book')
      .getByText(/^asks.*gate\.tool_approval at observatory\.yaml:\d+/)
      .waitFor();
    await tool('send_telegram').getByText('needs post: send, read').waitFor();
    await page.getByRole('tab', { name: 'Models' }).click();
    assert.equal((await page.getByRole('row').nth(1).locator('td').nth(1).textContent()) ?? '', '$3.00');
    await page.getByRole('tab', { name: 'Plugins' }).click();
    await page.getByText('before:tool.invoke at 50').first().waitFor();
    await page.getByRole('tab', { name: /^Servers/ }).click();
    const attic = page.getByRole('listitem').filter({ hasText: 'attic' });
    await attic.getByText(/ENOENT/).waitFor();
    await attic.getByRole('button', { name: 'Ask now' }).click();
    await attic.getByText(/[2-9] attempts in a row failed/).waitFor();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page
      .getByRole('row', { name: /max_iterations 12 observatory\.yaml:\d+ config\.react\.main\.max_iterations/ })
      .waitFor();
  });

  it('say of each tool which of its runs are asked about, refused or let pass, and where that stands', async (t) => {
    const bundle = path.join(import.meta.dirname, '../../agents/guarded.yaml');
    const served = await aPageServer(t, { bundles: [bundle] });
    const { page } = await visit(t, served, '/agents/main');
    const said = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
    const mail = said('mail').getByRole('list', { name: 'Before it runs' }).getByRole('listitem');
    await mail.first().waitFor();
    const words = async (of: typeof mail) => (await of.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
    assert.match(
      (await words(mail)).join('; '),
      /^runs when to is like \*@example\.org .*; asks otherwise .*guarded\.yaml:\d+$/,
    );
    const order = said('order').getByRole('list', { name: 'Before it runs' }).getByRole('listitem');
    assert.match((await words(order)).join('; '), /^denied when boxes is over 100 .*made by hand.*; runs otherwise$/);
    await said('purge').getByText('gate.tool_filter').waitFor();
  });

  it('tell what an edited bundle would do before anybody saves it, and what is wrong with it', async (t) => {
    const served = await anObservatory(t);
    await served.survey();
    const { page } = await visit(t, served, '/agents/main?tab=edit');
    const text = readFileSync(OBSERVATORY, 'utf8');
    const field = page.getByRole('textbox', { name: /^The whole bundle/ });
    await field.fill(
      text
        .replace('{ log_book: { approval: ask } }', '{ log_book: { approval: never } }')
        .replace('You keep watch', 'You watch'),
    );
    await page.getByRole('button', { name: 'What would it do?' }).click();
    await page.getByText('log_book runs without asking a person').waitFor();
    await page
      .getByText(
        /1 of 1 active conversations are warm: one cold turn each, [\d,]+ cached tokens in all, about \$0\.\d+/,
      )
      .waitFor();
    await field.fill(text.replace('max_iterations', 'max_iteratoins'));
    await page.getByRole('button', { name: 'What would it do?' }).click();
    await page.getByText(/line \d+:\d+.*max_iteratoins/).waitFor();
  });

  it('say of an edit that does not count why, and how to mend it', async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'treadle-edit-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, 'app.yaml');
    const bundle = 'id: app@1\nmodels: { balanced: { provider: scripted, script: ./says.json } }\n';
    writeFileSync(path.join(folder, 'says.json'), '[{ "text": "Hi." }]');
    writeFileSync(file, bundle);
    const served = await aPageServer(t, { bundles: [file] });
    const [opened] = served.host.bundles;
    writeFileSync(file, bundle.replace('app@1', 'app@2'));
    assert.equal(await opened?.reload(), 'kept');
    const { page } = await visit(t, served, '/agents');
    await page.getByText('the last edit needs a restart').waitFor();
    await page.getByRole('link', { name: 'Look closer' }).first().click();
    const told = page.getByRole('status').filter({ hasText: 'The last edit needs a restart.' });
    assert.match((await told.textContent()) ?? '', /its id is app@2 and was app@1.*write id: app@1 again/);
    assert.deepEqual(await seriousFindings(page), []);
  });

  it('make the first key, go on with it, and revoke another one', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served, '/keys');
    await page.getByRole('button', { name: 'Make a key…' }).click();
    await page.getByText('This is the first key.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('laptop');
    await page.keyboard.press('Enter');
    const shown = page.getByRole('status').locator('code');
    assert.match((await shown.textContent()) ?? '', /^sk-[0-9a-f]{16}-/);
    await page.getByText('this tab uses it').waitFor();
    await page.getByRole('button', { name: 'Make a key…' }).click();
    await page.getByText('Give it a name first.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('for bo');
    await page.getByRole('textbox', { name: 'User' }).fill('bo');
    await page.getByRole('checkbox', { name: /^approve/ }).uncheck();
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByRole('status').getByText('for bo').waitFor();
    const key = (await shown.textContent()) ?? '';
    const me = (await served.call('GET', '/api/v1/me', { as: key })).body;
    assert.deepEqual([me['userId'], me['scopes']], ['bo', ['read', 'run']]);
    await page.getByRole('button', { name: 'Revoke for bo' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText(/^revoked/).waitFor();
    assert.equal((await served.call('GET', '/api/v1/me', { as: key })).code, 'invalid_token');
    await page.getByRole('button', { name: 'I have it' }).click();
    assert.ok(!(await page.content()).includes(key));
  });

  it('show a key without the scope what it may see, and no more', async (t) => {
    const served = await anObservatory(t);
    const key = await served.key({ scopes: ['read'], userId: 'ana' });
    const { page } = await visit(t, served, '/keys');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByText('keys with the scope “admin”').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Make a key…' }).count(), 0);
    await page.getByRole('link', { name: 'Usage' }).first().click();
    await page.getByRole('button', { name: 'by user' }).click();
    await page.getByRole('rowheader', { name: 'ana' }).waitFor();
    assert.equal(await page.getByRole('rowheader').count(), 1);
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('link', { name: 'main', exact: true }).click();
    await page.getByText('How it is set up is for keys with the scope “admin”.').waitFor();
  });

  it('tell which tools need an account, and how it stands', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, '/accounts');
    const account = page.getByRole('listitem').filter({ hasText: 'The post office' }).first();
    await account.getByText('not connected').waitFor();
    await account.getByText('of main needs send, read').waitFor();
    await account.getByRole('button', { name: 'Connect' }).waitFor();
  });

  it('gather what waits for a person from all conversations, by kind, and take the answer', async (t) => {
    const served = await anObservatory(t);
    const id = await served.survey();
    const { page } = await visit(t, served, '/approvals');
    const card = page.getByRole('region', { name: 'May log_book run?' });
    await card.getByText('Clear; 41° by sextant.').waitFor();
    await page.getByRole('button', { name: 'Questions' }).click();
    await page.getByText('None of these').waitFor();
    await page.getByRole('button', { name: 'Everything' }).click();
    await card.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    assert.equal((await served.rest(id))['status'], 'completed');
  });

  it('show what agents remember, find it, put it right and forget it', async (t) => {
    const notes = createMemoryNotes();
    const local = { tenant: 'local', userId: 'local', bundle: 'desk' };
    for (const [id, text] of [
      ['n1', 'Ana drinks green tea.'],
      ['n2', 'The report is due on Fridays.'],
    ] as const)
      notes.saveNote(local, { id, text, pinned: false, createdAt: 1, updatedAt: 1 }, 9);
    const served = await aPageServer(t, { notes });
    const { page } = await visit(t, served, '/notes');
    const list = page.getByRole('list', { name: 'Notes' });
    await page.getByLabel('Search notes').fill('tea');
    await list.getByText('The report').waitFor({ state: 'detached' });
    await list.getByRole('button', { name: 'Edit: Ana' }).click();
    await page.getByLabel('The note').fill('Ana drinks black tea.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await list.getByText('Ana drinks black tea.').waitFor();
    await list.getByRole('button', { name: 'Pin' }).click();
    await list.getByText('told in every conversation').waitFor();
    await page.getByLabel('Search notes').fill('');
    const lines = await downloaded(page, () => page.getByRole('button', { name: 'Save all as a file' }).click());
    assert.match(lines.join(), /Ana drinks black tea.*Fridays/s);
    await list.getByRole('button', { name: 'Forget: The report' }).click();
    await page.getByRole('button', { name: 'Forget it' }).click();
    // The page behind the question is out of reach, and has no list, until it is answered.
    await page.getByRole('button', { name: 'Forget it' }).waitFor({ state: 'detached' });
    await list.getByText('The report').waitFor({ state: 'detached' });
    assert.deepEqual(
      notes.listNotes(local, 9).map(({ text, pinned }) => [text, pinned]),
      [['Ana drinks black tea.', true]],
    );
  });

  it('say that nothing is there, and that the server cannot be reached', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served, '/usage');
    await page.getByText('Nothing was used').waitFor();
    for (const [at, text] of [
      ['/budgets', 'Nobody has a budget'],
      ['/accounts', 'No account can be connected'],
      ['/allowances', 'You are always asked'],
      ['/notes', 'Nothing is remembered'],
      ['/approvals', 'Nothing waits for you'],
    ] as const) {
      await page.goto(at);
      await page.getByText(text).waitFor();
    }
    await page.route('**/api/v1/budgets', (route) => route.abort());
    await page.goto('/budgets');
    await page.getByText('No connection').waitFor({ timeout: 30_000 });
    await page.unroute('**/api/v1/budgets');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nobody has a budget').waitFor();
  });

  it('ask for a key again when the one that is used was revoked', async (t) => {
    const served = await aPageServer(t);
    const key = await served.key({ scopes: ['admin'] });
    const { page } = await visit(t, served, '/usage');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was used').waitFor();
    const [known] = await served.control.list();
    await served.control.revoke(known?.id ?? '', Date.now());
    await page.getByRole('link', { name: 'Budgets' }).click();
    await page.getByText('The key was revoked.').first().waitFor();
  });

  it('let one talk to the scripted agent at once where no model is there, and say how to add one', async (t) => {
    const served = await aPageServer(t, { bundles: ['agents/exposure.yaml'] });
    const { page } = await visit(t, served);
    await page.getByText('A script answers for now').waitFor();
    await page.getByText('export ANTHROPIC_API_KEY=').waitFor();
    await page.getByText('ollama run').waitFor();
    assert.deepEqual(await seriousFindings(page), []);
    const dark = await visit(t, served, '/', { dark: true });
    await dark.page.getByText('ollama run').waitFor();
    assert.deepEqual(await seriousFindings(dark.page), []);
    await say(page, 'I hold $8,000 of a $10,000 portfolio. What is my exposure?');
    assert.match(await lastAnswer(page), /80/);
  });

  it('can be used with the keyboard alone', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, '/usage');
    await page.getByRole('rowheader', { name: 'main', exact: true }).waitFor();
    await page.getByRole('button', { name: 'by user' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('rowheader', { name: 'bo', exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Only one agent' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: 'clerk' }).waitFor();
    await page.keyboard.press('c');
    await page.keyboard.press('Enter');
    await page.waitForURL(/agent=clerk/);
    await page.getByRole('link', { name: 'Budgets' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('meter').first().waitFor();
  });

  for (const dark of [false, true])
    it(`have no serious finding of accessibility in the ${dark ? 'dark' : 'light'}, and fit on a small phone`, async (t) => {
      const served = await anObservatory(t);
      await served.survey();
      const { page } = await visit(t, served, '/', { dark, width: dark ? 1200 : 360 });
      const found: string[] = [];
      const tabs = ['tools', 'models', 'plugins', 'servers', 'settings', 'edit'].map(
        (tab) => `/agents/main?tab=${tab}`,
      );
      for (const at of [
        '/usage',
        '/budgets',
        '/agents',
        ...tabs,
        '/keys',
        '/accounts',
        '/allowances',
        '/notes',
        '/approvals',
      ]) {
        await page.goto(at);
        await page.locator('#main h1').waitFor();
        await page.locator('.loading').waitFor({ state: 'detached' });
        found.push(...(await seriousFindings(page)).map((one) => `${at} ${one}`));
        if (!(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')))
          found.push(`${at} is too wide`);
      }
      assert.deepEqual(found, []);
    });
});

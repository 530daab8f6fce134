// The menu beside the words: what the agent may use, what a change costs, and when it is made.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { cachedModels } from '../support/cached-model.ts';
import { aFakeServer } from '../accounts/fake-authorization-server.ts';
import { inFolder } from '../support/bundles.ts';
import type { Served } from '../http/server.ts';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit } from './browser.ts';

const MARKET = path.join(import.meta.dirname, 'fixtures/market.yaml');
const MENU = { name: /^What the agent may use/ };

function aMarket(t: Parameters<typeof aPageServer>[0]): Promise<Served> {
  const models = cachedModels(() => ({ text: 'Done.' }), systemClock);
  return aPageServer(t, { bundles: [MARKET], models });
}

async function selectionOf({ call }: Served, conversation: string): Promise<Record<string, unknown>> {
  return (await call('GET', `/api/v1/agents/main/capabilities?conversation=${conversation}`)).body;
}

describe('the menu beside the words', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('draws what is in sight of 500 tools, finds one by its words, and shows what is locked', async (t) => {
    const served = await aMarket(t);
    const { page } = await visit(t, served);
    await page.getByRole('button', MENU).click();
    await page.getByText('always on').waitFor();
    assert.equal(await page.getByRole('switch', { name: 'io', exact: true }).count(), 0);
    await page.getByRole('button', { name: 'Tools of stalls' }).click();
    await page.getByText('stall_000').waitFor();
    assert.ok((await page.getByRole('switch').count()) < 60);
    await page.getByLabel('Find a tool or skill').fill('indigo');
    await page.getByText('stall_321').waitFor();
    assert.deepEqual(
      await page.evaluate('[...document.querySelectorAll("[role=switch]")].map((one) => one.ariaLabel)'),
      ['stalls', 'stall_321'],
    );
    await page.getByLabel('Find a tool or skill').fill('no such thing');
    await page.getByText('Nothing is called that.').waitFor();
  });

  it('says the price of a model before it is picked, and makes the change when it costs nothing if one says so', async (t) => {
    const served = await aMarket(t);
    const { page } = await visit(t, served);
    await say(page, 'hello');
    await lastAnswer(page);
    const id = page.url().split('/').at(-1) ?? '';
    await page.getByRole('button', MENU).click();
    await page.locator('label', { hasText: 'Haiku' }).locator('.price').waitFor();
    await page.getByRole('radio', { name: /Haiku/ }).click();
    await page.getByRole('group', { name: 'This change costs something' }).waitFor();
    assert.equal(((await selectionOf(served, id))['selection'] as { model?: unknown }).model, undefined);
    await page.getByLabel('Do the same from now on').check();
    await page.getByRole('button', { name: 'When it costs nothing' }).click();
    await page.getByText('One change waits until it costs nothing.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'What the agent may use, 1 pending' }).click();
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByText('One change waits').waitFor({ state: 'detached' });
    const { pending, policy } = await selectionOf(served, id);
    assert.deepEqual(
      [pending, (policy as { inForce: unknown }).inForce],
      [[], { model_switch: 'defer_cold', capability_toggle: 'confirm' }],
    );
  });

  it('makes one write of several switches, and has made it before what is sent is answered', async (t) => {
    const served = await aMarket(t);
    const { page } = await visit(t, served);
    const writes: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') writes.push(request.postDataJSON());
    });
    await page.getByRole('button', MENU).click();
    await page.getByLabel('Find a tool or skill').fill('stall_00');
    await page.getByRole('switch', { name: 'stall_002' }).waitFor();
    // As fast as a person can: a slow machine is no pause.
    await page.evaluate(
      'for (const name of ["stall_001", "stall_002"]) document.querySelector(`[role=switch][aria-label=${name}]`).click()',
    );
    await page.keyboard.press('Escape');
    await say(page, 'hello');
    await lastAnswer(page);
    assert.deepEqual(writes, [{ disabled: { tools: { stalls: ['stall_001', 'stall_002'] } } }]);
  });

  it('writes what was switched just before the page was left', async (t) => {
    const served = await aMarket(t);
    const { page } = await visit(t, served);
    await page.getByRole('button', MENU).click();
    await page.getByRole('switch', { name: 'stalls', exact: true }).click();
    await page.goto('about:blank');
    await page.goto(served.url);
    await page.getByRole('button', MENU).click();
    await page.locator('[role=switch][aria-label=stalls]:not([data-checked])').waitFor();
  });

  it('goes back to what it was, and says so, where the server does not take a change', async (t) => {
    const served = await aMarket(t);
    const { page } = await visit(t, served);
    await page.getByRole('button', MENU).click();
    const stalls = page.getByRole('switch', { name: 'stalls', exact: true });
    await stalls.waitFor();
    await page.context().setOffline(true);
    await stalls.click();
    await page.getByText('It is as it was.', { exact: false }).waitFor();
    await page.locator('[role=switch][aria-label=stalls][data-checked]').waitFor();
  });

  it('connects an account where one signs in, and lets go of it', async (t) => {
    const fake = await aFakeServer(t);
    const slack = { type: 'oauth2', label: 'Slack', issuer: fake.issuer, client_id: 'app', client_secret: 'shh' };
    const yaml = JSON.stringify({
      config: { react: { main: { system_prompt: 'You post.' } } },
      models: { balanced: { provider: 'scripted', script: 'script.json' } },
      accounts: { slack: { ...slack, scopes: ['chat:write'] } },
    });
    await inFolder(yaml, { 'script.json': '[{"text": "Hello."}]' }, async (file) => {
      const served = await aPageServer(t, { bundles: [file] });
      const { page } = await visit(t, served);
      // The person says yes at the other place, in the window that opens.
      await page
        .context()
        .route(`${fake.issuer}/**`, (route) =>
          route.fulfill({ status: 302, headers: { location: fake.consent(route.request().url()).href } }),
        );
      await page.getByRole('button', MENU).click();
      await page.getByRole('button', { name: 'Connect Slack' }).click();
      await page.getByRole('button', { name: 'Disconnect Slack' }).click();
      await page.getByText('Not connected').waitFor();
      assert.equal(fake.asked.length, 1);
    });
  });
});

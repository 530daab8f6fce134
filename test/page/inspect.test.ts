// The inspector as a person sees it: time, tokens, prompts, verdicts, the log.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { seriousFindings } from './axe.ts';
import { closeBrowser, noBrowser, visit } from './browser.ts';
import { anObservatory, OBSERVATORY, type Observatory } from './observatory.ts';

const inspect = (id: string, tab = 'time') => `/r/${id}/inspect?tab=${tab}`;

/** What a click hands to the browser as a file. */
async function downloaded(page: Page, click: () => Promise<void>): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), click()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe('the inspector', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('draws model calls, actions, waits and the runs below on one scale', async (t) => {
    const served = await anObservatory(t);
    const { page, strays } = await visit(t, served, inspect(await served.surveyed()));
    const first = page.getByRole('region', { name: 'Turn 1' });
    await first.getByText('log_book waits').waitFor();
    // The clerk's own two calls stand below the delegation, between the calls of the run.
    await first.getByText('call 2', { exact: true }).nth(1).waitFor();
    await first.getByText('call 2, attempt 2', { exact: true }).waitFor();
    const names = await first.locator('.fall-name').allTextContents();
    assert.deepEqual(names.slice(names.indexOf('delegate')), [
      ...['delegate', 'call 1', 'observe', 'call 2', 'call 3', 'log_book waits', 'log_book', 'call 4'],
    ]);
    await first.getByRole('button', { name: /^delegate/ }).click();
    await first.getByRole('link', { name: 'Look into that run' }).click();
    await page.getByRole('link', { name: 'the run that began it' }).waitFor();
    assert.deepEqual(strays, []);
  });

  it('leads from a call to the prompt of that call, and from an action to its facts', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, inspect(await served.survey()));
    const first = page.getByRole('region', { name: 'Turn 1' });
    await first.getByRole('button', { name: /^call 2, attempt 2/ }).click();
    await first.getByRole('link', { name: 'What the model saw' }).click();
    const chosen = page.locator('.call-list [aria-current="true"]').filter({ hasText: '1.2 #2' });
    await chosen.waitFor();
    await chosen.focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/call=1\.3/);
    assert.equal(await page.title(), 'Prompts of survey the sky · Treadle');
    await page.goBack();
    await first
      .getByRole('button', { name: /^observe/ })
      .first()
      .click();
    await first.getByRole('link', { name: 'Its facts in the log' }).click();
    await page.getByText(/^[1-9] of \d+ facts/).waitFor();
  });

  it('writes no two times of an axis over one another on a phone', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, inspect(await served.surveyed()), { width: 390 });
    await page.locator('.fall-axis .fall-track span').first().waitFor();
    const overlaps = await page.evaluate<number>(`[...document.querySelectorAll('.fall-axis')].flatMap((axis) => {
      const boxes = [...axis.querySelectorAll('.fall-track span')].map((one) => one.getBoundingClientRect());
      return boxes.filter((box, index) => index > 0 && box.left < boxes[index - 1].right);
    }).length`);
    assert.equal(overlaps, 0);
  });

  it('says of a cold call what was expected, what was billed, and which change did it', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, inspect(await served.surveyed(), 'tokens'));
    const finding = page.getByText('Call 2.1 was cold.').locator('..');
    assert.match(
      (await finding.textContent()) ?? '',
      /claude-haiku-4-5 after .*claude-sonnet-4-6\. Expected 1,\d+ tokens from the cache, got 0\. Done by a choice of the user/,
    );
    await page.getByText('The same as a table').click();
    const rows = page.getByRole('region', { name: 'Tokens of each model call' }).getByRole('row');
    assert.equal(await rows.count(), 7);
    assert.match((await rows.nth(4).textContent()) ?? '', /^1\.3claude-sonnet-4-61,\d{3}1,\d{3}/);
  });

  it('shows a prompt section by section, which were read from the cache, and what changed since the call before', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, inspect(await served.survey(), 'prompts'));
    await page.getByRole('button', { name: '1.3', exact: true }).click();
    const section = (name: string) => page.locator('details', { has: page.getByText(name, { exact: true }) }).first();
    await section('tools').getByText('from the cache', { exact: true }).waitFor();
    assert.equal(await section('tools').locator('.section-change').textContent(), 'unchanged');
    await section('this turn').locator('summary').click();
    await section('this turn').getByText('The barometer does not answer.').first().waitFor();
    await section('this turn').getByRole('button', { name: 'All of it' }).click();
    await section('this turn').locator('pre').getByText('survey the sky').waitFor();
    await page.getByText(/^Markers after: /).waitFor();
  });

  it('tells who objected to what, gates in their place and people by name', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, inspect(await served.surveyed(), 'verdicts'));
    const row = (text: string) => page.getByRole('row').filter({ hasText: text });
    await row('gate.tool_approval').getByText('priority 50').waitFor();
    // What a gate only made something of stands behind what was objected to.
    assert.equal(await row('gate.budget').count(), 0);
    await page.getByRole('button', { name: /^With revisions/ }).click();
    await row('gate.budget').first().getByText('priority 1000').waitFor();
    assert.match((await row('gate.tool_approval').textContent()) ?? '', /log_book.*hold/);
    assert.match((await row('allow').filter({ hasText: 'local' }).textContent()) ?? '', /log_book/);
  });

  it('finds facts in the log, and hands all of them out as they are written', async (t) => {
    const served = await anObservatory(t);
    const id = await served.surveyed();
    const { page } = await visit(t, served, inspect(id, 'log'));
    const all = await served.log.read(id, 0, 1_000);
    await page.getByText(`${all.length} facts`).waitFor();
    await page.getByRole('searchbox', { name: 'Find in the log' }).fill('barometer does not');
    await page.getByText(/^\d of \d+ facts/).waitFor();
    await page.getByText('tool.result').first().click();
    await page.locator('pre').getByText('"The barometer does not answer."').waitFor();
    const text = await downloaded(page, () => page.getByRole('button', { name: 'JSONL' }).click());
    const lines = text.trim().split('\n');
    assert.deepEqual([lines.length, JSON.parse(lines[0] ?? '')], [all.length, JSON.parse(JSON.stringify(all[0]))]);
  });

  it('draws what is in sight of a log of five thousand facts', async (t) => {
    const served = await anObservatory(t);
    const id = await longLog(served);
    const { page } = await visit(t, served, inspect(id, 'log'));
    await page.getByText(/^5,\d{3} facts$/).waitFor();
    assert.ok((await page.locator('.fact').count()) < 120);
    await page.locator('.log-list').hover();
    await page.mouse.wheel(0, 1e7);
    await page.getByText('note 4999').first().waitFor();
    await page.getByRole('searchbox', { name: 'Find in the log' }).fill('note 2500');
    await page.getByText(/^1 of 5,\d{3} facts$/).waitFor();
  });

  it('draws the last turns of a long conversation, and the others on demand', async (t) => {
    const served = await anObservatory(t);
    const id = await served.begin('turn 1');
    for (let turn = 2; turn <= 25; turn++) {
      await served.rest(id);
      await served.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: `turn ${turn}` } });
    }
    await served.rest(id);
    const { page } = await visit(t, served, inspect(id));
    await page.getByRole('region', { name: 'Turn 25' }).waitFor();
    assert.equal(await page.getByRole('region', { name: 'Turn 5', exact: true }).count(), 0);
    await page.getByRole('button', { name: '5 earlier turns' }).click();
    await page.getByRole('region', { name: 'Turn 1', exact: true }).waitFor();
  });

  it('replays a run by its own rules, and says what another bundle would have asked for otherwise', async (t) => {
    const served = await anObservatory(t, { measures: {} });
    const { page } = await visit(t, served, inspect(await served.surveyed(), 'replay'));
    await page.getByRole('button', { name: 'Replay by its own rules' }).click();
    await page.getByText('Everything would be the same.').waitFor();
    const text = readFileSync(OBSERVATORY, 'utf8').replace('You keep watch over', 'You keep an eye on');
    await page.getByRole('button', { name: 'Another bundle' }).click();
    await page.getByText('Paste a bundle or choose a file first.').waitFor();
    await page.getByRole('textbox', { name: /^A bundle to replay/ }).fill(text);
    await page.getByRole('button', { name: 'Replay under this bundle' }).click();
    await page.getByText('It would go otherwise.').waitFor();
    const changes = page.getByRole('region', { name: 'Changes in instructions' }).first();
    await changes.getByText('an eye on').waitFor();
    await page.getByRole('textbox', { name: /^A bundle to replay/ }).fill('id: [');
    await page.getByRole('button', { name: 'Replay under this bundle' }).click();
    await page.getByRole('alert').waitFor();
  });

  it('says that nothing is there yet, and that something went wrong', async (t) => {
    const served = await anObservatory(t);
    const id = await served.survey();
    const { page } = await visit(t, served, '/');
    await page.route('**/api/v1/runs/*/calls*', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'internal_error', message: 'A fault.' } } }),
    );
    await page.goto(inspect(id, 'tokens'));
    await page.getByRole('alert').getByText('A fault.').waitFor({ timeout: 30_000 });
    await page.unroute('**/api/v1/runs/*/calls*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Tokens of each call').waitFor();
    await page.goto(inspect('run_none'));
    await page.getByRole('alert').waitFor();
  });

  it('shows what it has while the server is slow, and the rest when it comes', async (t) => {
    const served = await anObservatory(t);
    const id = await served.survey();
    const { page } = await visit(t, served, '/');
    let release: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/v1/runs/*/calls*', async (route) => {
      await slow;
      await route.continue();
    });
    await page.goto(inspect(id, 'tokens'));
    await page.getByRole('tab', { name: 'Tokens' }).waitFor();
    await page.getByRole('status', { name: 'Loading…' }).first().waitFor();
    release();
    await page.getByText('Tokens of each call').waitFor();
  });

  it('can be used with the keyboard alone', async (t) => {
    const served = await anObservatory(t);
    const { page } = await visit(t, served, inspect(await served.survey()));
    await page.getByRole('tab', { name: 'Time' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByText('Tokens of each call').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await page.getByRole('searchbox', { name: 'Find in the log' }).waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page
      .getByRole('button', { name: /^call 1/ })
      .first()
      .focus();
    await page.keyboard.press('Enter');
    await page.getByText('after the beginning').waitFor();
  });

  for (const dark of [false, true])
    it(`has no serious finding of accessibility in the ${dark ? 'dark' : 'light'}, and fits on a small phone`, async (t) => {
      const served = await anObservatory(t);
      const id = await served.surveyed();
      const { page } = await visit(t, served, '/', { dark, width: dark ? 1200 : 360 });
      const found: string[] = [];
      for (const tab of ['time', 'tokens', 'prompts', 'verdicts', 'log', 'replay']) {
        await page.goto(inspect(id, tab));
        await page.locator('.tab-panel h3, .tab-panel table, .section, .log-list details, .replay').first().waitFor();
        // A list shows what it has measured with the frame after: the checker must not come in between.
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
        found.push(...(await seriousFindings(page)).map((one) => `${tab} ${one}`));
        if (!(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')))
          found.push(`${tab} is too wide`);
      }
      assert.deepEqual(found, []);
    });
});

/** A run with more facts than anybody reads. */
async function longLog({ log, begin, rest }: Observatory): Promise<string> {
  const id = await begin('hello');
  await rest(id);
  const lease = await log.take(id, 'test', 60_000);
  assert.ok(lease !== undefined);
  const { head = 0 } = (await log.find(id)) ?? {};
  const facts = Array.from({ length: 5_000 }, (_, index) => ({
    type: 'selection.ignored' as const,
    payload: { why: `note ${index}` },
  }));
  await log.append(lease, head, facts);
  await log.release(lease);
  return id;
}

// A plan that a person is asked about is theirs to change, and shows what became of it.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { seriousFindings } from './axe.ts';
import { aPageServer, closeBrowser, noBrowser, say, visit } from './browser.ts';

const PLAN = path.join(import.meta.dirname, 'fixtures/plan.yaml');

describe('a plan', { skip: noBrowser }, () => {
  after(closeBrowser);

  it('is rewritten where it is asked about, and what was written is what is followed', async (t) => {
    const served = await aPageServer(t, { bundles: [PLAN] });
    const { page, strays } = await visit(t, served);
    await say(page, 'Bake a cake.');
    const card = page.getByRole('region', { name: 'May it follow this plan?' });
    await card.getByText('A cake for Sunday.').waitFor();
    await card.getByRole('button', { name: 'Go ahead with this plan' }).waitFor();
    assert.equal(await page.getByText('Buy eggs').count(), 1);
    await card.getByRole('button', { name: 'Edit…' }).click();
    await card.getByLabel('Step 1', { exact: true }).fill('Buy six eggs');
    await card.getByRole('button', { name: 'Move step 3 up' }).click();
    await card.getByRole('button', { name: 'Drop step 4' }).click();
    await card.getByRole('button', { name: 'Add a step' }).click();
    await card.getByRole('button', { name: 'Go on with these steps' }).click();
    await card.getByText('Say what this step is, or drop it.').waitFor();
    assert.deepEqual(await seriousFindings(page), []);
    await card.getByLabel('Step 4', { exact: true }).fill('Sing');
    await card.getByRole('button', { name: 'Go on with these steps' }).click();
    const again = page.getByRole('region', { name: 'May it change the plan?' });
    await again.getByRole('button', { name: 'Change the plan' }).waitFor();
    for (const [index, change] of ['marked', 'marked', 'marked', 'dropped', 'new', 'new'].entries())
      assert.equal(await again.getByRole('listitem').nth(index).getAttribute('data-change'), change);
    assert.deepEqual(await seriousFindings(page), []);
    await again.getByRole('button', { name: 'Change the plan' }).click(); // what the model would make of it is asked, too
    const plan = page.getByRole('region', { name: 'Plan', exact: true });
    await page.locator('.turn-foot').waitFor();
    await page.getByRole('button', { name: /^Used|^Worked/ }).click();
    await plan.getByText('rewritten by').waitFor();
    for (const [index, status] of ['done', 'failed', 'skipped', 'doing', 'open'].entries())
      assert.equal(await plan.getByRole('listitem').nth(index).getAttribute('data-status'), status);
    assert.match(await plan.innerText(), /Buy six eggs[^]*Ice it[^]*Mix[^]*Borrow a bowl/);
    assert.deepEqual(strays, []);
  });
});

// `npm run pictures`: photographs the page for docs/pictures, in both themes, from a real server. Needs Chromium.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { aShop, SHOP } from '../test/page/shop.ts';

const root = path.join(import.meta.dirname, '..');
const pictures = path.join(root, 'docs/pictures');
const folder = mkdtempSync(path.join(tmpdir(), 'treadle-pictures-'));
const undo: (() => unknown)[] = [];

mkdirSync(pictures, { recursive: true });
process.chdir(folder); // what the agents write goes here
const { url, runs } = await aShop({ after: (one) => void undo.push(one) });
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});

/** What comes late, such as the runs below a run, is there by then. */
const SETTLED_MS = 900;

interface View {
  readonly name: string;
  readonly address: string;
  /** What is waited for. */
  readonly until: string;
  /** What a person does before. */
  readonly before?: (page: Page) => Promise<void>;
}

/** The same run under a bundle that gives less back. */
async function replay(page: Page): Promise<void> {
  const stricter = readFileSync(SHOP, 'utf8').replace('over: 500', 'over: 100').replace('at most 500', 'at most 100');
  await page.getByRole('button', { name: 'Another bundle' }).click();
  await page.getByRole('textbox', { name: /^A bundle to replay/ }).fill(stricter);
  await page.getByRole('button', { name: 'Replay under this bundle' }).click();
  await page.getByText('It would go otherwise.').waitFor();
}

const inspect = (tab: string): string => `/r/${runs.refund}/inspect?tab=${tab}`;
const VIEWS: readonly View[] = [
  { name: 'chat', address: `/r/${runs.asks}`, until: '.approval' },
  { name: 'inspector', address: inspect('time'), until: '.fall-rows li' },
  { name: 'tokens', address: inspect('tokens'), until: '.chart svg' },
  { name: 'prompts', address: `${inspect('prompts')}&call=2.1`, until: '.section' },
  { name: 'replay', address: inspect('replay'), until: '.replay', before: replay },
  { name: 'usage', address: '/usage', until: '.chart svg' },
  { name: 'budgets', address: '/budgets', until: '.budget' },
  { name: 'agent', address: '/agents/main', until: '.stances' },
];

for (const theme of ['light', 'dark'] as const) {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1.5,
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  for (const { name, address, until, before } of VIEWS) {
    await page.goto(address);
    await page.locator(until).first().waitFor();
    await page.locator('.loading').waitFor({ state: 'detached' });
    await before?.(page);
    await page.mouse.move(0, 0);
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: path.join(pictures, `${name}-${theme}.png`) });
  }
  await context.close();
}
await browser.close();
for (const one of undo.reverse()) await one();
process.chdir(root);
rmSync(folder, { recursive: true, force: true });

// `npm run pictures`: photographs the page for docs/pictures, in both themes, from a real server. Needs Chromium.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { createMemoryControlStore } from '../src/adapters/stores/control/memory.ts';
import { createMemoryLog } from '../src/adapters/stores/memory.ts';
import { randomIds } from '../src/base/ids.ts';
import { systemClock } from '../src/base/clock.ts';
import { pageFolder } from '../src/http/page.ts';
import { startServer } from '../src/http/server.ts';
import { createHost } from '../src/platform/host.ts';
import { anObservatory } from '../test/page/observatory.ts';
import { ensurePage } from './ensure-page.mjs';

const root = path.join(import.meta.dirname, '..');
const pictures = path.join(root, 'docs/pictures');
const folder = mkdtempSync(path.join(tmpdir(), 'treadle-pictures-'));
const quiet = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };

mkdirSync(pictures, { recursive: true });
if (!ensurePage(process.execPath)) process.exit(1);
process.chdir(folder); // what the agents write goes here
const log = createMemoryLog({ clock: systemClock });
const control = createMemoryControlStore({ clock: systemClock });
const bundles = ['desk', 'exposure'].map((name) => path.join(root, `agents/${name}.yaml`));
const host = await createHost({ bundles, log, secret: 'pictures', environment: {}, logger: quiet });
const server = await startServer({
  host,
  control,
  clock: systemClock,
  ids: randomIds,
  logger: quiet,
  version: '0.0.0',
  check: () => undefined,
  cors: [],
  hostname: '127.0.0.1',
  port: 0,
  page: pageFolder(),
});
await host.start();
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

/** A conversation that ends with something to decide. */
async function talk(page: Page): Promise<void> {
  await page.goto('/?agent=exposure:main');
  await say(page, 'I hold $8,000 of a $10,000 portfolio. What is my exposure?');
  await page.locator('.turn-foot').waitFor();
  await page.goto('/?agent=desk:main');
  await say(page, 'What is 12.5 * 48?');
  await page.locator('.turn-foot').waitFor();
  await say(page, 'note: call Bo at five');
  await page.getByRole('button', { name: 'Allow once' }).waitFor();
}

for (const theme of ['light', 'dark'] as const) {
  const context = await browser.newContext({
    baseURL: server.url,
    viewport: { width: 1200, height: 760 },
    deviceScaleFactor: 1.5,
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await talk(page);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: path.join(pictures, `chat-${theme}.png`) });
  await context.close();
}
await server.close({ drainMs: 0 });
await host.close({ drainMs: 0 });
control.close();
process.chdir(root);

/** What comes late, such as the runs below a run, is there by then. */
const SETTLED_MS = 800;

// What operators see, of a house with a history.
const undo: (() => unknown)[] = [];
const house = await anObservatory({ after: (one) => void undo.push(one) });
const run = await house.surveyed();
const views = [
  { name: 'inspector', address: `/r/${run}/inspect`, until: '.fall-rows li' },
  { name: 'tokens', address: `/r/${run}/inspect?tab=tokens`, until: '.chart svg' },
  { name: 'usage', address: '/usage', until: '.chart svg' },
  { name: 'agent', address: '/agents/main?tab=servers', until: '.server-list li' },
] as const;
for (const theme of ['light', 'dark'] as const) {
  const context = await browser.newContext({
    baseURL: house.url,
    viewport: { width: 1200, height: 760 },
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  for (const { name, address, until } of views) {
    await page.goto(address);
    await page.locator(until).first().waitFor();
    await page.locator('.loading').waitFor({ state: 'detached' });
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: path.join(pictures, `${name}-${theme}.png`) });
  }
  await context.close();
}
await browser.close();
for (const one of undo) await one();
rmSync(folder, { recursive: true, force: true });

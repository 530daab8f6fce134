// A real browser at the real page of a real server. One browser for the file; a context, and so a user, for each test.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { pageFolder } from '../../src/http/page.ts';
import { ensurePage } from '../../scripts/ensure-page.mjs';
import { aServer, type Served, type ServedOptions } from '../http/server.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executable = [process.env['CHROMIUM'] ?? '', ...PLACES].find((file) => file !== '' && existsSync(file));

/** Why the browser tests cannot run here; false where they can. On CI they have to. */
export const noBrowser: string | false =
  executable === undefined && process.env['CI'] === undefined
    ? 'no Chromium here: install it, or name one in CHROMIUM'
    : false;

export const DESK = path.join(import.meta.dirname, 'fixtures/desk.yaml');

interface Ending {
  after(undo: () => unknown): void;
}

let opening: Promise<Browser> | undefined;

/** Started with the first test that needs it; `closeBrowser` ends it. */
function browser(): Promise<Browser> {
  assert.ok(executable !== undefined, 'Chromium is needed on CI');
  return (opening ??= chromium.launch({ executablePath: executable, args: ['--no-sandbox'] }));
}

export async function closeBrowser(): Promise<void> {
  await (await opening)?.close();
}

export interface Visit {
  readonly page: Page;
  /** Another tab of the same user. */
  readonly tab: (address: string) => Promise<Page>;
  /** Addresses outside the server that the page asked for, and errors in its console. */
  readonly strays: string[];
}

export interface VisitOptions {
  readonly dark?: boolean;
  readonly width?: number;
}

export async function aPageServer(t: Ending, options: ServedOptions = {}): Promise<Served> {
  assert.ok(ensurePage(process.execPath), 'the page is built');
  return aServer(t, { bundles: [DESK], page: pageFolder(), ...options });
}

export async function visit(
  t: Ending,
  { url }: Pick<Served, 'url'>,
  address = '/',
  { dark = false, width = 1200 }: VisitOptions = {},
): Promise<Visit> {
  const context = await (
    await browser()
  ).newContext({
    baseURL: url,
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(20_000);
  t.after(() => context.close());
  const strays: string[] = [];
  const tab = async (at: string): Promise<Page> => {
    const page = await context.newPage();
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) strays.push(request.url());
    });
    page.on('pageerror', (error) => strays.push(error.message));
    page.on('dialog', (dialog) => {
      strays.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(at);
    return page;
  };
  return { page: await tab(address), tab, strays };
}

/** Types a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

/** The answer of the last exchange, once its turn has ended. */
export async function lastAnswer(page: Page): Promise<string> {
  await page.locator('.turn').last().locator('.turn-foot').waitFor();
  // Its words, also while the list measures it and does not show it yet.
  return (await page.locator('.turn').last().locator('.answer').textContent()) ?? '';
}

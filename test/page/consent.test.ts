// Where a yes comes from elsewhere or reaches further: accounts, allowances, and runs below the one that is looked at.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { aFakeServer, type FakeServer } from '../accounts/fake-authorization-server.ts';
import type { Served } from '../http/server.ts';
import { inFolder } from '../support/bundles.ts';
import { aPageServer, closeBrowser, lastAnswer, noBrowser, say, visit, type Visit } from './browser.ts';

type Ending = Parameters<typeof visit>[0];

const POST = `
export const post = {
  name: 'post', description: 'Posts.', effect: 'once',
  input: { type: 'object', properties: { text: { type: 'string' } } },
  async run(args, context) {
    const { provider } = await context.account();
    return { posted: provider };
  },
};
`;

/** An agent that posts from the person's account; its answer says what came of it. */
async function posting(t: Ending, run: (fake: FakeServer, visited: Visit) => Promise<void>): Promise<void> {
  const fake = await aFakeServer(t);
  const tools = [
    {
      name: 'slack',
      kind: 'module',
      module: './post.js',
      tool_claims: { post: { provider: 'slack', claims: ['chat:write'] } },
    },
  ];
  const slack = { type: 'oauth2', label: 'Slack', issuer: fake.issuer, client_id: 'app', client_secret: 'shh' };
  const yaml = JSON.stringify({
    config: { react: { main: { claim_policy: 'ask', system_prompt: 'You post.' } } },
    surfaces: { as_consumer: { agents: { main: { tools } } } },
    models: { balanced: { provider: 'scripted', script: 'script.json' } },
    accounts: { slack: { ...slack, scopes: ['chat:write'] } },
  });
  const script = [
    { actions: [{ name: 'post', arguments: { text: 'hello' } }] },
    { text: 'It was posted by {{last.ret.posted}}.' },
  ];
  await inFolder(yaml, { 'post.js': POST, 'script.json': JSON.stringify(script) }, async (file) => {
    const visited = await visit(t, await aPageServer(t, { bundles: [file] }));
    await run(fake, visited);
  });
}

/** A clerk who notes, under somebody who hands things over. */
async function aHouse(t: Ending, run: (served: Served) => Promise<void>): Promise<void> {
  const NOTE = `
    export const add_note = {
      name: 'add_note', description: 'Writes a note down.', effect: 'once',
      input: { type: 'object', properties: { text: { type: 'string' } } },
      run: ({ text }) => ({ noted: text }),
    };
  `;
  const note = { name: 'notes', kind: 'module', module: './note.js', tool_traits: { add_note: { approval: 'ask' } } };
  const yaml = JSON.stringify({
    config: {
      react: {
        main: { subagents: true, system_prompt: 'You hand over.' },
        clerk: { about: 'Notes things.', system_prompt: 'You note.' },
      },
    },
    surfaces: { as_consumer: { default_agent: 'main', agents: { main: { tools: [note] }, clerk: { tools: [note] } } } },
    models: { balanced: { provider: 'scripted', script: 'script.json' } },
  });
  const action = (name: string, given: object) => ({ actions: [{ name, arguments: given }] });
  const script = {
    turns: [
      {
        when: '^hand over',
        replies: [action('delegate', { agent: 'clerk', task: 'note it' }), { text: 'Handed over.' }],
      },
      { when: '^note', replies: [action('add_note', { text: 'the weather' }), { text: 'It is noted.' }] },
    ],
    otherwise: [{ text: 'Yes?' }],
    repeat: true,
  };
  await inFolder(yaml, { 'note.js': NOTE, 'script.json': JSON.stringify(script) }, async (file) => {
    await run(await aPageServer(t, { bundles: [file] }));
  });
}

describe('a yes', { skip: noBrowser, concurrency: 2 }, () => {
  after(closeBrowser);

  it('to an account is said where one signs in, and the run goes on by itself', async (t) => {
    await posting(t, async (fake, { page }) => {
      // The person says yes at the other place, in the window that opens.
      await page
        .context()
        .route(`${fake.issuer}/**`, (route) =>
          route.fulfill({ status: 302, headers: { location: fake.consent(route.request().url()).href } }),
        );
      await say(page, 'post it');
      await page.getByText('chat:write').waitFor();
      const [signIn] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('button', { name: /^Connect/ }).click(),
      ]);
      await signIn.waitForURL((url) => url.pathname.includes('callback'));
      assert.equal(await lastAnswer(page), 'It was posted by slack.');
      assert.equal(fake.asked.length, 1);
      assert.equal(await page.getByRole('button', { name: /^Connect/ }).count(), 0);
    });
  });

  it('to an account may be left out, and the agent is told', async (t) => {
    await posting(t, async (fake, { page }) => {
      await say(page, 'post it');
      await page.getByRole('button', { name: 'Go on without' }).click();
      await page.getByText('1 without success').waitFor();
      assert.equal(fake.asked.length, 0);
    });
  });

  it('to an account that is refused elsewhere leaves the card as it was', async (t) => {
    await posting(t, async (fake, { page }) => {
      await page.context().route(`${fake.issuer}/**`, (route) => {
        const asked = new URL(route.request().url()).searchParams;
        const back = new URL(asked.get('redirect_uri') ?? '');
        back.search = new URLSearchParams({ error: 'access_denied', state: asked.get('state') ?? '' }).toString();
        return route.fulfill({ status: 302, headers: { location: back.href } });
      });
      await say(page, 'post it');
      const [signIn] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('button', { name: /^Connect/ }).click(),
      ]);
      await signIn.waitForURL((url) => url.pathname.includes('callback'));
      await signIn.close();
      await page.getByRole('button', { name: /^Connect/ }).waitFor();
      assert.equal(fake.asked.length, 0);
    });
  });

  it('for always asks no more, stands among the allowances under the name of its bundle, and is taken back', async (t) => {
    const served = await aPageServer(t);
    const { page } = await visit(t, served);
    await say(page, 'note one for always');
    await page.getByRole('button', { name: 'Allow further' }).click();
    await page.getByRole('menuitem', { name: 'Always allow' }).click();
    assert.match(await lastAnswer(page), /^Noted/);
    await page.getByRole('link', { name: 'New conversation', exact: true }).click();
    await say(page, 'note another without a word');
    assert.match(await lastAnswer(page), /^Noted/);
    await page.goto('/allowances');
    await page.getByText('with page (').waitFor();
    await page.getByRole('button', { name: 'Ask me again before add_note' }).click();
    await page.getByText('You are always asked').waitFor();
    await page.goto('/');
    await say(page, 'note a third');
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
  });

  it('to a run below is said from the run above, which names who asks', async (t) => {
    await aHouse(t, async (served) => {
      const { page } = await visit(t, served);
      await say(page, 'hand over the weather');
      const card = page.getByRole('region', { name: 'May add_note run?' });
      await card.getByText('asked by clerk').waitFor();
      await card.getByText('the weather').waitFor();
      await card.getByRole('button', { name: 'Allow once' }).click();
      assert.equal(await lastAnswer(page), 'Handed over.');
    });
  });

  it('to a run below is said once from the inbox, where it stands with the run above', async (t) => {
    await aHouse(t, async (served) => {
      const id = await served.begin('hand over the weather');
      const { page } = await visit(t, served, '/approvals');
      await page.getByText('1 waiting for you.').waitFor();
      assert.equal((await page.getByRole('link', { name: 'hand over the weather' }).count()) > 0, true);
      await page.getByRole('button', { name: 'Allow once' }).click();
      await page.getByText('Nothing waits for you').waitFor();
      assert.equal((await served.rest(id))['status'], 'completed');
    });
  });
});

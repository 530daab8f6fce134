// What a run below another one asks for: whoever answers it, wherever they do, the run above goes on by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFolder } from '../support/bundles.ts';
import { aServer, type Served } from '../http/server.ts';
import { aFakeServer, type FakeServer } from './fake-authorization-server.ts';

const post = `export const post = {
  name: 'post', description: 'Posts.', effect: 'once', input: { type: 'object' },
  run: async (args, context) => (await context.account()).provider,
};`;

interface Family extends Served {
  readonly fake: FakeServer;
  /** The run above, which waits for the one below, and what that asks. */
  readonly asking: () => Promise<{ readonly id: string; readonly request: Record<string, unknown> }>;
  readonly ended: (id: string) => Promise<Record<string, unknown>>;
}

async function family(t: Parameters<typeof aServer>[0], run: (family: Family) => Promise<void>): Promise<void> {
  const fake = await aFakeServer(t);
  const tools = [
    {
      name: 'slack',
      kind: 'module',
      module: './post.js',
      tool_claims: { post: { provider: 'slack', claims: ['chat:write'] } },
    },
  ];
  const yaml = JSON.stringify({
    config: {
      react: {
        default_agent: { claim_policy: 'ask' },
        chief: { model_role: 'chief', subagents: true },
        clerk: { model_role: 'clerk' },
      },
    },
    surfaces: { as_consumer: { default_agent: 'chief', agents: { chief: { tools }, clerk: { tools } } } },
    models: {
      default: 'chief',
      chief: { provider: 'scripted', script: 'chief.json' },
      clerk: { provider: 'scripted', script: 'clerk.json' },
    },
    accounts: {
      slack: { type: 'oauth2', issuer: fake.issuer, client_id: 'app', client_secret: 'shh', scopes: ['chat:write'] },
    },
  });
  const chief = [
    { actions: [{ name: 'delegate', arguments: { agent: 'clerk', task: 'post it' } }] },
    { text: 'Done above.' },
  ];
  const clerk = [{ actions: [{ name: 'post', arguments: {} }] }, { text: 'Done below.' }];
  const files = { 'post.js': post, 'chief.json': JSON.stringify(chief), 'clerk.json': JSON.stringify(clerk) };
  await inFolder(yaml, files, async (file) => {
    const served = await aServer(t, { bundles: [file] });
    const until = async (
      id: string,
      is: (body: Record<string, unknown>) => boolean,
    ): Promise<Record<string, unknown>> => {
      for (let tries = 0; tries < 600; tries++) {
        const { body } = await served.call('GET', `/api/v1/runs/${id}`);
        if (is(body)) return body;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`never: ${JSON.stringify((await served.call('GET', `/api/v1/runs/${id}`)).body)}`);
    };
    await run({
      ...served,
      fake,
      async asking() {
        const id = await served.begin('have it posted');
        const { requests } = await until(id, ({ requests: open }) => Array.isArray(open) && open.length === 1);
        const [request = {}] = requests as Record<string, unknown>[];
        return { id, request };
      },
      ended: (id) => until(id, ({ terminal }) => terminal === true),
    });
  });
}

test('a sign-in answers the run below that asked for it, and the run above goes on', async (t) => {
  await family(t, async ({ call, fake, asking, ended }) => {
    const { id, request } = await asking();
    assert.deepEqual(request['consent'], { account: 'slack', claims: ['chat:write'] });
    assert.notEqual(request['run'], id);
    const { body } = await call('POST', '/api/v1/accounts/slack/connect');
    assert.equal((await fetch(fake.consent(String(body['authorizationUrl'])))).status, 200);
    const { status, answer } = await ended(id);
    assert.deepEqual([status, answer], ['completed', 'Done above.']);
  });
});

for (const where of ['above', 'below'] as const) {
  test(`an answer that is given ${where} lets the run above go on`, async (t) => {
    await family(t, async ({ call, asking, ended }) => {
      const { id, request } = await asking();
      const { id: asked, digest, run } = request;
      const answer = { request: asked, digest, run, decision: 'reply', text: 'go on without it' };
      const at = where === 'above' ? id : String(run);
      const given = await call('POST', `/api/v1/runs/${at}/answers`, { body: [answer] });
      assert.equal(given.status, 200, JSON.stringify(given.body));
      assert.equal((await ended(id))['answer'], 'Done above.');
    });
  });
}

test('a list says of the run above that it waits for a person', async (t) => {
  await family(t, async ({ call, asking }) => {
    const { id } = await asking();
    const { body } = await call('GET', '/api/v1/runs');
    const rows = body['runs'] as { id: string; status: string; statusKind: string }[];
    assert.deepEqual(
      rows.map((row) => [row.id, row.status, row.statusKind]),
      [[id, 'waiting_for_subagents', 'waiting_for_person']],
    );
  });
});

// Tools that need a user's account, from the first attempt to the tool's own request, through a server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject } from '../../src/base/json.ts';
import { inFolder } from '../support/bundles.ts';
import { aServer, type Served } from '../http/server.ts';
import { aFakeServer, type FakeServer } from './fake-authorization-server.ts';

const post = `
export const post = {
  name: 'post', description: 'Posts.', effect: 'once',
  input: { type: 'object' },
  async run(args, context) {
    const { provider, claims, token } = await context.account();
    return { provider, claims, length: token.length, reply: context.reply ?? null };
  },
};
export const look = { name: 'look', description: 'Looks.', effect: 'read', input: { type: 'object' }, run: (args, context) => typeof context.account };
`;

interface Told extends Served {
  readonly fake: FakeServer;
  readonly requests: (id: string) => Promise<readonly Record<string, unknown>[]>;
  readonly facts: (
    id: string,
  ) => Promise<readonly { readonly type: string; readonly payload: Record<string, unknown> }[]>;
  readonly connect: (more?: { readonly as?: string }) => Promise<{ readonly back: URL; readonly cookie: string }>;
}

async function serving(
  t: Parameters<typeof aServer>[0],
  policy: 'drop' | 'ask',
  script: readonly object[],
  run: (told: Told) => Promise<void>,
): Promise<void> {
  const fake = await aFakeServer(t);
  const yaml = JSON.stringify({
    config: { react: { main: { claim_policy: policy, system_prompt: 'You post.' } } },
    surfaces: {
      as_consumer: {
        agents: {
          main: {
            tools: [
              {
                name: 'slack',
                kind: 'module',
                module: './post.js',
                tool_claims: { post: { provider: 'slack', claims: ['chat:write'] } },
              },
            ],
          },
        },
      },
    },
    models: { balanced: { provider: 'scripted', script: 'script.json' } },
    accounts: {
      slack: {
        type: 'oauth2',
        label: 'Slack',
        issuer: fake.issuer,
        client_id: 'app',
        client_secret: 'shh',
        scopes: ['chat:write'],
      },
    },
  });
  await inFolder(yaml, { 'post.js': post, 'script.json': JSON.stringify(script) }, async (file) => {
    const served = await aServer(t, { bundles: [file] });
    const { call } = served;
    await run({
      ...served,
      fake,
      async requests(id) {
        const { body } = await call('GET', `/api/v1/runs/${id}`);
        return body['requests'] as Record<string, unknown>[];
      },
      async facts(id) {
        return await served.log.read(id, 0, 1_000); // their types and payloads
      },
      async connect(more = {}) {
        const { body, headers, status } = await call('POST', '/api/v1/accounts/slack/connect', more);
        assert.equal(status, 200, JSON.stringify(body));
        const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
        return { back: fake.consent(String(body['authorizationUrl'])), cookie };
      },
    });
  });
}

const attempt = [
  { actions: [{ name: 'post', arguments: {} }] },
  { text: 'Done.' },
  { actions: [{ name: 'post', arguments: {} }] },
  { text: 'Done again.' },
];
const come = (url: URL, headers: Record<string, string> = {}) =>
  fetch(url, { headers: { 'sec-fetch-site': 'cross-site', ...headers } });

/** What the model was told of its last call of a tool. */
async function told({ facts }: Told, id: string): Promise<Record<string, unknown>> {
  const found = (await facts(id)).findLast(({ type }) => type === 'tool.result');
  return found?.payload ?? {};
}

async function finished({ call }: Told, id: string): Promise<Record<string, unknown>> {
  for (let tries = 0; ; tries++) {
    const { body } = await call('GET', `/api/v1/runs/${id}`);
    if (body['terminal'] === true) return body;
    if (tries > 400) throw new Error(`the run does not end: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('drop: a tool without its account is out and says so; connected, it is back and announced', async (t) => {
  await serving(t, 'drop', [{ text: 'I cannot.' }, ...attempt], async (desk) => {
    const id = await desk.begin('post it');
    await desk.rest(id);
    const first = (await desk.facts(id)).find(({ type }) => type === 'account.inactive');
    assert.deepEqual(first?.payload, {
      account: 'slack',
      tools: [{ name: 'post', why: 'needs a connected slack account' }],
    });
    const { back } = await desk.connect();
    assert.equal((await come(back)).status, 200);
    await desk.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'again' } });
    await finished(desk, id);
    const facts = await desk.facts(id);
    assert.deepEqual(facts.find(({ type }) => type === 'account.reactivated')?.payload, {
      account: 'slack',
      tools: ['post'],
    });
    const announced = facts
      .filter(({ type }) => type === 'llm.request')
      .map(({ payload }) => String(payload['announce']));
    assert.match(announced[0] ?? '', /\[INACTIVE TOOLS THIS TURN\]\n- post: needs a connected slack account/);
    assert.match(announced[1] ?? '', /\[CONNECTED ACCOUNTS UPDATE\]\n- slack is connected: post can be used again/);
    const digests = facts.filter(({ type }) => type === 'llm.request').map(({ payload }) => payload['sections']);
    assert.ok(
      !JSON.stringify(digests[1] ?? {}).includes('instructions') && !JSON.stringify(digests[1] ?? {}).includes('tools'),
    );
    assert.match(JSON.stringify((await told(desk, id))['value']), /"provider":"slack"/);
  });
});

test('ask: the attempt asks for the account; once it is connected, the run goes on by itself', async (t) => {
  await serving(t, 'ask', attempt, async (desk) => {
    const id = await desk.begin('post it');
    const { status } = await desk.rest(id);
    assert.equal(status, 'awaiting_user_input');
    const [request] = await desk.requests(id);
    assert.deepEqual(
      [request?.['consent'], request?.['choices']],
      [{ account: 'slack', claims: ['chat:write'] }, ['connected', 'go on without it']],
    );
    const { back } = await desk.connect();
    await come(back);
    assert.equal((await finished(desk, id))['status'], 'completed');
    // The answer was to our question: the tool does not see it.
    assert.deepEqual((await told(desk, id))['value'], {
      provider: 'slack',
      claims: ['chat:write'],
      length: 28,
      reply: null,
    });
  });
});

test('ask: whoever goes on without it is not asked again, and the model knows what is missing', async (t) => {
  await serving(t, 'ask', attempt, async (desk) => {
    const id = await desk.begin('post it');
    await desk.rest(id);
    const [request] = await desk.requests(id);
    const answer = {
      request: request?.['id'],
      digest: request?.['digest'],
      decision: 'reply',
      text: 'go on without it',
    };
    await desk.call('POST', `/api/v1/runs/${id}/answers`, { body: [answer] });
    await finished(desk, id);
    const { outcome, value, error } = await told(desk, id);
    assert.deepEqual([outcome, value], ['failed', { consent: { account: 'slack', claims: ['chat:write'] } }]);
    assert.equal(isObject(error) && error['code'], 'account_needed');
    await desk.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'again' } });
    await finished(desk, id);
    const facts = await desk.facts(id);
    assert.equal(facts.filter(({ type }) => type === 'hitl.requested').length, 1);
    assert.equal(facts.filter(({ type }) => type === 'tool.result').length, 2);
  });
});

test('the text that is cached is the same with and without the account, whatever the policy', async (t) => {
  for (const policy of ['drop', 'ask'] as const) {
    await serving(t, policy, [{ text: 'one' }, { text: 'two' }], async (desk) => {
      const id = await desk.begin('hi');
      await desk.rest(id);
      await come((await desk.connect()).back);
      await desk.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'hi' } });
      await finished(desk, id);
      const agents = (await desk.facts(id))
        .filter(({ type }) => type === 'agent.turn.start')
        .map(({ payload }) => payload['agent']);
      const text = (agent: unknown): unknown =>
        isObject(agent) && [agent['instructions'], agent['listed'] ?? agent['tools']];
      assert.deepEqual(text(agents[1]), text(agents[0]));
    });
  }
});

test('a tool that needs no account is handed none', async (t) => {
  await serving(t, 'ask', [{ actions: [{ name: 'look', arguments: {} }] }, { text: 'Done.' }], async (desk) => {
    const id = await desk.begin('look');
    await finished(desk, id);
    assert.equal((await told(desk, id))['value'], 'undefined');
  });
});

test('no token is in a fact, a reply or a log line', async (t) => {
  await serving(t, 'ask', attempt, async (desk) => {
    await come((await desk.connect()).back);
    const id = await desk.begin('post it');
    await finished(desk, id);
    const { body } = await desk.call('GET', '/api/v1/accounts');
    const said = JSON.stringify([await desk.facts(id), body, desk.lines]);
    assert.ok(desk.fake.secrets.size > 0);
    for (const secret of [...desk.fake.secrets, 'shh'])
      assert.ok(!said.includes(`"${secret}`) && !said.includes(`${secret}"`));
    assert.deepEqual(body['accounts'], [
      {
        provider: 'slack',
        label: 'Slack',
        status: 'connected',
        claims: ['chat:write'],
        connectedAt: (body['accounts'] as { connectedAt: string }[])[0]?.connectedAt,
      },
    ]);
  });
});

test('with keys, a sign-in ends in the browser that began it, or with the key of who did', async (t) => {
  await serving(t, 'ask', attempt, async (desk) => {
    const as = await desk.key();
    const stranger = await desk.key({ userId: 'eve' });
    const { back, cookie } = await desk.connect({ as });
    assert.equal((await come(back)).status, 400);
    assert.equal((await come(back, { authorization: `Bearer ${stranger}` })).status, 400);
    assert.equal((await come(back, { cookie: 'treadle_sign_in=guess' })).status, 400);
    assert.equal(desk.fake.asked.length, 0);
    const page = await come(back, { cookie });
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    assert.match(await page.text(), /Slack is connected/);
    const again = await desk.connect({ as });
    assert.equal((await come(again.back, { authorization: `Bearer ${as}` })).status, 200);
  });
});

test('what comes back in a callback is never a part of the page', async (t) => {
  await serving(t, 'ask', attempt, async (desk) => {
    const { back } = await desk.connect();
    const state = back.searchParams.get('state') ?? '';
    const query = new URLSearchParams({ state, error: '<script>alert(1)</script>' });
    const page = await come(new URL(`${desk.url}/api/v1/accounts/callback?${query.toString()}`));
    const html = await page.text();
    assert.equal(page.status, 409);
    assert.ok(!html.includes('<script>'), html);
  });
});

test('an account is disconnected once; a sandbox and a reader connect nothing', async (t) => {
  await serving(t, 'ask', attempt, async (desk) => {
    await come((await desk.connect()).back);
    assert.equal((await desk.call('DELETE', '/api/v1/accounts/slack')).status, 204);
    assert.equal((await desk.call('DELETE', '/api/v1/accounts/slack')).status, 404);
    assert.equal((await desk.call('DELETE', '/api/v1/accounts/slak')).code, 'account_unknown');
    const compute = await desk.call('POST', '/api/v1/accounts/slack/connect', {
      as: await desk.key({ kind: 'compute' }),
    });
    const reader = await desk.call('POST', '/api/v1/accounts/slack/connect', {
      as: await desk.key({ scopes: ['read'] }),
    });
    assert.deepEqual([compute.code, reader.code], ['compute_forbidden', 'insufficient_scope']);
  });
});

test('an authorization server that is down is told as that', async (t) => {
  await serving(t, 'ask', attempt, async (desk) => {
    const { back } = await desk.connect();
    desk.fake.answer = () => ({ status: 500, body: { access_token: 'tok-leak' } });
    const page = await come(back);
    assert.equal(page.status, 503);
    assert.ok(!`${await page.text()}${desk.lines.join('')}`.includes('tok-leak'));
  });
});

test('two accounts are two: what one gives counts for its tools alone', async (t) => {
  const [slack, mail] = [await aFakeServer(t), await aFakeServer(t)];
  const provider = ({ issuer }: FakeServer, scope: string) => ({
    ...{ type: 'oauth2', issuer, client_id: 'app', client_secret: 'shh', scopes: [scope] },
  });
  const needs = (of: string, claim: string) => ({ provider: of, claims: [claim] });
  const yaml = JSON.stringify({
    surfaces: {
      as_consumer: {
        agents: {
          main: {
            tools: [
              {
                ...{ name: 'both', kind: 'module', module: './post.js' },
                tool_claims: { post: needs('slack', 'chat:write'), look: needs('mail', 'chat:write') },
              },
            ],
          },
        },
      },
    },
    models: { balanced: { provider: 'scripted', script: 'script.json' } },
    accounts: { slack: provider(slack, 'chat:write'), mail: provider(mail, 'mail:read') },
  });
  await inFolder(yaml, { 'post.js': post, 'script.json': JSON.stringify(attempt) }, async (file) => {
    const { call, begin, rest, log } = await aServer(t, { bundles: [file] });
    for (const [name, fake] of Object.entries({ slack, mail })) {
      const { body } = await call('POST', `/api/v1/accounts/${name}/connect`);
      await come(fake.consent(String(body['authorizationUrl'])));
    }
    const id = await begin('post it');
    await rest(id);
    const facts = await log.read(id, 0, 1_000);
    assert.deepEqual(
      facts.filter(({ type }) => type === 'account.inactive').map(({ payload }) => payload),
      [{ account: 'mail', tools: [{ name: 'look', why: 'needs chat:write in the connected mail account' }] }],
    );
    const result = facts.find(({ type }) => type === 'tool.result')?.payload as { value: { provider: string } }; // of that type
    assert.equal(result.value.provider, 'slack');
  });
});

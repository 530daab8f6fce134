// MCP servers that each user signs in to, through a server of ours: from the refusal to the call with their own token.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFolder } from '../support/bundles.ts';
import { aServer, type Call, type Reply, type Served } from '../http/server.ts';
import { aGuardedServer, type GuardedServer } from './guarded-server.ts';

const ACCOUNT = 'mcp.kb';

interface Fact {
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

interface Desk extends Served {
  readonly fake: GuardedServer;
  /** Runs until it rests, and gives its facts. */
  readonly facts: (id: string) => Promise<readonly Fact[]>;
  readonly say: (id: string, content: string, call?: Call) => Promise<readonly Fact[]>;
  readonly ask: (prompt: string, call?: Call) => Promise<{ readonly id: string; readonly facts: readonly Fact[] }>;
  /** Begins to connect, says yes as `user`, and comes back. */
  readonly signIn: (user: string, call?: Call) => Promise<number>;
}

interface DeskOptions {
  readonly policy?: 'drop' | 'ask';
  readonly script: readonly object[];
  readonly entry?: object;
  readonly auth?: object;
}

async function desk(
  t: Parameters<typeof aServer>[0],
  { policy = 'drop', script, entry = {}, auth = {} }: DeskOptions,
  run: (desk: Desk) => Promise<void>,
): Promise<void> {
  const fake = await aGuardedServer(t);
  const services = { kb: { transport: 'http', url: fake.url, label: 'Knowledge', auth: { type: 'oauth2', ...auth } } };
  const yaml = JSON.stringify({
    config: { react: { main: { claim_policy: policy, system_prompt: 'You look things up.' } } },
    surfaces: {
      as_consumer: { agents: { main: { tools: [{ name: 'kb', kind: 'mcp', ...entry }] } }, mcp: { services } },
    },
    models: { balanced: { provider: 'scripted', script: 'script.json' } },
  });
  await inFolder(yaml, { 'script.json': JSON.stringify(script) }, async (file) => {
    const served = await aServer(t, { bundles: [file] });
    const rested = async (id: string, call: Call = {}): Promise<readonly Fact[]> => {
      await served.rest(id, call);
      return served.log.read(id, 0, 1_000);
    };
    await run({
      ...served,
      fake,
      facts: rested,
      async ask(prompt, call = {}) {
        const id = await served.begin(prompt, call);
        return { id, facts: await rested(id, call) };
      },
      async say(id, content, call = {}) {
        const before = (await served.log.read(id, 0, 1_000)).filter(({ type }) => type === 'agent.turn.end').length;
        await served.call('POST', `/api/v1/runs/${id}/messages`, { ...call, body: { content } });
        for (let tries = 0; tries < 400; tries++) {
          const facts = await rested(id, call);
          if (facts.filter(({ type }) => type === 'agent.turn.end').length > before) return facts;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        throw new Error('the turn does not end');
      },
      async signIn(user, call = {}) {
        const begun = await served.call('POST', `/api/v1/accounts/${ACCOUNT}/connect`, call);
        assert.equal(begun.status, 200, JSON.stringify(begun.body));
        const back = fake.consent(String(begun.body['authorizationUrl']), user);
        const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
        return (await fetch(back, { headers: { 'sec-fetch-site': 'cross-site', cookie } })).status;
      },
    });
  });
}

const search = { actions: [{ name: 'kb_search', arguments: {} }] };
const write = { actions: [{ name: 'kb_write', arguments: {} }] };
const done = { text: 'Done.' };

const all = (facts: readonly Fact[], type: string): Record<string, unknown>[] =>
  facts.filter((one) => one.type === type).map(({ payload }) => payload);
const announced = (facts: readonly Fact[]): string => String(all(facts, 'llm.request').at(-1)?.['announce']);
const observed = (facts: readonly Fact[]): Record<string, unknown> => all(facts, 'tool.result').at(-1) ?? {};
const accountOf = async ({ call }: Served, as: Call = {}): Promise<unknown> => {
  const { body } = await call('GET', '/api/v1/accounts', as);
  return (body['accounts'] as { status: string }[])[0]?.status;
};
const menuOf = ({ body }: Reply): readonly { own: string; unavailable?: string }[] =>
  (body['groups'] as { group: string; entries: { own: string; unavailable?: string }[] }[]).find(
    ({ group }) => group === 'kb',
  )?.entries ?? [];

test('drop: a server that nobody signed in to is out and says so; signed in to, its tools are there and announced', async (t) => {
  await desk(t, { script: [{ text: 'I cannot.' }, search, done] }, async (one) => {
    const menu = await one.call('GET', '/api/v1/agents/main/capabilities');
    assert.deepEqual(menuOf(menu), [{ own: '*', unavailable: 'needs a connected mcp.kb account' }]);
    const { id, facts } = await one.ask('look');
    assert.deepEqual(all(facts, 'account.inactive'), [
      { account: ACCOUNT, tools: [{ name: 'kb', why: 'needs a connected mcp.kb account' }] },
    ]);
    assert.match(announced(facts), /\[INACTIVE TOOLS THIS TURN\]\n- kb: needs a connected mcp\.kb account/);
    const { body } = await one.call('GET', '/api/v1/accounts');
    assert.deepEqual(body['accounts'], [{ provider: ACCOUNT, label: 'Knowledge', status: 'none', claims: [] }]);

    assert.equal(await one.signIn('ana'), 200);
    const after = await one.say(id, 'again');
    assert.deepEqual(all(after, 'account.reactivated'), [{ account: ACCOUNT, tools: ['kb_search', 'kb_write'] }]);
    assert.match(
      announced(after),
      /\[CONNECTED ACCOUNTS UPDATE\]\n- mcp\.kb is connected: kb_search, kb_write can be used/,
    );
    assert.deepEqual(one.fake.calls, [{ user: 'ana', tool: 'search' }]);
    assert.deepEqual(
      menuOf(await one.call('GET', '/api/v1/agents/main/capabilities')).map(({ own }) => own),
      ['search', 'write'],
    );
  });
});

test('the sign-in asks for what the server wants, for this server alone, with a client that it was told of once', async (t) => {
  await desk(t, { script: [done] }, async (one) => {
    await one.signIn('ana');
    await one.signIn('ana');
    const [code] = one.fake.granted;
    assert.deepEqual([code?.get('resource'), code?.get('client_id')], [one.fake.url, 'client-1']);
    assert.deepEqual(
      one.fake.registered.map((asked) => [asked['redirect_uris'], asked['scope'], asked['token_endpoint_auth_method']]),
      [[[`${one.url}/api/v1/accounts/callback`], 'kb:read', 'none']],
    );
    const { body } = await one.call('GET', '/api/v1/accounts');
    assert.deepEqual((body['accounts'] as { claims: unknown }[])[0]?.claims, ['kb:read']);
  });
});

test('a client that the bundle names is used as it is, and its secret goes to the issuer that it is for', async (t) => {
  const auth = { client_id: 'ours', scopes: ['kb:read', 'kb:write'] };
  await desk(t, { script: [done], auth }, async (one) => {
    assert.equal(await one.signIn('ana'), 200);
    assert.deepEqual([one.fake.registered, one.fake.granted[0]?.get('client_id')], [[], 'ours']);
  });
  const wrong = { client_id: 'ours', client_secret: 'shh', issuer: 'https://elsewhere.example' };
  await desk(t, { script: [done], auth: wrong }, async (one) => {
    const { code } = await one.call('POST', `/api/v1/accounts/${ACCOUNT}/connect`);
    assert.equal(code, 'account_unavailable');
    assert.equal(one.fake.granted.length, 0);
  });
});

test('each user has the server as they signed in to it, and nobody has it by another one’s token', async (t) => {
  await desk(t, { script: [search, done, search, done, search, done] }, async (one) => {
    one.fake.tools['bo'] = ['search'];
    const [ana, bo, eve] = [
      await one.key({ userId: 'ana' }),
      await one.key({ userId: 'bo' }),
      await one.key({ userId: 'eve' }),
    ];
    await one.signIn('ana', { as: ana });
    await one.signIn('bo', { as: bo });
    await one.ask('look', { as: ana });
    await one.ask('look', { as: bo });
    const { facts } = await one.ask('look', { as: eve });
    assert.deepEqual(one.fake.calls, [
      { user: 'ana', tool: 'search' },
      { user: 'bo', tool: 'search' },
    ]);
    assert.equal(observed(facts)['outcome'], 'refused');
    const names = await Promise.all(
      [ana, bo, eve].map(async (as) =>
        menuOf(await one.call('GET', '/api/v1/agents/main/capabilities', { as })).map(({ own }) => own),
      ),
    );
    assert.deepEqual(names, [['search', 'write'], ['search'], ['*']]);
  });
});

test('ask: the attempt at what nobody knows yet asks for the sign-in, and says what there is then', async (t) => {
  const attempt = { actions: [{ name: 'kb_sign_in', arguments: {} }] };
  await desk(t, { policy: 'ask', script: [attempt, done, search, done] }, async (one) => {
    const { id } = await one.ask('look');
    const snapshot = await one.call('GET', `/api/v1/runs/${id}`);
    assert.equal(snapshot.body['status'], 'awaiting_user_input');
    const [request] = snapshot.body['requests'] as { consent: unknown }[];
    assert.deepEqual(request?.consent, { account: ACCOUNT, claims: [] });
    await one.signIn('ana');
    const facts = await one.facts(id);
    assert.match(String(observed(facts)['value']), /signed in at Knowledge. Its tools \(search, write\) can be used/);
    await one.say(id, 'go on');
    assert.deepEqual(one.fake.calls, [{ user: 'ana', tool: 'search' }]);
  });
});

test('ask: a sign-in that is revoked in mid-turn is asked for anew, and the same call then goes through', async (t) => {
  await desk(t, { policy: 'ask', script: [search, done, search, done] }, async (one) => {
    await one.signIn('ana');
    const { id } = await one.ask('look');
    one.fake.revoke('ana');
    await one.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'again' } });
    for (let tries = 0; (await one.rest(id))['status'] !== 'awaiting_user_input' && tries < 400; tries++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(await accountOf(one), 'broken');
    await one.signIn('ana');
    const facts = await one.facts(id);
    assert.deepEqual([observed(facts)['outcome'], one.fake.calls.length], ['ok', 2]);
  });
});

test('a token that is refused is renewed once, however many calls it was refused to', async (t) => {
  const three = { actions: [1, 2, 3].map((q) => ({ name: 'kb_search', arguments: { q } })) };
  await desk(t, { script: [search, done, three, done] }, async (one) => {
    await one.signIn('ana');
    const { id } = await one.ask('look');
    one.fake.revoke('ana', 'renewable');
    const facts = await one.say(id, 'again');
    assert.deepEqual(
      all(facts, 'tool.result').map(({ outcome }) => outcome),
      ['ok', 'ok', 'ok', 'ok'],
    );
    assert.deepEqual(
      one.fake.granted.map((form) => form.get('grant_type')),
      ['authorization_code', 'refresh_token'],
    );
  });
});

test('drop: revoked, the tools are out and named; signed in again, they are announced and used', async (t) => {
  await desk(t, { script: [search, done, search, done, search, done] }, async (one) => {
    await one.signIn('ana');
    const { id } = await one.ask('look');
    one.fake.revoke('ana');
    const revoked = await one.say(id, 'again');
    // The server is asked for its list only when that is due, so the call is the first to hear of it.
    assert.match(JSON.stringify(observed(revoked)['error']), /account_needed/);
    const out = await one.say(id, 'and now');
    assert.match(announced(out), /- kb_search: needs a connected mcp\.kb account\n- kb_write: needs a connected/);
    await one.signIn('ana');
    const back = await one.say(id, 'and now');
    assert.deepEqual(all(back, 'account.reactivated'), [{ account: ACCOUNT, tools: ['kb_search', 'kb_write'] }]);
  });
});

test('a right that the server turns out to want is asked for, and the call is made again with it', async (t) => {
  await desk(t, { policy: 'ask', script: [write, done] }, async (one) => {
    one.fake.wants['write'] = 'kb:write';
    await one.signIn('ana');
    const { id } = await one.ask('write');
    const { body } = await one.call('GET', `/api/v1/runs/${id}`);
    const [request] = body['requests'] as { consent: { claims: string[] } }[];
    assert.deepEqual(request?.consent, { account: ACCOUNT, claims: ['kb:write'] });
    await one.signIn('ana', { body: { claims: ['kb:write'] } });
    assert.deepEqual(
      [observed(await one.facts(id))['outcome'], one.fake.calls],
      ['ok', [{ user: 'ana', tool: 'write' }]],
    );
  });
});

test('an account that is taken back is taken back at the authorization server, and its connection is of no use', async (t) => {
  await desk(t, { script: [search, done, search, done] }, async (one) => {
    await one.signIn('ana');
    const { id } = await one.ask('look');
    assert.equal((await one.call('DELETE', `/api/v1/accounts/${ACCOUNT}`)).status, 204);
    const facts = await one.say(id, 'again');
    assert.deepEqual([observed(facts)['outcome'], one.fake.calls.length], ['refused', 1]);
    await one.signIn('bo');
    await one.ask('look');
  });
});

test('no token is in a fact, a reply or a log line, also where the server repeats it', async (t) => {
  await desk(t, { script: [search, done, search, done] }, async (one) => {
    await one.signIn('ana');
    const { id } = await one.ask('look');
    const [said = ''] = one.fake.secrets;
    one.fake.answer = (path) => (path === '/mcp' ? { status: 500, body: `you said ${said}` } : undefined);
    const facts = await one.say(id, 'again');
    const { body } = await one.call('GET', '/api/v1/accounts');
    const told = JSON.stringify([facts, body, one.lines]);
    assert.ok(one.fake.secrets.size > 0 && told.includes('you said'));
    for (const secret of one.fake.secrets) assert.ok(!told.includes(secret), told);
  });
});

test('a server that sends us to a private place, or to one without encryption, gets nothing', async (t) => {
  await desk(t, { script: [done] }, async (one) => {
    const { issuer } = one.fake;
    for (const elsewhere of [
      { authorization_endpoint: 'http://sso.example/authorize' },
      { token_endpoint: 'http://sso.example/token' },
      { registration_endpoint: 'http://10.0.0.1/register' },
      { authorization_endpoint: 'javascript:alert(1)' },
      { issuer: `${issuer}/other` },
      { code_challenge_methods_supported: ['plain'] },
    ]) {
      Object.assign(one.fake.metadata, elsewhere);
      const { code } = await one.call('POST', `/api/v1/accounts/${ACCOUNT}/connect`);
      assert.equal(code, 'account_unavailable', JSON.stringify(elsewhere));
      for (const key of Object.keys(elsewhere)) Reflect.deleteProperty(one.fake.metadata, key);
    }
    assert.deepEqual([one.fake.registered, one.fake.granted], [[], []]);
  });
});

test('where it is on https, the server describes itself, and is known by that', async (t) => {
  await desk(t, { script: [done] }, async (one) => {
    const { body } = await one.call('GET', '/api/v1/accounts/client');
    const callback = `${one.url}/api/v1/accounts/callback`;
    assert.deepEqual([body['client_id'], body['redirect_uris']], [`${one.url}/api/v1/accounts/client`, [callback]]);
    one.fake.metadata['client_id_metadata_document_supported'] = true;
    const place = { redirectUrl: 'https://t.example/back', clientDocument: 'https://t.example/client' };
    const { url } = await one.host.accounts.connect({ tenant: 'local', userId: 'ana' }, ACCOUNT, place);
    assert.deepEqual([url.searchParams.get('client_id'), one.fake.registered], ['https://t.example/client', []]);
  });
});

test('who signs in anew, perhaps as somebody else, is never in the session of who was there before', async (t) => {
  await desk(t, { script: [search, done, search, done] }, async (one) => {
    await one.signIn('ana');
    const { id } = await one.ask('look');
    await one.signIn('bo');
    await one.say(id, 'again');
    assert.deepEqual(
      one.fake.calls.map(({ user }) => user),
      ['ana', 'bo'],
    );
    assert.deepEqual(
      one.fake.sessions.map((session) => session.split('-')[0]),
      ['ana', 'bo'],
    );
  });
});

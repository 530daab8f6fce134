// Accounts at the wire of an authorization server: who may connect what, what is kept of it, and for how long it is good.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import { createMemoryAccounts } from '../../src/adapters/stores/control/accounts.ts';
import { createVault } from '../../src/adapters/accounts/vault.ts';
import type { AccountProvider } from '../../src/domain/account.ts';
import { declaredAccounts } from '../../src/platform/accounts/account-providers.ts';
import { createAccounts, type Accounts } from '../../src/platform/accounts/accounts.ts';
import { aFakeServer, type FakeServer } from './fake-authorization-server.ts';

const ana = { tenant: 'local', userId: 'ana' };
const bo = { tenant: 'local', userId: 'bo' };
const key = { ...ana, provider: 'slack' };
const redirectUrl = 'http://localhost:4114/api/v1/accounts/callback';

interface Desk {
  readonly fake: FakeServer;
  readonly rows: ReturnType<typeof createMemoryAccounts>;
  readonly clock: Clock & { at: number };
  readonly accounts: Accounts;
  /** Another process over the same rows. */
  readonly other: (secrets?: readonly string[]) => Accounts;
  readonly lines: string[];
}

async function aDesk(t: Parameters<typeof aFakeServer>[0], more: Partial<AccountProvider> = {}): Promise<Desk> {
  const fake = await aFakeServer(t);
  const slack: AccountProvider = {
    type: 'oauth2',
    issuer: fake.issuer,
    client_id: 'app',
    client_secret: 'shh',
    scopes: ['chat:write'],
    ...more,
  };
  const rows = createMemoryAccounts();
  const clock = { at: 1_000, now: () => clock.at, after: () => () => undefined };
  const lines: string[] = [];
  const say = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { debug: say, info: say, warn: say, error: say };
  const providers = { slack };
  const other = (secrets: readonly string[] = ['s1']) =>
    createAccounts({ providers: () => providers, rows, secrets, clock, logger });
  return { fake, rows, clock, accounts: other(), other, lines };
}

async function connected(desk: Desk, more: { readonly scope?: string } = {}): Promise<void> {
  const { url } = await desk.accounts.connect(ana, 'slack', { redirectUrl });
  await desk.accounts.finish(desk.fake.consent(url.href, more).searchParams);
}

test('an account is connected with a code and PKCE, and gives what it was asked for', async (t) => {
  const desk = await aDesk(t);
  assert.deepEqual((await desk.accounts.list(ana))[0], {
    provider: 'slack',
    label: 'slack',
    status: 'none',
    claims: [],
  });
  await connected(desk);
  assert.deepEqual(await desk.accounts.claims(ana), { slack: ['chat:write'] });
  const { token, claims } = (await desk.accounts.open?.(key)) ?? { token: '', claims: [] };
  assert.ok(desk.fake.secrets.has(token));
  assert.deepEqual(claims, ['chat:write']);
  assert.equal(desk.fake.asked.length, 1);
});

test('what the user gave counts, and not what was asked for', async (t) => {
  const desk = await aDesk(t, { scopes: ['chat:write', 'files:read'] });
  await connected(desk, { scope: 'files:read' });
  assert.deepEqual(await desk.accounts.claims(ana), { slack: ['files:read'] });
});

test('an account is its user’s alone', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  assert.deepEqual(await desk.accounts.claims(bo), {});
  assert.deepEqual(await desk.accounts.claims({ tenant: 'other', userId: 'ana' }), {});
  await assert.rejects(async () => desk.accounts.open?.({ ...key, userId: 'bo' }), /account_unmet/);
});

test('at rest there is no token, and a row that is moved to another user does not open', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  const sealed = desk.rows.readAccount(key)?.sealed ?? '';
  for (const secret of desk.fake.secrets) assert.ok(!sealed.includes(secret));
  desk.rows.writeAccount({ ...bo, provider: 'slack' }, sealed, 0);
  assert.deepEqual(await desk.accounts.claims(bo), {});
  assert.equal((await desk.accounts.list(bo))[0]?.status, 'broken');
});

test('with another key nothing opens; a key that was first once still opens', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  assert.deepEqual(await desk.other(['s2']).claims(ana), {});
  assert.deepEqual(await desk.other(['s2', 's1']).claims(ana), { slack: ['chat:write'] });
});

test('a sealed text that was altered anywhere does not open', () => {
  const vault = createVault(['s']);
  const text = vault.seal({ a: 1 }, 'x');
  for (let at = 0; at < text.length; at++) {
    const altered = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
    const [one, two] = [
      vault.open(altered, 'x'),
      altered
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString('hex'))
        .join(),
    ];
    // The last letter of base64 may hold bits that say nothing.
    const same =
      two ===
      text
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString('hex'))
        .join();
    assert.ok(one === undefined || same, `${at}`);
  }
  assert.deepEqual(
    [vault.open(text, 'x'), vault.open(text, 'y'), vault.open('', 'x')],
    [{ a: 1 }, undefined, undefined],
  );
});

test('a token that is about to end is renewed once, however many ask', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  const first = (await desk.accounts.open?.(key))?.token;
  desk.clock.at += 3_590_000;
  const all = await Promise.all(Array.from({ length: 8 }, async () => desk.accounts.open?.(key)));
  assert.equal(new Set(all.map((one) => one?.token)).size, 1);
  assert.notEqual(all[0]?.token, first);
  assert.deepEqual(
    desk.fake.asked.map((one) => one.get('grant_type')),
    ['authorization_code', 'refresh_token'],
  );
});

test('B081 of two processes that renew at once the one that wrote first counts', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  desk.clock.at += 3_590_000;
  const both = await Promise.all([desk.accounts.open?.(key), desk.other().open?.(key)]);
  assert.equal(both[0]?.token, both[1]?.token);
  assert.equal((await desk.accounts.list(ana))[0]?.status, 'connected');
});

test('an account that the server will not renew is broken: its claims are gone until it is connected anew', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  desk.clock.at += 3_590_000;
  desk.fake.answer = () => ({ status: 400, body: { error: 'invalid_grant' } });
  await assert.rejects(async () => desk.accounts.open?.(key), /account_unmet/);
  assert.deepEqual(await desk.accounts.claims(ana), {});
  assert.equal((await desk.accounts.list(ana))[0]?.status, 'broken');
  desk.fake.answer = undefined;
  await connected(desk);
  assert.equal((await desk.accounts.list(ana))[0]?.status, 'connected');
});

test('a server that is not well breaks nothing: the next one asks again', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  desk.clock.at += 3_590_000;
  desk.fake.answer = () => ({ status: 503, body: { error: 'temporarily_unavailable' } });
  await assert.rejects(async () => desk.accounts.open?.(key), /account_unavailable/);
  desk.fake.answer = undefined;
  assert.ok((await desk.accounts.open?.(key))?.token !== undefined);
});

test('an account that is disconnected is gone here at once, and taken back there', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  assert.equal(await desk.accounts.disconnect(ana, 'slack'), true);
  assert.deepEqual(await desk.accounts.claims(ana), {});
  assert.equal(desk.fake.revoked.length, 1);
  assert.ok(desk.fake.secrets.has(desk.fake.revoked[0] ?? ''));
  assert.equal(await desk.accounts.disconnect(ana, 'slack'), false);
});

test('a sign-in that nobody began, that is over, or that was altered, is none', async (t) => {
  const desk = await aDesk(t);
  const { url } = await desk.accounts.connect(ana, 'slack', { redirectUrl });
  const back = desk.fake.consent(url.href).searchParams;
  const forged = new URLSearchParams(back);
  forged.set('state', `${back.get('state')?.slice(0, -3)}AAA`);
  await assert.rejects(desk.accounts.finish(forged), /sign_in_invalid/);
  await assert.rejects(desk.accounts.finish(new URLSearchParams({ code: 'x' })), /sign_in_invalid/);
  desk.clock.at += 11 * 60_000;
  await assert.rejects(desk.accounts.finish(back), /sign_in_invalid/);
  assert.equal(desk.fake.asked.length, 0);
});

test('a code counts once, and a person who says no has connected nothing', async (t) => {
  const desk = await aDesk(t);
  const { url } = await desk.accounts.connect(ana, 'slack', { redirectUrl });
  const state = url.searchParams.get('state') ?? '';
  await assert.rejects(
    desk.accounts.finish(new URLSearchParams({ error: 'access_denied', state })),
    /access_denied.*account_unmet/,
  );
  const back = desk.fake.consent(url.href).searchParams;
  await desk.accounts.finish(back);
  await assert.rejects(desk.accounts.finish(back), /account_unmet/);
  assert.equal((await desk.accounts.list(ana))[0]?.status, 'connected');
});

test('the state of a sign-in shows neither who began it nor the verifier', async (t) => {
  const desk = await aDesk(t);
  const { url } = await desk.accounts.connect(ana, 'slack', { redirectUrl });
  const state = url.searchParams.get('state') ?? '';
  const decoded = state
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
    .join();
  assert.ok(!/ana|slack|verifier/.test(decoded));
});

test('asking for more keeps what the user gave before', async (t) => {
  const desk = await aDesk(t);
  await connected(desk, { scope: 'chat:write users:read' });
  const { url } = await desk.accounts.connect(ana, 'slack', { redirectUrl, claims: ['files:read'] });
  assert.equal(url.searchParams.get('scope'), 'chat:write files:read users:read');
});

test('no token is in what operators read', async (t) => {
  const desk = await aDesk(t);
  await connected(desk);
  desk.clock.at += 3_590_000;
  desk.fake.answer = (params) => ({
    status: 400,
    body: { error: 'invalid_grant', error_description: params.get('refresh_token') },
  });
  const error = await Promise.resolve(desk.accounts.open?.(key)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const said = `${desk.lines.join('\n')}${JSON.stringify(error)}${String(error)}${String((error as Error).cause)}`;
  for (const secret of desk.fake.secrets) assert.ok(!said.includes(secret), said);
});

test('an account that nobody declares cannot be connected, and two bundles that declare one have to agree', async (t) => {
  const desk = await aDesk(t);
  await assert.rejects(desk.accounts.connect(ana, 'slak', { redirectUrl }), /account_unknown/);
  const one: AccountProvider = { type: 'oauth2', issuer: 'https://a.example', client_id: 'app' };
  assert.deepEqual(declaredAccounts([{ a: one }, undefined, { a: { ...one } }]), { a: one });
  assert.throws(() => declaredAccounts([{ a: one }, { a: { ...one, client_id: 'other' } }]), /bundle_conflict/);
});

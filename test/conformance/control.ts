// What every control store must do, whatever it is made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import type { MaybePromise } from '../../src/base/promise.ts';
import type { StoredAllowance } from '../../src/kernel/choices.ts';
import type { ApiKey, Claim, ControlStore } from '../../src/kernel/stores.ts';
import { StillClock } from './log-samples.ts';

export interface ControlStoreUnderTest {
  readonly open: (clock: Clock) => MaybePromise<ControlStore>;
  /** The same store again, as another process would see it. Absent where nothing is kept. */
  readonly reopen?: (clock: Clock) => MaybePromise<ControlStore>;
}

const aKey = (id: string, more: Partial<ApiKey> = {}): ApiKey => ({
  id,
  hash: `hash of ${id}`,
  name: 'laptop',
  kind: 'user',
  scopes: ['read', 'run'],
  userId: 'ana',
  tenant: 'local',
  createdAt: 1,
  expiresAt: undefined,
  revokedAt: undefined,
  lastUsedAt: undefined,
  ...more,
});
const claim: Claim = { scope: 'local/ana/create', key: 'k1', fingerprint: 'f1' };
const reply = { status: 202, body: '{"id":"run_1"}' };

export function controlStoreConformance(name: string, { open, reopen }: ControlStoreUnderTest): void {
  function fact(title: string, body: (store: ControlStore, clock: StillClock) => Promise<void>): void {
    test(`${name}: ${title}`, async () => {
      const clock = new StillClock();
      const store = await open(clock);
      try {
        await body(store, clock);
      } finally {
        await store.close();
      }
    });
  }

  const account = { tenant: 'local', userId: 'ana', provider: 'slack' };
  fact('an account is there once it was written, for its user alone', async (store) => {
    assert.equal(await store.readAccount(account), undefined);
    assert.equal(await store.writeAccount(account, 'sealed', 0), true);
    assert.equal((await store.readAccount(account))?.sealed, 'sealed');
    assert.deepEqual(await store.accountsOf({ tenant: 'local', userId: 'ana' }), [
      { provider: 'slack', sealed: 'sealed' },
    ]);
    assert.deepEqual(await store.accountsOf({ tenant: 'other', userId: 'ana' }), []);
    assert.equal(await store.readAccount({ ...account, userId: 'bo' }), undefined);
  });
  fact('of two that write an account from the same row one is told to look again', async (store) => {
    await store.writeAccount(account, 'first', 0);
    assert.equal(await store.writeAccount(account, 'late', 0), false);
    const { revision = 0 } = (await store.readAccount(account)) ?? {};
    assert.equal(await store.writeAccount(account, 'second', revision), true);
    assert.equal(await store.writeAccount(account, 'third', revision), false);
    assert.equal((await store.readAccount(account))?.sealed, 'second');
  });
  fact('an account that was removed and made again is another row', async (store) => {
    await store.writeAccount(account, 'first', 0);
    const { revision = 0 } = (await store.readAccount(account)) ?? {};
    assert.equal(await store.removeAccount(account), true);
    assert.equal(await store.removeAccount(account), false);
    await store.writeAccount(account, 'anew', 0);
    assert.equal(await store.writeAccount(account, 'of before', revision), false);
  });
  const ana = { tenant: 'local', userId: 'ana' };
  const anAllowance = (id: string): StoredAllowance => ({
    ...{ id, scope: 'always', tool: 'mail', described: 'd', covers: [{ gate: 'gate.mail', subject: { to: 'bo' } }] },
    ...{ about: 'every mail', by: 'ana', at: 1, bundle: 'post', agent: 'main', conversation: 'run_1' },
  });
  fact('what a user has allowed is there as it was added, the newest first, for that user alone', async (store) => {
    await store.addAllowance(ana, anAllowance('one'));
    await store.addAllowance(ana, anAllowance('two'));
    assert.deepEqual(await store.allowancesOf(ana), [anAllowance('two'), anAllowance('one')]);
    assert.deepEqual(await store.allowancesOf({ ...ana, tenant: 'other' }), []);
    assert.deepEqual(await store.allowancesOf({ ...ana, userId: 'an' }), []);
    assert.equal(await store.revokeAllowance({ ...ana, userId: 'bo' }, 'one', 2), false);
  });
  fact('what was allowed and taken back stays taken back', async (store) => {
    await store.addAllowance(ana, anAllowance('one'));
    assert.equal(await store.revokeAllowance(ana, 'one', 2), true);
    assert.equal(await store.revokeAllowance(ana, 'one', 3), false);
    await store.addAllowance(ana, anAllowance('one'));
    assert.deepEqual(await store.allowancesOf(ana), []);
  });
  fact('under which description a tool ran last is known of its user and bundle alone', async (store) => {
    const user = { ...ana, bundle: 'desk' };
    await store.rememberTool(user, { server: 'kb', tool: 'write', digest: 'one' });
    await store.rememberTool(user, { server: 'kb', tool: 'search', digest: 'one' });
    await store.rememberTool(user, { server: 'kb', tool: 'write', digest: 'two' });
    assert.deepEqual(await store.toolsOf(user), [
      { server: 'kb', tool: 'search', digest: 'one' },
      { server: 'kb', tool: 'write', digest: 'two' },
    ]);
    for (const other of [{ tenant: 'other' }, { userId: 'bo' }, { bundle: 'post' }])
      assert.deepEqual(await store.toolsOf({ ...user, ...other }), []);
  });
  fact('a key is found as it was added', async (store) => {
    const key = aKey('one', { kind: 'compute', scopes: ['approve', 'admin'], expiresAt: 9 });
    await store.add(key);
    assert.deepEqual(await store.find('one'), key);
  });
  fact('a key that was never made is undefined', async (store) => {
    assert.equal(await store.find('one'), undefined);
  });
  fact('an id is given once', async (store) => {
    await store.add(aKey('one'));
    await assert.rejects(async () => store.add(aKey('one', { name: 'other' })));
    assert.equal((await store.find('one'))?.name, 'laptop');
  });
  fact('keys are listed, the newest first, revoked ones too', async (store) => {
    for (const id of ['one', 'two', 'three']) await store.add(aKey(id));
    await store.revoke('two', 5);
    assert.deepEqual(
      (await store.list()).map(({ id, revokedAt }) => [id, revokedAt]),
      [
        ['three', undefined],
        ['two', 5],
        ['one', undefined],
      ],
    );
  });
  fact('a key that is revoked twice keeps the first time', async (store) => {
    await store.add(aKey('one'));
    assert.deepEqual([await store.revoke('one', 5), await store.revoke('one', 7)], [true, true]);
    assert.equal((await store.find('one'))?.revokedAt, 5);
  });
  fact('a key that does not exist cannot be revoked', async (store) => {
    assert.equal(await store.revoke('one', 5), false);
  });
  fact('the last use is kept', async (store) => {
    await store.add(aKey('one'));
    await store.used('one', 5);
    await store.used('nobody', 5);
    assert.equal((await store.find('one'))?.lastUsedAt, 5);
  });
  fact('whether a key was ever made survives its revocation', async (store) => {
    assert.equal(await store.any(), false);
    await store.add(aKey('one'));
    await store.revoke('one', 5);
    assert.equal(await store.any(), true);
  });

  fact('the first to claim gets the work, a second waits', async (store) => {
    assert.deepEqual(await store.begin(claim, 'a', 1000), { state: 'yours', again: false });
    assert.deepEqual(await store.begin(claim, 'b', 1000), { state: 'busy' });
  });
  fact('a settled claim gives its reply to whoever repeats it', async (store) => {
    await store.begin(claim, 'a', 1000);
    await store.settle(claim, 'a', reply, 5000);
    assert.deepEqual(await store.begin(claim, 'b', 1000), { state: 'done', reply });
  });
  fact('the same key for something else is a conflict, under way and done', async (store) => {
    const other = { ...claim, fingerprint: 'f2' };
    await store.begin(claim, 'a', 1000);
    assert.deepEqual(await store.begin(other, 'b', 1000), { state: 'conflict' });
    await store.settle(claim, 'a', reply, 5000);
    assert.deepEqual(await store.begin(other, 'b', 1000), { state: 'conflict' });
  });
  fact('the same key in another scope is another claim', async (store) => {
    await store.begin(claim, 'a', 1000);
    assert.deepEqual(await store.begin({ ...claim, scope: 'local/ana/stop' }, 'b', 1000), {
      state: 'yours',
      again: false,
    });
  });
  fact('a claim whose holder died goes to the next, who is told', async (store, clock) => {
    await store.begin(claim, 'a', 1000);
    clock.pass(1000);
    assert.deepEqual(await store.begin(claim, 'b', 1000), { state: 'yours', again: true });
    await store.settle(claim, 'a', { status: 500, body: 'late' }, 5000);
    assert.deepEqual(await store.begin(claim, 'c', 1000), { state: 'busy' });
  });
  fact('a claim whose holder died cannot become something else', async (store, clock) => {
    await store.begin(claim, 'a', 1000);
    clock.pass(1000);
    assert.deepEqual(await store.begin({ ...claim, fingerprint: 'f2' }, 'b', 1000), { state: 'conflict' });
  });
  fact('an abandoned claim is free, for anything', async (store) => {
    await store.begin(claim, 'a', 1000);
    await store.abandon(claim, 'b');
    assert.deepEqual(await store.begin(claim, 'b', 1000), { state: 'busy' });
    await store.abandon(claim, 'a');
    assert.deepEqual(await store.begin({ ...claim, fingerprint: 'f2' }, 'b', 1000), { state: 'yours', again: false });
  });
  fact('a reply is kept for its time and then forgotten', async (store, clock) => {
    await store.begin(claim, 'a', 1000);
    await store.settle(claim, 'a', reply, 5000);
    clock.pass(4999);
    assert.equal(await store.purge(), 0);
    assert.equal((await store.begin(claim, 'b', 1000)).state, 'done');
    clock.pass(1);
    assert.equal(await store.purge(), 1);
    assert.deepEqual(await store.begin({ ...claim, fingerprint: 'f2' }, 'b', 1000), { state: 'yours', again: false });
  });
  fact('of many at once, one gets the work', async (store) => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => store.begin(claim, `w${index}`, 1000)),
    );
    assert.equal(outcomes.filter(({ state }) => state === 'yours').length, 1);
  });

  fact('a secret stays the same, and each name has its own', async (store) => {
    const first = await store.secret('cursors');
    assert.match(first, /^[\w-]{43}$/);
    assert.equal(await store.secret('cursors'), first);
    assert.notEqual(await store.secret('other'), first);
  });

  if (reopen === undefined) return;
  test(`${name}: everything is there for the next process`, async () => {
    const clock = new StillClock();
    const store = await open(clock);
    await store.add(aKey('one'));
    await store.begin(claim, 'a', 1000);
    await store.settle(claim, 'a', reply, 5000);
    const secret = await store.secret('cursors');
    const next = await reopen(clock);
    assert.deepEqual(await next.find('one'), aKey('one'));
    assert.deepEqual(await next.begin(claim, 'b', 1000), { state: 'done', reply });
    assert.equal(await next.secret('cursors'), secret);
    await store.close();
    await next.close();
  });

  fact('a selection is written by whoever knows its last revision, and by nobody else', async (store) => {
    const key = { userId: 'ana', tenant: 'local', bundle: 'app', agent: 'main' };
    assert.equal(await store.readSelection(key), undefined);
    assert.equal(await store.writeSelection(key, { a: 1 }, 1), false);
    assert.equal(await store.writeSelection(key, { a: 1 }, 0), true);
    assert.equal(await store.writeSelection(key, { a: 2 }, 0), false);
    assert.equal(await store.writeSelection(key, { a: 3 }, 1), true);
    assert.deepEqual(await store.readSelection(key), { value: { a: 3 }, revision: 2 });
  });

  fact('selections of users, agents and conversations are apart', async (store) => {
    const key = { userId: 'ana', tenant: 'local', bundle: 'app', agent: 'main' };
    const others = [{ userId: 'bo' }, { tenant: 'other' }, { bundle: 'b' }, { agent: 'x' }, { conversation: 'c1' }];
    await store.writeSelection(key, 'own', 0);
    for (const other of others) assert.equal(await store.readSelection({ ...key, ...other }), undefined);
  });
}

// What every ledger must do, whatever it is made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import type { MaybePromise } from '../../src/base/promise.ts';
import {
  accountOfRun,
  accountOfTenant,
  accountOfUser,
  type Cap,
  type Ledger,
  type LedgerEntry,
  type Reservation,
  type Spender,
} from '../../src/kernel/ledger.ts';
import { StillClock } from './log-samples.ts';

export interface LedgerUnderTest {
  readonly open: (clock: Clock) => MaybePromise<Ledger>;
  /** The same ledger again, as another process would see it. Absent where nothing is kept. */
  readonly reopen?: (clock: Clock) => MaybePromise<Ledger>;
}

const NOON = Date.parse('2026-11-30T12:00:00Z');

export const aSpender = (id = 'c1', more: Partial<Spender> = {}): Spender => ({
  conversationId: id,
  tenant: 'acme',
  userId: 'ana',
  agent: 'desk',
  bundle: 'app',
  runs: [id],
  ...more,
});

type Call = NonNullable<LedgerEntry['call']>;

export function aCall(seq: number, more: Partial<Call> = {}, at = NOON): LedgerEntry {
  const call: Call = {
    provider: 'p',
    model: 'm',
    usage: { input: 10, output: 5 },
    cost: '0.1',
    failed: false,
    ...more,
  };
  return { seq, at, call, charge: { tokens: 15, money: call.cost } };
}

const anAction = (seq: number, at = NOON): LedgerEntry => ({ seq, at, charge: { tokens: 0 } });

export function aReservation(id: string, caps: readonly Cap[], more: Partial<Reservation> = {}): Reservation {
  const rest = {
    conversationId: id,
    owner: 'w1',
    until: NOON + 60_000,
    calls: 1,
    actions: 0,
    tokens: 10,
    money: '0.1',
  };
  return { id, ...rest, caps, ...more };
}

const run = (cap: Partial<Cap>): Cap => ({ account: accountOfRun('c1'), period: '', ...cap });

export function ledgerConformance(name: string, { open, reopen }: LedgerUnderTest): void {
  function fact(title: string, body: (ledger: Ledger, clock: StillClock) => Promise<void>): void {
    test(`${name}: ${title}`, async () => {
      const clock = new StillClock(NOON);
      const ledger = await open(clock);
      try {
        await body(ledger, clock);
      } finally {
        await ledger.close();
      }
    });
  }
  const byDay = { by: 'day', tenant: 'acme' } as const;

  fact('what was added is in the sums', async (ledger) => {
    await ledger.add(aSpender(), [aCall(3), anAction(4), aCall(6, { cost: '0.25', failed: true })], { through: 6 });
    assert.deepEqual(await ledger.sum(byDay), [
      {
        ...{ key: '2026-11-30', calls: 2, failed: 1, actions: 1, usage: { input: 20, output: 10 } },
        ...{ cost: { amount: '0.35', currency: 'USD' }, knownCost: { amount: '0.35', currency: 'USD' } },
        ...{ unpriced: 0, unreported: 0 },
      },
    ]);
    assert.equal(await ledger.position('c1'), 6);
  });
  fact('adding twice is adding once, also when the second time brings more', async (ledger) => {
    await ledger.add(aSpender(), [aCall(3)], { through: 3 });
    await ledger.add(aSpender(), [aCall(3)], { through: 3 });
    await ledger.add(aSpender(), [aCall(3), aCall(5)], { through: 5 });
    assert.equal((await ledger.sum(byDay))[0]?.calls, 2);
    assert.equal((await ledger.spent(accountOfRun('c1'), '')).tokens, 30);
  });
  fact('conversations have positions of their own', async (ledger) => {
    await ledger.add(aSpender('c1'), [aCall(9)], { through: 9 });
    await ledger.add(aSpender('c2'), [aCall(3)], { through: 3 });
    assert.deepEqual(
      [await ledger.position('c1'), await ledger.position('c2'), await ledger.position('c3')],
      [9, 3, 0],
    );
    assert.equal((await ledger.sum(byDay))[0]?.calls, 2);
  });
  fact('facts that are skipped are never counted, and a skip never goes back', async (ledger) => {
    await ledger.skip('c1', 5);
    await ledger.skip('c1', 2);
    await ledger.add(aSpender(), [aCall(5), aCall(6)], { through: 6 });
    assert.equal((await ledger.sum(byDay))[0]?.calls, 1);
  });
  fact('money is exact', async (ledger) => {
    const entries = Array.from({ length: 100 }, (_, index) => aCall(index + 1, { cost: '0.000000003625' }));
    await ledger.add(aSpender(), [...entries, aCall(101, { cost: '123456789.1' })], { through: 101 });
    assert.equal((await ledger.costOf('c1'))?.amount, '123456789.1000003625');
  });
  fact('sums are by user, agent, model or day, of one tenant, of one user, between days', async (ledger) => {
    const day = 86_400_000;
    await ledger.add(aSpender('c1'), [aCall(1), aCall(2, { model: 'n' }, NOON + day), anAction(3)], { through: 3 });
    await ledger.add(aSpender('c2', { userId: 'bo', agent: 'clerk' }), [aCall(1)], { through: 1 });
    await ledger.add(aSpender('c3', { tenant: 'other' }), [aCall(1)], { through: 1 });
    const keys = async (query: Omit<Parameters<Ledger['sum']>[0], 'tenant'>) =>
      (await ledger.sum({ tenant: 'acme', ...query })).map(({ key, calls }) => `${key} ${calls}`);
    assert.deepEqual(await keys({ by: 'user' }), ['ana 2', 'bo 1']);
    assert.deepEqual(await keys({ by: 'agent' }), ['clerk 1', 'desk 2']);
    assert.deepEqual(await keys({ by: 'model' }), ['p/m 2', 'p/n 1']);
    assert.deepEqual(await keys({ by: 'day' }), ['2026-11-30 2', '2026-12-01 1']);
    assert.deepEqual(await keys({ by: 'model', userId: 'ana' }), ['p/m 1', 'p/n 1']);
    assert.deepEqual(await keys({ by: 'day', from: '2026-12-01' }), ['2026-12-01 1']);
    assert.deepEqual(await keys({ by: 'day', to: '2026-11-30' }), ['2026-11-30 2']);
  });
  fact('agents of two bundles with one name are two sums, and each can be asked for', async (ledger) => {
    await ledger.add(aSpender('c1'), [aCall(1)], { through: 1 });
    await ledger.add(aSpender('c2', { bundle: 'other' }), [aCall(1), aCall(2)], { through: 2 });
    const rows = async (query: Partial<Parameters<Ledger['sum']>[0]>) =>
      (await ledger.sum({ by: 'agent', tenant: 'acme', ...query })).map(
        ({ key, bundle, calls }) => `${bundle ?? ''} ${key} ${calls}`,
      );
    assert.deepEqual(await rows({}), ['app desk 1', 'other desk 2']);
    assert.deepEqual(await rows({ agent: 'desk', bundles: ['other'] }), ['other desk 2']);
    assert.deepEqual(await rows({ agent: 'clerk' }), []);
    assert.deepEqual(await rows({ by: 'user' }), [' ana 3']);
  });
  fact('sums can be of each day or month, and of one model', async (ledger) => {
    const day = 86_400_000;
    const entries = [aCall(1), aCall(2, { model: 'n' }, NOON + day), aCall(3, {}, NOON + 2 * day)];
    await ledger.add(aSpender(), entries, { through: 3 });
    const rows = async (query: Partial<Parameters<Ledger['sum']>[0]>) =>
      (await ledger.sum({ by: 'model', tenant: 'acme', ...query })).map(
        ({ key, period, calls }) => `${period ?? ''} ${key} ${calls}`,
      );
    assert.deepEqual(await rows({ per: 'day' }), ['2026-11-30 p/m 1', '2026-12-01 p/n 1', '2026-12-02 p/m 1']);
    assert.deepEqual(await rows({ per: 'month' }), ['2026-11 p/m 1', '2026-12 p/m 1', '2026-12 p/n 1']);
    assert.deepEqual(await rows({ model: 'p/m' }), [' p/m 2']);
  });
  fact('what is set aside can be asked for until it is settled or out of time', async (ledger, clock) => {
    const cap = { account: accountOfRun('c1'), period: '', tokens: 100 };
    await ledger.reserve(aReservation('c1', [cap, { ...cap, period: '2026-11' }]));
    await ledger.reserve(aReservation('c2', [cap], { until: NOON + 1_000, money: '0.25' }));
    assert.deepEqual(await ledger.reserved(cap.account), { calls: 2, actions: 0, tokens: 20, money: '0.35' });
    clock.pass(2_000);
    assert.deepEqual(await ledger.reserved(cap.account), { calls: 1, actions: 0, tokens: 10, money: '0.1' });
    await ledger.release('c1');
    assert.equal((await ledger.reserved(cap.account)).calls, 0);
  });
  fact('a day ends at midnight UTC', async (ledger) => {
    const midnight = Date.parse('2026-12-01T00:00:00Z');
    await ledger.add(aSpender(), [aCall(1, {}, midnight - 1), aCall(2, {}, midnight)], { through: 2 });
    assert.deepEqual(
      (await ledger.sum(byDay)).map(({ key }) => key),
      ['2026-11-30', '2026-12-01'],
    );
    assert.equal((await ledger.spent(accountOfTenant('acme'), '2026-11')).calls, 1);
    assert.equal((await ledger.spent(accountOfTenant('acme'), '2026-12')).calls, 1);
  });
  fact('a price or a report that is missing leaves the cost unknown and says how often', async (ledger) => {
    await ledger.add(aSpender('c1'), [aCall(1), aCall(2, { cost: undefined })], { through: 2 });
    await ledger.add(aSpender('c2'), [aCall(1, { cost: undefined, usage: {}, failed: true })], { through: 1 });
    const [row] = await ledger.sum(byDay);
    assert.deepEqual([row?.cost, row?.knownCost.amount, row?.unpriced, row?.unreported], [undefined, '0.1', 1, 1]);
    assert.equal(await ledger.costOf('c1'), undefined);
    assert.equal(await ledger.costOf('c2'), undefined);
    assert.equal(await ledger.costOf('nobody'), undefined);
  });
  fact('a part of the usage that nobody reported is absent from the sum', async (ledger) => {
    await ledger.add(aSpender(), [aCall(1, { usage: { input: 1 } }), aCall(2, { usage: { cacheRead: 2 } })], {
      through: 2,
    });
    assert.deepEqual((await ledger.sum(byDay))[0]?.usage, { input: 1, cacheRead: 2 });
  });
  fact('every run above pays for a run below', async (ledger) => {
    await ledger.add(aSpender('child', { runs: ['child', 'mid', 'root'] }), [aCall(1)], { through: 1 });
    await ledger.add(aSpender('root'), [aCall(1)], { through: 1 });
    const amounts = ['child', 'mid', 'root'].map(async (id) => (await ledger.costOf(id))?.amount);
    assert.deepEqual(await Promise.all(amounts), ['0.1', '0.1', '0.2']);
  });
  fact('users of different tenants are different users', async (ledger) => {
    await ledger.add(aSpender('c1', { tenant: 'a', userId: 'b","c' }), [aCall(1)], { through: 1 });
    assert.equal((await ledger.spent(accountOfUser('a","b', 'c'), '2026-11-30')).calls, 0);
    assert.equal((await ledger.spent(accountOfUser('a', 'b","c'), '2026-11-30')).calls, 1);
  });

  fact('what fits is set aside, and what does not is refused with the figures', async (ledger) => {
    await ledger.add(aSpender(), [aCall(1)], { through: 1 });
    assert.deepEqual(await ledger.reserve(aReservation('r1', [run({ tokens: 40 })])), { ok: true });
    assert.deepEqual(await ledger.reserve(aReservation('r2', [run({ tokens: 40 })], { tokens: 16 })), {
      ...{ ok: false, account: 'run:c1', period: '', measure: 'tokens' },
      ...{ cap: '40', spent: '15', reserved: '10', left: { tokens: 15 } },
    });
    assert.deepEqual(await ledger.reserve(aReservation('r3', [run({ tokens: 40 })], { tokens: 15 })), { ok: true });
  });
  fact('money fits to the last billionth, and no further', async (ledger) => {
    const caps = [run({ money: '0.3' })];
    for (const id of ['a', 'b', 'c']) assert.equal((await ledger.reserve(aReservation(id, caps))).ok, true);
    const refused = await ledger.reserve(aReservation('d', caps, { money: '0.000000001' }));
    assert.deepEqual(refused.ok ? {} : [refused.measure, refused.left], ['money', { money: '0' }]);
  });
  fact('every cap counts, and one that refuses sets nothing aside', async (ledger) => {
    const both = [run({ tokens: 10 }), { account: accountOfTenant('acme'), period: '2026-11-30', calls: 0 }];
    assert.equal((await ledger.reserve(aReservation('a', both))).ok, false);
    assert.equal((await ledger.reserve(aReservation('b', [run({ tokens: 10 })]))).ok, true);
  });
  fact('calls and actions are caps too', async (ledger) => {
    await ledger.add(aSpender(), [aCall(1), anAction(2)], { through: 2 });
    const refusal = async (cap: Partial<Cap>, more: Partial<Reservation>) => {
      const given = await ledger.reserve(aReservation('r', [run(cap)], more));
      return given.ok ? 'ok' : given.measure;
    };
    assert.equal(await refusal({ calls: 1 }, {}), 'calls');
    assert.equal(await refusal({ actions: 1 }, { calls: 0, actions: 1 }), 'actions');
    assert.equal(await refusal({ actions: 1 }, {}), 'ok');
  });
  fact('the same id again replaces what it had set aside', async (ledger) => {
    for (let time = 0; time < 3; time++)
      assert.equal((await ledger.reserve(aReservation('r', [run({ tokens: 10 })]))).ok, true);
  });
  fact('counting what came of it lets go of what was set aside for it, and of nothing else', async (ledger) => {
    const caps = [run({ tokens: 40 })];
    await ledger.reserve(aReservation('r1', caps, { conversationId: 'c1' }));
    await ledger.reserve(aReservation('r2', caps, { conversationId: 'c1' }));
    await ledger.add(aSpender(), [aCall(1)], { through: 1, settles: ['r1'] });
    assert.equal((await ledger.reserve(aReservation('r3', caps, { tokens: 15 }))).ok, true);
    assert.equal((await ledger.reserve(aReservation('r4', caps, { tokens: 1 }))).ok, false);
  });
  fact(
    'what is set aside is let go on release, when it runs out, and when another process takes the conversation',
    async (ledger, clock) => {
      const caps = [run({ tokens: 10 })];
      const isFree = async (id: string, more: Partial<Reservation> = {}) =>
        (await ledger.reserve(aReservation(id, caps, more))).ok;
      assert.equal(await isFree('a', { conversationId: 'c1' }), true);
      assert.equal(await isFree('b', { conversationId: 'c2' }), false);
      await ledger.release('c1');
      assert.equal(await isFree('b', { conversationId: 'c2' }), true);
      assert.equal(await isFree('c', { conversationId: 'c2', owner: 'w2' }), true);
      assert.equal(await isFree('d', { conversationId: 'c3' }), false);
      clock.pass(60_000);
      assert.equal(await isFree('d', { conversationId: 'c3', until: NOON + 120_000 }), true);
    },
  );
  fact('of a hundred at once no more get through than fit', async (ledger) => {
    const caps = [run({ tokens: 95, money: '5' })];
    const all = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => ledger.reserve(aReservation(`r${index}`, caps))),
    );
    assert.equal(all.filter(({ ok }) => ok).length, 9);
  });

  if (reopen === undefined) return;
  test(`${name}: another process sees the same, and counts nothing again`, async () => {
    const clock = new StillClock(NOON);
    const [one, other] = [await open(clock), await reopen(clock)];
    await one.add(aSpender(), [aCall(1)], { through: 1 });
    await other.add(aSpender(), [aCall(1), aCall(2)], { through: 2 });
    await one.reserve(aReservation('r1', [run({ tokens: 40 })]));
    const refused = await other.reserve(aReservation('r2', [run({ tokens: 40 })]));
    assert.deepEqual([(await one.spent(accountOfRun('c1'), '')).calls, refused.ok], [2, false]);
    await one.close();
    await other.close();
  });
}

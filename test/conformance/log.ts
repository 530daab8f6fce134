// What every log must do, whatever it is made of. A log's own test is one call of `logConformance` and its oddities.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../src/base/clock.ts';
import { sha256 } from '../../src/base/digest.ts';
import { TreadleError } from '../../src/base/errors.ts';
import type { MaybePromise } from '../../src/base/promise.ts';
import type { Draft, Fact } from '../../src/domain/event.ts';
import type { Lease, Log } from '../../src/kernel/log.ts';
import { aConversation, added, answer, leaseOn, say, seqs, StillClock } from './log-samples.ts';

export interface LogUnderTest {
  /** A new, empty log. */
  readonly open: (clock: Clock) => MaybePromise<Log>;
  /** The same log again, as another process would see it after this one closed it. Absent where nothing is kept. */
  readonly reopen?: (log: Log, clock: Clock) => MaybePromise<Log>;
}

const wordsOf = (facts: readonly Fact[]) =>
  facts.map((fact) => (fact.type === 'io.output' || fact.type === 'io.input' ? fact.payload.text : fact.type));

const all = <T>(results: readonly MaybePromise<T>[]): Promise<T[]> => Promise.all(results.map(async (one) => one));

const isBusy = (problem: unknown) => TreadleError.is(problem) && problem.code === 'conversation_busy';

const isUnknownConversation = (problem: unknown) => TreadleError.is(problem) && problem.code === 'conversation_unknown';

/** An optional property that is absent and one that is undefined say the same. */
const plain = (facts: readonly Fact[]): unknown => JSON.parse(JSON.stringify(facts));

export function logConformance(name: string, { open, reopen }: LogUnderTest): void {
  /** A test with its own log, conversation `c1` in it. */
  function fact(title: string, body: (log: Log, clock: StillClock) => Promise<void>): void {
    test(title, async () => {
      const clock = new StillClock();
      const log = await open(clock);
      try {
        assert.equal(await log.create(aConversation('c1')), true);
        await body(log, clock);
      } finally {
        await log.close();
      }
    });
  }

  describe(`${name}: conversations`, () => {
    fact('a conversation is found as it was created, with no facts yet', async (log) => {
      const row = { head: 0, status: 'initializing', title: '', updatedAt: 1_700_000_000_000 };
      assert.deepEqual(await log.find('c1'), { ...aConversation('c1'), ...row });
      assert.deepEqual(await log.read('c1', 0, 10), []);
    });

    fact('creating an id again changes nothing', async (log) => {
      await log.post('c1', say('hello'));
      assert.equal(await log.create(aConversation('c1', { agent: 'other', userId: 'eve' })), false);
      const row = await log.find('c1');
      assert.deepEqual([row?.agent, row?.userId, row?.head], ['desk', 'ana', 1]);
    });

    fact('an id that nobody created is unknown', async (log) => {
      assert.equal(await log.find('nobody'), undefined);
      assert.deepEqual(await log.read('nobody', 0, 10), []);
      assert.equal(await log.readBody('nobody', sha256('x')), undefined);
      await assert.rejects(async () => log.post('nobody', say('hello')), isUnknownConversation);
      await assert.rejects(async () => log.take('nobody', 'worker-1', 1000), isUnknownConversation);
      await assert.rejects(async () => log.writeBody('nobody', 'x'), isUnknownConversation);
      const lease = { conversationId: 'nobody', owner: 'worker-1', epoch: 1, until: 0 };
      assert.deepEqual(await log.append(lease, 0, [answer('x')]), { ok: false, reason: 'fenced' });
      assert.equal(await log.renew(lease, 1000), undefined);
    });

    fact('the row tells head, status, title and the time of the last change', async (log, clock) => {
      const lease = await leaseOn(log, 'c1');
      clock.pass(5);
      added(await log.append(lease, 0, [answer('a'), answer('b')], { status: 'running', title: 'Exposure 🧵' }));
      clock.pass(5);
      added(await log.append(lease, 2, [answer('c')]));
      const row = await log.find('c1');
      assert.deepEqual([row?.head, row?.status, row?.title], [3, 'running', 'Exposure 🧵']);
      assert.equal(row?.updatedAt, 1_700_000_000_010);
    });

    fact('an empty append changes the row alone', async (log) => {
      const lease = await leaseOn(log, 'c1');
      assert.deepEqual(added(await log.append(lease, 0, [], { status: 'awaiting_user_input' })), []);
      const row = await log.find('c1');
      assert.deepEqual([row?.head, row?.status], [0, 'awaiting_user_input']);
    });
  });

  describe(`${name}: the list`, () => {
    /** Seven conversations, three of them changed in the same millisecond, the others up to minutes apart. */
    async function seven(log: Log, clock: StillClock): Promise<void> {
      for (const [id, waitMs] of Object.entries({ a: 1, d: 60_000, c: 0, b: 0, e: 1, f: 120_000 })) {
        clock.pass(waitMs);
        const [userId, agent] = [id < 'd' ? 'ana' : 'bo', id === 'e' ? 'mail' : 'desk'];
        await log.create(aConversation(id, { createdAt: clock.now(), userId, agent, tenant: `${userId}-org` }));
      }
    }
    const idsOf = async (log: Log, query: Omit<Parameters<Log['list']>[0], 'limit'>) =>
      (await log.list({ limit: 100, ...query })).map((row) => row.id).join(' ');

    fact('is newest first, and equal times go by id', async (log, clock) => {
      await seven(log, clock);
      assert.equal(await idsOf(log, {}), 'f e d c b a c1');
      clock.pass(1);
      await log.post('a', say('hello'));
      assert.equal(await idsOf(log, {}), 'a f e d c b c1');
    });

    fact('has pages that concatenate to the whole, for every page size', async (log, clock) => {
      await seven(log, clock);
      const whole = await log.list({ limit: 100 });
      for (let limit = 1; limit <= 8; limit++) {
        const pages = [];
        for (;;) {
          const page = await log.list({ limit, before: pages.at(-1) });
          pages.push(...page);
          if (page.length < limit) break;
        }
        assert.deepEqual(pages, whole, `pages of ${limit}`);
      }
    });

    fact('can be narrowed by user, tenant, agent and status, and by all of them', async (log, clock) => {
      await seven(log, clock);
      added(await log.append(await leaseOn(log, 'b'), 0, [], { status: 'completed' }));
      assert.equal(await idsOf(log, { userId: 'bo' }), 'f e d');
      assert.equal(await idsOf(log, { tenant: 'ana-org' }), 'b c a');
      assert.equal(await idsOf(log, { agent: 'mail' }), 'e');
      assert.equal(await idsOf(log, { status: ['completed', 'error'] }), 'b');
      assert.equal(await idsOf(log, { status: [] }), '');
      assert.equal(
        await idsOf(log, { userId: 'ana', tenant: 'ana-org', agent: 'desk', status: ['initializing'] }),
        'c a',
      );
      assert.equal(await idsOf(log, { userId: 'ana', tenant: 'bo-org' }), '');
    });
  });

  describe(`${name}: the list, narrowed further`, () => {
    const idsOf = async (log: Log, query: Omit<Parameters<Log['list']>[0], 'limit'>) =>
      (await log.list({ limit: 100, ...query })).map((row) => row.id).join(' ');

    fact('what is stated titles a conversation once, and never one that was named', async (log) => {
      const lease = await leaseOn(log, 'c1');
      added(await log.append(lease, 0, [], { title: 'First' }));
      added(await log.append(lease, 0, [], { title: 'Second' }));
      assert.equal((await log.find('c1'))?.title, 'First');
      await log.rename('c1', 'Named');
      added(await log.append(lease, 0, [], { title: 'Third' }));
      assert.equal((await log.find('c1'))?.title, 'Named');
    });

    fact('by words of the title in any case and script', async (log) => {
      await log.create(aConversation('c2'));
      added(await log.append(await leaseOn(log, 'c1'), 0, [], { title: 'What is my EXPOSURE? 100% Ärger' }));
      for (const q of ['exposure', 'ÄRGER', '100%', ''])
        assert.equal((await idsOf(log, { q })).includes('c1'), true, q);
      for (const q of ['_', 'exposition', '%?']) assert.equal(await idsOf(log, { q }), '', q);
    });

    fact('by parent, by tree and by bundle', async (log) => {
      const child = { parent: { id: 'c1', action: 't1-1-1' }, root: 'c1', agentPath: 'desk/clerk' };
      await log.create(aConversation('k1', child));
      await log.create(aConversation('k2', { ...child, parent: { id: 'k1', action: 't1-1-1' } }));
      await log.create(aConversation('o1', { bundle: 'other@1' }));
      assert.equal(await idsOf(log, { parent: 'c1' }), 'k1');
      assert.equal(await idsOf(log, { root: 'c1' }), 'k2 k1');
      assert.equal(await idsOf(log, { top: true }), 'o1 c1');
      assert.equal(await idsOf(log, { root: 'c1', parent: 'k1', agent: 'desk' }), 'k2');
      assert.equal(await idsOf(log, { bundles: ['other@1', 'third'] }), 'o1');
      assert.equal(await idsOf(log, { bundles: [] }), '');
      assert.deepEqual((await log.find('k2'))?.parent, { id: 'k1', action: 't1-1-1' });
    });

    fact('by a label, whatever is in its name', async (log) => {
      await log.create(aConversation('l1', { metadata: { 'a.b "c"': 'one', other: 'two' } }));
      await log.create(aConversation('l2', { metadata: { 'a.b "c"': 'two' } }));
      assert.equal(await idsOf(log, { label: { name: 'a.b "c"', value: 'one' } }), 'l1');
      assert.equal(await idsOf(log, { label: { name: 'other', value: 'one' } }), '');
      assert.equal(await idsOf(log, { label: { name: 'toString', value: 'one' } }), '');
    });

    fact('archived ones are left out unless asked for', async (log, clock) => {
      await log.create(aConversation('c2'));
      clock.pass(5);
      const before = (await log.find('c1'))?.updatedAt;
      assert.equal(await log.archive('c1', true), true);
      clock.pass(5);
      assert.equal(await log.archive('c1', true), true);
      assert.equal(await idsOf(log, {}), 'c2');
      assert.equal(await idsOf(log, { archived: 'only' }), 'c1');
      assert.equal(await idsOf(log, { archived: 'any' }), 'c2 c1');
      const row = await log.find('c1');
      assert.deepEqual([row?.archivedAt, row?.updatedAt], [1_700_000_000_005, before]);
      await log.archive('c1', false);
      assert.equal(await idsOf(log, {}), 'c2 c1');
      assert.equal('archivedAt' in ((await log.find('c1')) ?? {}), false);
      assert.equal(await log.archive('nobody', true), false);
    });

    fact('a conversation that was renamed is found by its new title', async (log) => {
      assert.equal(await log.rename('c1', 'The second loom'), true);
      assert.equal(await idsOf(log, { q: 'SECOND LOOM' }), 'c1');
      assert.equal(await log.rename('nobody', 'x'), false);
    });

    fact('metadata and limits come back as they were given', async (log) => {
      const given = { metadata: { ticket: 'A-1', '': '🧵' }, limits: { maxTokens: 100, maxMoney: '0.25' } };
      await log.create(aConversation('c2', given));
      const row = await log.find('c2');
      assert.deepEqual({ metadata: row?.metadata, limits: row?.limits }, given);
    });

    fact('counts go by status, however a conversation came to it or went', async (log) => {
      for (const id of ['c2', 'c3', 'c4']) await log.create(aConversation(id));
      const lease = await leaseOn(log, 'c3');
      added(await log.append(lease, 0, [], { status: 'running' }));
      added(await log.append(lease, 0, [], { status: 'completed' }));
      added(await log.append(lease, 0, [answer('a')], { status: 'completed' }));
      await log.release(lease);
      assert.deepEqual({ ...(await log.counts()) }, { completed: 1, initializing: 3 });
      const carried = await log.carry('c3');
      await log.fork(aConversation('c5'), 'c3', 1);
      await log.remove('c3');
      await log.remove('c4');
      assert.deepEqual({ ...(await log.counts()) }, { initializing: 3 });
      if (carried !== undefined) await log.adopt(carried);
      assert.deepEqual({ ...(await log.counts()) }, { completed: 1, initializing: 3 });
    });
  });

  describe(`${name}: removing`, () => {
    fact('leaves nothing, and the id can be had anew', async (log) => {
      await log.create(aConversation('c2'));
      const large = say('x'.repeat(70_000), 'k');
      await log.post('c1', large);
      await log.post('c2', large);
      const [ref, shared] = [await log.writeBody('c1', 'mine'), await log.writeBody('c1', 'ours')];
      await log.writeBody('c2', 'ours');
      assert.equal(await log.remove('c1'), true);
      assert.equal(await log.remove('c1'), false);
      assert.equal(await log.find('c1'), undefined);
      assert.deepEqual(await log.read('c1', 0, 10), []);
      assert.deepEqual(await log.ready(10), ['c2']);
      assert.deepEqual([(await log.read('c2', 0, 10)).length, await log.readBody('c2', shared)], [1, 'ours']);
      await log.create(aConversation('c1'));
      assert.equal((await log.post('c1', say('again', 'k'))).fresh, true);
      assert.deepEqual(wordsOf(await log.read('c1', 0, 10)), ['again']);
      assert.equal(await log.readBody('c1', ref), undefined);
    });

    fact('waits for nobody: a conversation that is driven is busy', async (log, clock) => {
      const lease = await leaseOn(log, 'c1', 'worker-1', 100);
      await assert.rejects(async () => log.remove('c1'), isBusy);
      assert.notEqual(await log.find('c1'), undefined);
      clock.pass(100);
      assert.equal(await log.remove('c1'), true);
      assert.deepEqual(await log.append(lease, 0, [answer('a')]), { ok: false, reason: 'fenced' });
    });
  });

  describe(`${name}: forking`, () => {
    fact('copies facts, keys, bodies and the title up to a point, and nothing later', async (log, clock) => {
      await log.post('c1', say('x'.repeat(70_000), 'k'));
      const lease = await leaseOn(log, 'c1');
      const facts = [answer('a', { causedBy: 'c1:1', key: 'r1' }), answer('b', { key: 'r2', causedBy: 'other:1' })];
      added(await log.append(lease, 1, [...facts, answer('c')], { title: 'T', status: 'running' }));
      const ref = await log.writeBody('c1', 'body');
      clock.pass(5);
      assert.equal(await log.fork(aConversation('f1', { agentPath: 'fork', createdAt: clock.now() }), 'c1', 3), true);
      const row = await log.find('f1');
      assert.deepEqual([row?.head, row?.title, row?.status, row?.updatedAt], [3, 'T', 'initializing', clock.now()]);
      const [original, copy] = [await log.read('c1', 0, 3), await log.read('f1', 0, 10)];
      const unnamed = (list: readonly Fact[]) => list.map(({ seq, at, type, payload }) => ({ seq, at, type, payload }));
      assert.deepEqual(plain(unnamed(copy) as never), plain(unnamed(original) as never));
      assert.deepEqual([copy[1]?.id, copy[1]?.agentPath, copy[1]?.causedBy], ['f1:2', 'fork', 'f1:1']);
      assert.deepEqual([copy[2]?.causedBy, copy[2]?.conversationId], ['other:1', 'f1']);
      assert.equal(await log.readBody('f1', ref), 'body');
      assert.equal((await log.post('f1', say('again', 'k'))).fresh, false);
      assert.deepEqual(await log.ready(10), []);
      const own = await leaseOn(log, 'f1');
      assert.deepEqual(seqs(added(await log.append(own, 3, [answer('b', { key: 'r2' }), answer('d')]))), [4]);
      assert.equal((await log.find('c1'))?.head, 4);
    });

    fact('happens once, and needs something to copy', async (log) => {
      await log.post('c1', say('hello'));
      await log.create(aConversation('c2'));
      assert.equal(await log.fork(aConversation('c2'), 'c1', 1), false);
      assert.equal((await log.find('c2'))?.head, 0);
      await assert.rejects(async () => log.fork(aConversation('c3'), 'nobody', 1), isUnknownConversation);
      assert.equal(await log.find('c3'), undefined);
    });

    fact('is a conversation of its own: the original can go', async (log) => {
      await log.post('c1', say('x'.repeat(70_000)));
      const ref = await log.writeBody('c1', 'body');
      await log.fork(aConversation('f1'), 'c1', 1);
      await log.remove('c1');
      assert.equal((await log.read('f1', 0, 10)).length, 1);
      assert.equal(await log.readBody('f1', ref), 'body');
    });
  });

  describe(`${name}: facts`, () => {
    fact('get gapless sequence numbers from 1, ids, and the time of the log', async (log, clock) => {
      await log.post('c1', say('hello'));
      clock.pass(7);
      const facts = added(await log.append(await leaseOn(log, 'c1'), 1, [answer('a'), answer('b')]));
      assert.deepEqual(
        facts.map(({ seq, id, at, v }) => [seq, id, at, v]),
        [
          [2, 'c1:2', 1_700_000_000_007, 1],
          [3, 'c1:3', 1_700_000_000_007, 1],
        ],
      );
    });

    fact('are read back as they were answered', async (log) => {
      const input = await log.post('c1', say('hello', 'k1'));
      const envelope = { turnId: 't12', iteration: 3, causedBy: 'c1:1', source: 'gate.approval' };
      const odd = { turnId: 'turn x', iteration: 1.5, causedBy: 'elsewhere:9', source: 'a\u0000b' };
      const drafts = [answer('a', envelope), answer('b', odd), answer('c', { causedBy: 'c1:01', turnId: 't0' })];
      const facts = added(await log.append(await leaseOn(log, 'c1'), 1, drafts));
      assert.deepEqual(plain(await log.read('c1', 0, 10)), plain([input.fact, ...facts]));
      const { turnId, iteration, causedBy, source, agentPath, conversationId } = facts[0]!;
      assert.deepEqual({ turnId, iteration, causedBy, source }, envelope);
      assert.deepEqual([conversationId, agentPath], ['c1', 'desk']);
    });

    fact('keep the hash of an action’s arguments, whether or not it is theirs', async (log) => {
      const invoke = (argumentHash: string): Draft => ({
        type: 'tool.invoke',
        payload: { action: 't1-1-1', name: 'mail', arguments: { to: 'bo', n: 1.5 }, argumentHash, effect: 'once' },
      });
      const right = sha256('{"n":1.5,"to":"bo"}');
      added(await log.append(await leaseOn(log, 'c1'), 0, [invoke(right), invoke('other')]));
      const facts = await log.read('c1', 0, 10);
      assert.deepEqual(
        facts.map((one) => one.type === 'tool.invoke' && one.payload.argumentHash),
        [right, 'other'],
      );
    });

    fact('of one append are stored all or none', async (log) => {
      const lease = await leaseOn(log, 'c1');
      await log.post('c1', say('in between'));
      const drafts = Array.from({ length: 20 }, (_, index) => answer(String(index)));
      assert.deepEqual(await log.append(lease, 0, drafts), { ok: false, reason: 'moved' });
      assert.deepEqual(seqs(await log.read('c1', 0, 100)), [1]);
      assert.equal(added(await log.append(lease, 1, drafts)).length, 20);
    });

    fact('of one conversation are not those of another', async (log) => {
      await log.create(aConversation('c2', { agentPath: 'desk/clerk' }));
      await log.post('c1', say('one'));
      await log.post('c2', say('two'));
      assert.deepEqual(wordsOf(await log.read('c1', 0, 10)), ['one']);
      const [other] = await log.read('c2', 0, 10);
      assert.deepEqual([other?.agentPath, other?.seq, other?.id], ['desk/clerk', 1, 'c2:1']);
    });

    fact('come in pages that concatenate to the whole, for every page size', async (log) => {
      const drafts = Array.from({ length: 23 }, (_, index) => answer(String(index)));
      added(await log.append(await leaseOn(log, 'c1'), 0, drafts));
      const whole = await log.read('c1', 0, 1000);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 25 }), async (size, start) => {
          const pages: Fact[] = [];
          for (;;) {
            const page = await log.read('c1', pages.at(-1)?.seq ?? start, size);
            pages.push(...page);
            if (page.length < size) break;
          }
          assert.deepEqual(pages, whole.slice(start));
        }),
      );
    });

    fact('after the head, and at most none of them, are none', async (log) => {
      await log.post('c1', say('hello'));
      assert.deepEqual(await log.read('c1', 1, 10), []);
      assert.deepEqual(await log.read('c1', 99, 10), []);
      assert.deepEqual(await log.read('c1', 0, 0), []);
    });

    fact('keep any text: NUL, quotes, astral characters, right-to-left, lone surrogates', async (log) => {
      const texts = [
        '\u0000',
        'a\u0000b',
        '🧵👩🏽‍🌾',
        '𝔘𝔫𝔦',
        'שלום',
        '"\\\n\u2028',
        "'; DROP TABLE facts; --",
        '\ud83e',
        '',
      ];
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.constantFrom(...texts), fc.string({ unit: 'binary' })), async (text) => {
          const { fact: stated } = await log.post('c1', say(text));
          const [read] = await log.read('c1', stated.seq - 1, 1);
          assert.deepEqual(read?.payload, { text, mode: 'message' });
        }),
      );
    });

    fact('keep any JSON a tool may return', async (log) => {
      await fc.assert(
        fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (value) => {
          const payload = { action: 'a', outcome: 'ok' as const, value: JSON.parse(JSON.stringify(value)) as never };
          const { fact: stated } = await log.post('c1', { type: 'tool.result', payload });
          const [read] = await log.read('c1', stated.seq - 1, 1);
          assert.deepEqual(plain([read!]), plain([stated]));
        }),
        { numRuns: 50 },
      );
    });

    fact('may be megabytes large', async (log) => {
      const sizes = [65_000, 65_536, 70_000, 3_000_000];
      const drafts = sizes.map((size) => answer(`${'é🧵\u0000'.repeat(size / 8)}${size}`));
      added(await log.append(await leaseOn(log, 'c1'), 0, [...drafts, drafts[3]!]));
      const facts = await log.read('c1', 0, 10);
      assert.deepEqual(
        facts.map((one) => sha256(JSON.stringify(one.payload))),
        [...drafts, drafts[3]!].map((one) => sha256(JSON.stringify(one.payload))),
      );
    });
  });

  describe(`${name}: keys`, () => {
    fact('a second post with a type and key is the first again', async (log, clock) => {
      const first = await log.post('c1', say('hello', 'k'));
      clock.pass(1);
      const second = await log.post('c1', say('something else', 'k'));
      assert.deepEqual([first.fresh, second.fresh], [true, false]);
      assert.deepEqual(plain([second.fact]), plain([first.fact]));
      assert.equal((await log.find('c1'))?.head, 1);
    });

    fact('the same key of another type or another conversation is another key', async (log) => {
      await log.create(aConversation('c2'));
      await log.post('c1', say('hello', 'k'));
      assert.equal((await log.post('c1', answer('hello', { key: 'k' }))).fresh, true);
      assert.equal((await log.post('c2', say('hello', 'k'))).fresh, true);
    });

    fact('facts without a key are never the same', async (log) => {
      assert.equal((await log.post('c1', say('hello'))).fresh, true);
      assert.equal((await log.post('c1', say('hello'))).fresh, true);
    });

    fact('an append leaves out what is there already, also twice in itself', async (log) => {
      await log.post('c1', say('hello', 'k'));
      const drafts = [answer('a', { key: 'x' }), say('again', 'k'), answer('b', { key: 'x' }), answer('c')];
      const lease = await leaseOn(log, 'c1');
      const facts = added(await log.append(lease, 1, drafts));
      assert.deepEqual(wordsOf(facts), ['a', 'c']);
      assert.deepEqual(seqs(await log.read('c1', 0, 10)), [1, 2, 3]);
      assert.deepEqual(added(await log.append(lease, 3, [answer('d', { key: 'x' })])), []);
    });

    fact('a key that was posted during a lease is one for the holder too', async (log) => {
      const lease = await leaseOn(log, 'c1');
      await log.post('c1', answer('theirs', { key: 'r1' }));
      assert.deepEqual(await log.append(lease, 0, [answer('ours', { key: 'r1' })]), { ok: false, reason: 'moved' });
      assert.deepEqual(added(await log.append(lease, 1, [answer('ours', { key: 'r1' })])), []);
    });
  });

  describe(`${name}: leases`, () => {
    fact('one owner holds a conversation at a time', async (log, clock) => {
      const lease = await leaseOn(log, 'c1', 'worker-1', 100);
      assert.deepEqual(lease, { conversationId: 'c1', owner: 'worker-1', epoch: 1, until: clock.now() + 100 });
      assert.equal(await log.take('c1', 'worker-2', 100), undefined);
      clock.pass(99);
      assert.equal(await log.take('c1', 'worker-2', 100), undefined);
      clock.pass(1);
      assert.equal((await leaseOn(log, 'c1', 'worker-2', 100)).epoch, 2);
    });

    fact('a lease that was let go is free at once', async (log) => {
      await log.release(await leaseOn(log, 'c1', 'worker-1'));
      assert.equal((await leaseOn(log, 'c1', 'worker-2')).epoch, 2);
    });

    fact('taking it again as the same owner fences the lease before', async (log) => {
      const before = await leaseOn(log, 'c1');
      const again = await leaseOn(log, 'c1');
      assert.equal(again.epoch, before.epoch + 1);
      assert.deepEqual(await log.append(before, 0, [answer('a')]), { ok: false, reason: 'fenced' });
      added(await log.append(again, 0, [answer('a')]));
    });

    fact('a holder whose conversation was taken over can do nothing any more', async (log, clock) => {
      const lost = await leaseOn(log, 'c1', 'worker-1', 100);
      clock.pass(100);
      const taken = await leaseOn(log, 'c1', 'worker-2', 100);
      assert.deepEqual(await log.append(lost, 0, [answer('a')]), { ok: false, reason: 'fenced' });
      assert.deepEqual(await log.append(lost, 0, [], { status: 'error' }), { ok: false, reason: 'fenced' });
      assert.equal(await log.renew(lost, 1000), undefined);
      await log.release(lost);
      assert.equal(await log.take('c1', 'worker-3', 100), undefined);
      added(await log.append(taken, 0, [answer('b')]));
      assert.equal((await log.find('c1'))?.status, 'initializing');
    });

    fact('fenced is said before moved, for who is fenced must stop', async (log) => {
      const lost = await leaseOn(log, 'c1');
      await leaseOn(log, 'c1');
      await log.post('c1', say('hello'));
      assert.deepEqual(await log.append(lost, 0, [answer('a')]), { ok: false, reason: 'fenced' });
    });

    fact('a lease that ran out and that nobody took still counts', async (log, clock) => {
      const lease = await leaseOn(log, 'c1', 'worker-1', 100);
      clock.pass(1000);
      added(await log.append(lease, 0, [answer('a')]));
      assert.equal((await log.renew(lease, 100))?.until, clock.now() + 100);
      assert.equal(await log.take('c1', 'worker-2', 100), undefined);
    });

    fact('a lease that was let go does not count', async (log) => {
      const lease = await leaseOn(log, 'c1');
      await log.release(lease);
      assert.deepEqual(await log.append(lease, 0, [answer('a')]), { ok: false, reason: 'fenced' });
      assert.equal(await log.renew(lease, 1000), undefined);
    });

    fact('renewing moves the end and nothing else', async (log, clock) => {
      const lease = await leaseOn(log, 'c1', 'worker-1', 100);
      clock.pass(50);
      assert.deepEqual(await log.renew(lease, 100), { ...lease, until: clock.now() + 100 });
      clock.pass(99);
      assert.equal(await log.take('c1', 'worker-2', 100), undefined);
      added(await log.append(lease, 0, [answer('a')]));
    });

    fact('of appends that race from one head, exactly one wins', async (log) => {
      const lease = await leaseOn(log, 'c1');
      const race = Array.from({ length: 20 }, (_, index) => log.append(lease, 0, [answer(String(index))]));
      const results = await all(race);
      assert.equal(results.filter((result) => result.ok).length, 1);
      assert.ok(results.every((result) => result.ok || result.reason === 'moved'));
      assert.deepEqual(seqs(await log.read('c1', 0, 100)), [1]);
    });

    fact('posts and appends that race lose nothing', async (log) => {
      const lease = await leaseOn(log, 'c1');
      const posts = Array.from({ length: 50 }, (_, index) => log.post('c1', say(`p${index}`)));
      let head = 0;
      for (let count = 0; count < 20;) {
        const result = await log.append(lease, head, [answer(`a${count}`)]);
        if (result.ok) count++;
        head = (await log.find('c1'))!.head;
      }
      await all(posts);
      const facts = await log.read('c1', 0, 100);
      assert.deepEqual(
        seqs(facts),
        Array.from({ length: 70 }, (_, index) => index + 1),
      );
      assert.equal(new Set(wordsOf(facts)).size, 70);
    });

    fact('appends to many conversations at once each have their own outcome', async (log) => {
      const ids = Array.from({ length: 30 }, (_, index) => `m${index}`);
      for (const id of ids) await log.create(aConversation(id));
      const leases = await all(ids.map((id) => leaseOn(log, id)));
      await leaseOn(log, 'm7');
      await log.post('m8', say('first'));
      const results = await all(leases.map((lease) => log.append(lease, 0, [answer(lease.conversationId)])));
      const refused = results.flatMap((result, index) => (result.ok ? [] : [`${ids[index] ?? ''} ${result.reason}`]));
      assert.deepEqual(refused, ['m7 fenced', 'm8 moved']);
      assert.deepEqual(wordsOf(await log.read('m29', 0, 10)), ['m29']);
    });
  });

  describe(`${name}: what is ready`, () => {
    const settle = async (log: Log, lease: Lease, head: number): Promise<void> => {
      added(await log.append(lease, head, [], { status: 'completed' }));
      await log.release(lease);
    };

    fact('a conversation nobody spoke in is not', async (log) => {
      assert.deepEqual(await log.ready(10), []);
    });

    fact('a conversation somebody spoke in is, until it was dealt with', async (log) => {
      await log.post('c1', say('hello'));
      assert.deepEqual(await log.ready(10), ['c1']);
      const lease = await leaseOn(log, 'c1');
      assert.deepEqual(await log.ready(10), []);
      await settle(log, lease, 1);
      assert.deepEqual(await log.ready(10), []);
    });

    fact('the longest waiting comes first, and no more than asked for', async (log, clock) => {
      for (const id of ['z', 'y', 'x']) {
        await log.create(aConversation(id));
        clock.pass(1);
        await log.post(id, say('hello'));
      }
      clock.pass(1);
      await log.post('z', say('again'));
      assert.deepEqual(await log.ready(10), ['z', 'y', 'x']);
      assert.deepEqual(await log.ready(2), ['z', 'y']);
    });

    fact('a message during a lease is ready again after it', async (log) => {
      await log.post('c1', say('hello'));
      const lease = await leaseOn(log, 'c1');
      added(await log.append(lease, 1, [answer('a')], { status: 'completed' }));
      await log.post('c1', say('one more thing'));
      assert.deepEqual(await log.ready(10), []);
      await log.release(lease);
      assert.deepEqual(await log.ready(10), ['c1']);
      await settle(log, await leaseOn(log, 'c1'), 3);
      assert.deepEqual(await log.ready(10), []);
    });

    fact('a message during a lease that its holder has seen is not', async (log) => {
      const lease = await leaseOn(log, 'c1');
      await log.post('c1', say('hello'));
      await settle(log, lease, 1);
      assert.deepEqual(await log.ready(10), []);
    });

    fact('a message before the lease counts as seen, even when nothing came of it', async (log) => {
      await log.post('c1', say('hello'));
      await log.release(await leaseOn(log, 'c1'));
      assert.deepEqual(await log.ready(10), []);
    });

    fact('a holder that died leaves its work to the next', async (log, clock) => {
      await log.post('c1', say('hello'));
      const lease = await leaseOn(log, 'c1', 'worker-1', 100);
      added(await log.append(lease, 1, [answer('a')], { status: 'running' }));
      assert.deepEqual(await log.ready(10), []);
      clock.pass(100);
      assert.deepEqual(await log.ready(10), ['c1']);
      const next = await leaseOn(log, 'c1', 'worker-2', 100);
      assert.deepEqual(await log.ready(10), []);
      await settle(log, next, 2);
      assert.deepEqual(await log.ready(10), []);
    });

    fact('a holder that stopped half way leaves its work to the next', async (log) => {
      const lease = await leaseOn(log, 'c1');
      added(await log.append(lease, 0, [answer('a')], { status: 'running' }));
      await log.release(lease);
      assert.deepEqual(await log.ready(10), ['c1']);
    });

    fact('a holder that says it is not finished leaves its work to the next', async (log) => {
      await log.post('c1', say('hello'));
      await log.release(await leaseOn(log, 'c1'), { unfinished: true });
      assert.deepEqual(await log.ready(10), ['c1']);
      await log.release(await leaseOn(log, 'c1'), { unfinished: false });
      assert.deepEqual(await log.ready(10), []);
    });

    fact('a run that waits for a person is not', async (log, clock) => {
      await log.post('c1', say('hello'));
      const lease = await leaseOn(log, 'c1', 'worker-1', 100);
      added(await log.append(lease, 1, [answer('a')], { status: 'pending_action_approval' }));
      await log.release(lease);
      clock.pass(1_000_000);
      assert.deepEqual(await log.ready(10), []);
      await log.post('c1', say('approved'));
      assert.deepEqual(await log.ready(10), ['c1']);
    });

    const some = async (log: Log, clock: StillClock, names: Readonly<Record<string, number>>): Promise<void> => {
      for (const [name, count] of Object.entries(names)) {
        const [tenant = '', userId = ''] = name.split('/');
        for (let index = 1; index <= count; index++) {
          await log.create(aConversation(`${userId}${index}`, { tenant, userId }));
          clock.pass(1);
          await log.post(`${userId}${index}`, say('hello'));
        }
      }
    };

    fact('with shares, a tenant that has much waiting keeps none of the others waiting', async (log, clock) => {
      await some(log, clock, { 'big/a': 20, 'small/b': 2, 'tiny/d': 1 });
      assert.deepEqual(await log.ready(5, { shares: {} }), ['a1', 'b1', 'd1', 'a2', 'b2']);
      await leaseOn(log, 'a1');
      await leaseOn(log, 'a2');
      assert.deepEqual(await log.ready(4, { shares: {} }), ['b1', 'd1', 'b2', 'a3']);
    });

    fact('with shares, what would be more than one is left out, until there is room', async (log, clock) => {
      await some(log, clock, { 'big/a': 5, 'big/b': 2, 'small/d': 3 });
      assert.deepEqual(await log.ready(10, { shares: { perUser: 1 } }), ['a1', 'd1', 'b1']);
      assert.deepEqual(await log.ready(10, { shares: { perTenant: 2 } }), ['a1', 'd1', 'a2', 'd2']);
      const lease = await leaseOn(log, 'a1', 'worker-1', 100);
      assert.deepEqual(await log.ready(10, { shares: { perUser: 1 } }), ['d1', 'b1']);
      assert.deepEqual(await log.ready(1, { shares: { perUser: 1, perTenant: 1 } }), ['d1']);
      await settle(log, lease, 1);
      assert.deepEqual(await log.ready(10, { shares: { perUser: 1 } }), ['a2', 'd1', 'b1']);
    });

    fact('with shares, a lease that ran out takes no room, and a time that has come counts', async (log, clock) => {
      await some(log, clock, { 'big/a': 2 });
      const lease = await leaseOn(log, 'a1', 'worker-1', 100);
      added(await log.append(lease, 1, [], { status: 'pending_action_approval' }));
      await log.release(lease, { continueAt: clock.now() + 50 });
      await leaseOn(log, 'a2', 'worker-1', 50);
      assert.deepEqual(await log.ready(10, { shares: { perTenant: 1 } }), []);
      clock.pass(50);
      assert.deepEqual(await log.ready(10, { shares: { perTenant: 1 } }), ['a2']);
      assert.deepEqual(await log.ready(10, { shares: { perTenant: 2 } }), ['a2', 'a1']);
    });

    fact('a second post with the same key wakes nobody', async (log) => {
      await log.post('c1', say('hello', 'k'));
      await settle(log, await leaseOn(log, 'c1'), 1);
      await log.post('c1', say('hello', 'k'));
      assert.deepEqual(await log.ready(10), []);
    });
  });

  describe(`${name}: what becomes ready by itself`, () => {
    const park = async (log: Log, id: string, continueAt: number): Promise<void> => {
      const lease = await leaseOn(log, id);
      const head = (await log.find(id))?.head ?? 0;
      added(await log.append(lease, head, [], { status: 'pending_action_approval' }));
      await log.release(lease, { continueAt });
    };

    fact('a conversation let go with a time is ready at that time, and not before', async (log, clock) => {
      await park(log, 'c1', clock.now() + 100);
      clock.pass(99);
      assert.deepEqual([await log.ready(10), await log.due()], [[], clock.now() + 1]);
      clock.pass(1);
      assert.deepEqual(await log.ready(10), ['c1']);
      await log.release(await leaseOn(log, 'c1'));
      assert.deepEqual([await log.ready(10), await log.due()], [[], undefined]);
    });

    fact('a fact from outside makes it ready sooner, and taking it takes the time back', async (log, clock) => {
      await park(log, 'c1', clock.now() + 100);
      await log.post('c1', say('approved'));
      assert.deepEqual(await log.ready(10), ['c1']);
      await log.release(await leaseOn(log, 'c1'));
      clock.pass(100);
      assert.deepEqual(await log.ready(10), []);
    });

    fact('a run at work that is let go with a time rests until then', async (log, clock) => {
      const lease = await leaseOn(log, 'c1');
      added(await log.append(lease, 0, [answer('a')], { status: 'running' }));
      await log.release(lease, { continueAt: clock.now() + 100 });
      assert.deepEqual(await log.ready(10), []);
      clock.pass(100);
      assert.deepEqual(await log.ready(10), ['c1']);
    });

    fact('a message that the holder did not see does not wait for that time', async (log, clock) => {
      const lease = await leaseOn(log, 'c1');
      await log.post('c1', say('hello'));
      await log.release(lease, { continueAt: clock.now() + 100 });
      assert.deepEqual(await log.ready(10), ['c1']);
    });

    fact('the longest waiting comes first, whatever made it ready', async (log, clock) => {
      for (const id of ['a', 'b']) await log.create(aConversation(id));
      await park(log, 'c1', clock.now() + 10);
      clock.pass(5);
      await log.post('a', say('hello'));
      clock.pass(10);
      await log.post('b', say('hello'));
      assert.deepEqual(await log.ready(10), ['a', 'c1', 'b']);
      assert.deepEqual(await log.ready(2), ['a', 'c1']);
      assert.equal(await log.oldestReady(), clock.now() - 10);
    });

    fact('runs of other bundles neither come up nor stand in the way', async (log, clock) => {
      for (const id of ['x', 'y', 'z']) {
        await log.create(aConversation(id, { bundle: 'other@1' }));
        await log.post(id, say('hello'));
      }
      await park(log, 'x', clock.now() + 1);
      await park(log, 'c1', clock.now() + 10);
      assert.equal(await log.due({ bundles: ['workspace@1'] }), clock.now() + 10);
      clock.pass(10);
      assert.deepEqual(await log.ready(1, { bundles: ['workspace@1'] }), ['c1']);
      assert.deepEqual(await log.ready(10, { bundles: [] }), []);
      assert.equal((await log.ready(10)).length, 4);
    });

    fact('the end of a lease is a time to look again', async (log, clock) => {
      await leaseOn(log, 'c1', 'worker-1', 100);
      assert.equal(await log.due(), clock.now() + 100);
      assert.equal(await log.oldestReady(), undefined);
    });

    fact('whoever waits for work is told of it', async (log, clock) => {
      let told = 0;
      const leave = log.onWork(() => told++);
      await log.post('c1', say('hello'));
      assert.equal(told, 1);
      const lease = await leaseOn(log, 'c1');
      added(await log.append(lease, 1, [answer('a')], { status: 'completed' }));
      await log.release(lease);
      assert.equal(told, 1);
      await park(log, 'c1', clock.now() + 100);
      assert.equal(told, 2);
      leave();
      leave();
      await log.post('c1', say('hello'));
      assert.equal(told, 2);
    });
  });

  describe(`${name}: watching`, () => {
    fact('tells of what was appended and posted here, and not of other conversations', async (log) => {
      await log.create(aConversation('c2'));
      const heard: number[] = [];
      const unwatch = log.watch('c1', () => heard.push(heard.length));
      const lease = await leaseOn(log, 'c1');
      added(await log.append(lease, 0, [answer('a')]));
      assert.equal(heard.length, 1);
      await log.post('c1', say('b'));
      assert.equal(heard.length, 2);
      await log.post('c2', say('c'));
      assert.equal(heard.length, 2);
      unwatch();
      unwatch();
      await log.post('c1', say('d'));
      assert.equal(heard.length, 2);
    });

    fact('tells after the fact can be read', async (log) => {
      const rows: MaybePromise<{ readonly head: number } | undefined>[] = [];
      const unwatch = log.watch('c1', () => rows.push(log.find('c1')));
      await log.post('c1', say('a'));
      unwatch();
      assert.deepEqual(
        (await all(rows)).map((row) => row?.head),
        [1],
      );
    });

    fact('is not silenced by a watcher that throws or leaves while it is told', async (log) => {
      let heard = 0;
      const leave = log.watch('c1', () => {
        leave();
        throw new Error('not today');
      });
      const unwatch = log.watch('c1', () => heard++);
      assert.equal((await log.post('c1', say('a'))).fresh, true);
      await log.post('c1', say('b'));
      assert.equal(heard, 2);
      unwatch();
    });
  });

  describe(`${name}: moving`, () => {
    fact('a conversation that is carried off and adopted again is as it was', async (log, clock) => {
      const child = {
        parent: { id: 'p1', action: 't1-1-1' },
        root: 'p1',
        metadata: { a: '1' },
        limits: { maxTokens: 5 },
      };
      await log.create(aConversation('c2', child));
      await log.post('c2', say('x'.repeat(70_000), 'k'));
      const lease = await leaseOn(log, 'c2', 'worker-1', 100);
      const odd = { turnId: 'turn x', iteration: 3, causedBy: 'c2:1', source: 'a\u0000b', key: 'r\u0000' };
      added(await log.append(lease, 1, [answer('a', odd)], { title: 'T', status: 'pending_action_approval' }));
      await assert.rejects(async () => log.carry('c2'), isBusy);
      const ref = await log.writeBody('c2', 'body\u0000');
      await log.release(lease, { continueAt: clock.now() + 50 });
      await log.archive('c2', true);
      const [row, facts, carried] = [await log.find('c2'), await log.read('c2', 0, 10), await log.carry('c2')];
      await log.remove('c2');
      clock.pass(5);
      assert.equal(await log.adopt(carried!), true);
      assert.equal(await log.adopt(carried!), false);
      assert.deepEqual(await log.find('c2'), row);
      assert.deepEqual(plain(await log.read('c2', 0, 10)), plain(facts));
      assert.deepEqual(await log.carry('c2'), carried);
      assert.equal(await log.readBody('c2', ref), 'body\u0000');
      assert.equal((await log.post('c2', answer('again', { key: 'r\u0000' }))).fresh, false);
      assert.deepEqual([await log.ready(10), await log.due()], [[], clock.now() + 45]);
      clock.pass(45);
      assert.deepEqual(await log.ready(10), ['c2']);
    });

    fact('one that had work has it where it comes to', async (log) => {
      await log.post('c1', say('hello'));
      const carried = await log.carry('c1');
      await log.remove('c1');
      await log.adopt(carried!);
      assert.deepEqual(await log.ready(10), ['c1']);
      assert.deepEqual(seqs(added(await log.append(await leaseOn(log, 'c1'), 1, [answer('a')]))), [2]);
      assert.equal(await log.carry('nobody'), undefined);
    });
  });

  describe(`${name}: bodies`, () => {
    fact('are kept under their SHA-256, once', async (log) => {
      const body = `${'x'.repeat(100_000)}\u0000🧵`;
      assert.equal(await log.writeBody('c1', body), sha256(body));
      assert.equal(await log.writeBody('c1', body), sha256(body));
      assert.equal(await log.readBody('c1', sha256(body)), body);
      assert.equal(await log.writeBody('c1', ''), sha256(''));
      assert.equal(await log.readBody('c1', sha256('')), '');
    });

    fact('of one conversation cannot be read from another', async (log) => {
      await log.create(aConversation('c2'));
      const ref = await log.writeBody('c1', 'secret');
      assert.equal(await log.readBody('c2', ref), undefined);
      await log.writeBody('c2', 'secret');
      assert.equal(await log.readBody('c2', ref), 'secret');
    });

    fact('that were never written are undefined', async (log) => {
      for (const ref of [sha256('x'), 'not a hash', '']) assert.equal(await log.readBody('c1', ref), undefined);
    });
  });

  if (reopen === undefined) return;
  describe(`${name}: opened again`, () => {
    fact('everything is as it was', async (log, clock) => {
      const input = await log.post('c1', say('hello', 'k'));
      const lease = await leaseOn(log, 'c1', 'worker-1', 100);
      const facts = added(await log.append(lease, 1, [answer('a'), answer('b')], { title: 'T', status: 'running' }));
      const ref = await log.writeBody('c1', 'body');
      const row = await log.find('c1');
      await log.close();
      const again = await reopen(log, clock);
      try {
        assert.deepEqual(await again.find('c1'), row);
        assert.deepEqual(plain(await again.read('c1', 0, 10)), plain([input.fact, ...facts]));
        assert.equal(await again.readBody('c1', ref), 'body');
        assert.equal((await again.post('c1', say('hello', 'k'))).fresh, false);
        assert.equal(await again.take('c1', 'worker-2', 100), undefined);
        added(await again.append(lease, 3, [answer('c')]));
        clock.pass(100);
        assert.deepEqual(await again.ready(10), ['c1']);
      } finally {
        await again.close();
      }
    });

    fact('a log that was closed says so', async (log) => {
      await log.close();
      const isClosed = (problem: unknown) => TreadleError.is(problem) && problem.code === 'log_unavailable';
      await assert.rejects(async () => log.find('c1'), isClosed);
      await assert.rejects(async () => log.post('c1', say('x')), isClosed);
      await assert.rejects(async () => log.take('c1', 'worker-1', 1), isClosed);
      await log.close();
    });
  });
}

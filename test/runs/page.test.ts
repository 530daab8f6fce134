// Pages of real runs: what they say of the run, and how they hold against growth and edits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Draft } from '../../src/domain/event.ts';
import { ana, withHost } from './a-host.ts';

/** Facts of a run that somebody else drives. */
async function facts(
  log: { post(id: string, draft: Draft): unknown },
  id: string,
  drafts: readonly Draft[],
): Promise<void> {
  for (const draft of drafts) await log.post(id, draft);
}

const said = (text: string): Draft => ({ type: 'io.input', payload: { text, mode: 'message' } });

test('pages of one walk 120 messages without loss or repeat; fifty are a page', () =>
  withHost({ drives: false }, async ({ host, log }) => {
    const { run } = await host.runs.create(ana, { prompt: 'word 0' });
    await facts(
      log,
      run.id,
      Array.from({ length: 119 }, (_, index) => said(`word ${index + 1}`)),
    );
    assert.equal((await host.runs.events(ana, run.id)).events.length, 50);
    const texts: string[] = [];
    let cursor: string | undefined;
    for (let hasMore = true; hasMore;) {
      const page = await host.runs.events(ana, run.id, { limit: 1, cursor });
      texts.push(...page.events.map(({ text }) => text));
      ({ hasMore, nextCursor: cursor } = page);
    }
    assert.deepEqual(
      texts,
      Array.from({ length: 120 }, (_, index) => `word ${index}`),
    );
    const down = await host.runs.events(ana, run.id, { order: 'desc', limit: 2 });
    assert.deepEqual(
      down.events.map(({ text }) => text),
      ['word 119', 'word 118'],
    );
  }));

test('a limit out of range is refused, and so is a cursor of another run, order or view', () =>
  withHost({ drives: false }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'one' });
    const { run: other } = await host.runs.create(ana, { prompt: 'two' });
    for (const limit of [0, -1, 101, 1.5, NaN])
      await assert.rejects(host.runs.events(ana, run.id, { limit }), { code: 'invalid_request' });
    const { nextCursor } = await host.runs.events(ana, run.id);
    await assert.rejects(host.runs.events(ana, other.id, { cursor: nextCursor }), { code: 'invalid_cursor' });
    await assert.rejects(host.runs.events(ana, run.id, { cursor: nextCursor, order: 'desc' }), {
      code: 'invalid_request',
    });
    await assert.rejects(host.runs.events(ana, run.id, { cursor: nextCursor, view: 'messages' }), {
      code: 'invalid_request',
    });
    assert.deepEqual((await host.runs.list(ana)).runs.length, 2);
  }));

test('an empty page has a cursor that brings what comes later', () =>
  withHost({ drives: false }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'one' });
    const first = await host.runs.events(ana, run.id);
    const empty = await host.runs.events(ana, run.id, { cursor: first.nextCursor });
    assert.deepEqual([empty.events, empty.hasMore], [[], false]);
    await host.runs.say(ana, run.id, { content: 'two' });
    const later = await host.runs.events(ana, run.id, { cursor: empty.nextCursor });
    assert.deepEqual([later.events.map(({ text }) => text), later.supersededFirst], [['two'], false]);
  }));

test('an action that changes behind a reader reaches it, once, and says that it supersedes', () =>
  withHost(
    { script: [{ actions: [{ name: 'mail', arguments: { to: 'Bo' } }] }, { text: 'Mailed.' }] },
    async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Mail.' });
      await until(run.id, ({ requests }) => requests.length === 1);
      const before = await host.runs.events(ana, run.id, { view: 'messages' });
      assert.deepEqual(before.pendingApproval, { kind: 'action' });
      assert.deepEqual([before.needsInput, before.terminal], [false, false]);
      await host.runs.approve(ana, run.id);
      await until(run.id, ({ terminal }) => terminal);
      const after = await host.runs.events(ana, run.id, { cursor: before.nextCursor });
      assert.deepEqual(
        after.events.map(({ role }) => role),
        ['action', 'assistant', 'end'],
      );
      assert.deepEqual(
        [after.events[0]?.id, after.supersededFirst, after.terminal],
        [before.events[1]?.id, true, true],
      );
      assert.ok(!('pendingApproval' in after) && after.version > before.version);
      assert.equal(after.version, (await host.runs.snapshot(ana, run.id)).version);
    },
  ));

test('a terminal run of more than a page says both, and the next page has the rest', () =>
  withHost({}, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Do it.' });
    await until(run.id, ({ terminal }) => terminal);
    const { events } = await host.runs.events(ana, run.id);
    const first = await host.runs.events(ana, run.id, { limit: events.length - 1 });
    assert.deepEqual([first.terminal, first.hasMore], [true, true]);
    const rest = await host.runs.events(ana, run.id, { cursor: first.nextCursor });
    assert.deepEqual([rest.events.map(({ role }) => role), rest.hasMore], [['end'], false]);
  }));

test('taking a run over is not progress', () =>
  withHost({ drives: false }, async ({ host, log }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Do it.' });
    const before = await host.runs.snapshot(ana, run.id);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const lease = await log.take(run.id, 'w', 60_000);
    await log.renew(lease!, 60_000);
    await facts(log, run.id, [{ type: 'agent.turn.start', payload: { digest: 'd', resumed: true } }]);
    assert.equal((await host.runs.snapshot(ana, run.id)).lastProgressAt, before.lastProgressAt);
  }));

test('an entry that is too large for a page says so and where it is, under the digest of the whole', () =>
  withHost({ drives: false }, async ({ host, log }) => {
    const { run } = await host.runs.create(ana, { prompt: 'x' });
    const large = (end: string): Draft => ({
      type: 'skill.loaded',
      payload: { name: `s${'y'.repeat(1_100_000)}${end}`, text: '' },
    });
    await facts(log, run.id, [large('1'), large('2')]);
    const { events } = await host.runs.events(ana, run.id);
    const [, first, second] = events;
    assert.ok(JSON.stringify(first).length < 100_000);
    assert.deepEqual(first?.data, { oversize: { bytes: 1_100_040, log: { after: 1 } } });
    assert.notEqual(first.digest, second?.digest);
    const {
      facts: [fact],
    } = await host.runs.log(ana, run.id, { after: 1, limit: 1 });
    assert.equal(fact?.type === 'skill.loaded' && fact.payload.name.length, 1_100_002);
  }));

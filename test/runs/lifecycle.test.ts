// Runs from their first word to their removal, and what repetitions and crashes in between leave of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../src/kernel/log.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { removeOld } from '../../src/platform/runs/retention.ts';
import { aBundle, aCaller, ana, withHost } from './a-host.ts';

test('the same key begins one run, however often and from wherever it is asked for', () =>
  withHost({}, async ({ host, another }) => {
    const other = await another();
    const request = { prompt: 'Do it.', key: 'k1', metadata: { order: '7' } };
    const made = await Promise.all([host.runs.create(ana, request), other.runs.create(ana, request)]);
    const again = await host.runs.create(ana, request);
    assert.equal(new Set([...made, again].map(({ run }) => run.id)).size, 1);
    assert.deepEqual([made.filter(({ fresh }) => fresh).length, again.fresh], [1, false]);
    assert.deepEqual(again.run.metadata, { order: '7' });
    await assert.rejects(host.runs.create(ana, { ...request, prompt: 'Do more.' }), { code: 'idempotency_conflict' });
    const bo = aCaller({ userId: 'bo' });
    assert.notEqual((await host.runs.create(bo, request)).run.id, again.run.id);
  }));

test('a creation that a crash cut in half is finished by the repetition', async () => {
  const log = createMemoryLog({ clock: systemClock });
  let dies = true;
  const dying: Log = {
    ...log,
    post(id, draft) {
      if (dies) throw new Error('the power is gone');
      return log.post(id, draft);
    },
  };
  await withHost({ log: dying }, async ({ host, until }) => {
    await assert.rejects(host.runs.create(ana, { prompt: 'Do it.', key: 'k1' }), /power/);
    dies = false;
    const { run } = await host.runs.create(ana, { prompt: 'Do it.', key: 'k1' });
    const ended = await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual([ended.status, ended.turns, ended.prompt], ['completed', 1, 'Do it.']);
  });
});

test('somebody else’s run and one that never was are the same to the caller', () =>
  withHost({}, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Do it.' });
    const refusals = await Promise.all(
      [
        [aCaller({ userId: 'bo' }), run.id],
        [aCaller({ tenant: 'other' }, 'admin'), run.id],
        [ana, run.id.replace(/.$/, '!')],
      ].map(async ([caller, id]) => {
        const error: unknown = await host.runs
          .snapshot(caller as typeof ana, id as string)
          .catch((reason: unknown) => reason);
        return (error as { code: string; message: string }).message.replace(/"run.*?"/, 'ID');
      }),
    );
    assert.deepEqual(new Set(refusals).size, 1);
    assert.equal((await host.runs.snapshot(aCaller({ userId: 'boss' }, 'admin'), run.id)).id, run.id);
  }));

test('code in a sandbox is refused everywhere, before anything is looked up', () =>
  withHost({}, async ({ host }) => {
    const code = aCaller({ kind: 'compute' }, 'read', 'run', 'approve', 'admin');
    const { runs } = host;
    const asked = [
      runs.create(code, { prompt: 'x' }),
      runs.list(code),
      runs.snapshot(code, 'r'),
      runs.events(code, 'r'),
      runs.follow(code, 'r'),
      runs.log(code, 'r'),
      runs.prompt(code, 'r', { iteration: 1 }),
      runs.say(code, 'r', { content: 'x' }),
      runs.answer(code, 'r', []),
      runs.approve(code, 'r'),
      runs.reject(code, 'r'),
      runs.stop(code, 'r'),
      runs.resume(code, 'r'),
      runs.fork(code, 'r'),
      runs.archive(code, 'r'),
      runs.rename(code, 'r', 'x'),
      runs.remove(code, 'r'),
      runs.deliver(code, 'r', { ticket: 't', outcome: 'ok' }),
      runs.tell(code, 'r', { source: 'task', events: [{ text: 'x' }] }),
      runs.calls(code, 'r'),
      runs.replay(code, 'r', {}),
      runs.transcript(code, 'r', 'md'),
      runs.usage(code, { by: 'day' }),
    ];
    for (const one of asked) await assert.rejects(one, { code: 'compute_forbidden' });
    assert.equal(asked.length, Object.keys(runs).length);
  }));

test('a run has the title it was given, at most 200 characters on one line', () =>
  withHost({}, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'hello' });
    assert.equal((await host.runs.list(ana)).runs[0]?.title, 'hello');
    assert.equal(
      (await host.runs.rename(ana, run.id, ' The\nsecond  lo\u001b\u0007\u202eom ')).title,
      'The second loom',
    );
    for (const title of ['', ' \n', '\u0007', 'x'.repeat(201)])
      await assert.rejects(host.runs.rename(ana, run.id, title), { code: 'invalid_request' });
  }));

test('a list is in pages, newest first, and a cursor belongs to what was asked for', () =>
  withHost({}, async ({ host, until }) => {
    const ids: string[] = [];
    for (const prompt of ['one', 'two', 'three']) {
      const { run } = await host.runs.create(ana, { prompt });
      await until(run.id, ({ terminal }) => terminal);
      ids.unshift(run.id);
    }
    const first = await host.runs.list(ana, { limit: 2 });
    const second = await host.runs.list(ana, { limit: 2, cursor: first.nextCursor });
    assert.deepEqual(
      [...first.runs, ...second.runs].map(({ id }) => id),
      ids,
    );
    assert.deepEqual([first.hasMore, second.hasMore, second.nextCursor], [true, false, undefined]);
    await assert.rejects(host.runs.list(ana, { limit: 2, cursor: first.nextCursor, q: 'two' }), {
      code: 'invalid_cursor',
    });
    assert.deepEqual(
      (await host.runs.list(ana, { q: 'TWO' })).runs.map(({ title }) => title),
      ['two'],
    );
    assert.deepEqual((await host.runs.list(aCaller({ userId: 'bo' }))).runs, []);
    for (const limit of [0, -1, 101, 1.5, NaN])
      await assert.rejects(host.runs.list(ana, { limit }), { code: 'invalid_request' });
  }));

test('an archived run is out of the list and back again', () =>
  withHost({}, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Do it.' });
    await until(run.id, ({ terminal }) => terminal);
    assert.ok((await host.runs.archive(ana, run.id)).archivedAt);
    assert.deepEqual(
      [(await host.runs.list(ana)).runs.length, (await host.runs.list(ana, { archived: 'only' })).runs.length],
      [0, 1],
    );
    assert.equal((await host.runs.archive(ana, run.id, false)).archivedAt, undefined);
    assert.equal((await host.runs.list(ana)).runs.length, 1);
  }));

test('a removed run is gone, and a cursor of it fits no run of the same id', () =>
  withHost({}, async ({ host, until }) => {
    const request = { prompt: 'Do it.', key: 'k1' };
    const { run } = await host.runs.create(ana, request);
    await until(run.id, ({ terminal }) => terminal);
    const { nextCursor } = await host.runs.events(ana, run.id);
    await new Promise((resolve) => setTimeout(resolve, 2)); // runs made in one millisecond are told apart by nothing
    await host.runs.remove(ana, run.id);
    await assert.rejects(host.runs.events(ana, run.id, { cursor: nextCursor }), { code: 'run_unknown' });
    assert.equal((await host.runs.create(ana, request)).run.id, run.id);
    await assert.rejects(host.runs.events(ana, run.id, { cursor: nextCursor }), { code: 'invalid_cursor' });
  }));

test('a run that is being driven is not removed', () =>
  withHost({ script: [{ text: 'Slow.', fault: 'hang', at: 1 }] }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Do it.' });
    await until(run.id, ({ status }) => status === 'running');
    await assert.rejects(host.runs.remove(ana, run.id), { code: 'run_active' });
    await host.runs.stop(ana, run.id);
    await until(run.id, ({ terminal }) => terminal);
  }));

test('stopping twice is stopping once, and an ended run stays as it is', () =>
  withHost({ script: [{ text: 'Slow.', fault: 'hang', at: 1 }] }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Do it.' });
    await until(run.id, ({ status }) => status === 'running');
    await Promise.all([host.runs.stop(ana, run.id), host.runs.stop(ana, run.id)]);
    const stopped = await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual([stopped.status, stopped.stopReason], ['stopped', 'cancelled']);
    assert.equal((await host.runs.stop(ana, run.id)).version, stopped.version);
  }));

test('a stopped run is resumed where it was; another has nothing to resume', () =>
  withHost(
    { script: [{ actions: [{ name: 'mail', arguments: { to: 'Bo' } }] }, { text: 'Went on.' }] },
    async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Mail.' });
      await until(run.id, ({ requests }) => requests.length === 1);
      await assert.rejects(host.runs.resume(ana, run.id), { code: 'nothing_to_resume' });
      await host.runs.stop(ana, run.id);
      await until(run.id, ({ terminal }) => terminal);
      await host.runs.resume(ana, run.id);
      const ended = await until(run.id, ({ status }) => status === 'completed');
      assert.deepEqual([ended.turns, ended.answer], [1, 'Went on.']);
    },
  ));

test('a message to an ended run begins its next turn; the same key says it once, another text under it is refused', () =>
  withHost({ script: [{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }] }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'One.' });
    await until(run.id, ({ terminal }) => terminal);
    const said = { content: 'Two.', key: 'k' };
    assert.deepEqual(
      [(await host.runs.say(ana, run.id, said)).fresh, (await host.runs.say(ana, run.id, said)).fresh],
      [true, false],
    );
    await assert.rejects(host.runs.say(ana, run.id, { ...said, content: 'Else.' }), { code: 'idempotency_conflict' });
    const ended = await until(run.id, ({ terminal, turns }) => terminal && turns === 2);
    assert.deepEqual([ended.answer, ended.prompt], ['Second.', 'One.']);
  }));

test('a fork at a message answers it anew, and the first run stays as it is', () =>
  withHost({ script: [{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }] }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'One.' });
    await until(run.id, ({ terminal }) => terminal);
    await host.runs.say(ana, run.id, { content: 'Two.' });
    const first = await until(run.id, ({ terminal, turns }) => terminal && turns === 2);
    const { events } = await host.runs.events(ana, run.id);
    const second = events.filter(({ role }) => role === 'user')[1]!;
    const made = await host.runs.fork(ana, run.id, { at: second.id, key: 'f' });
    const forked = await until(made.run.id, ({ terminal, turns }) => terminal && turns === 2);
    assert.deepEqual([forked.prompt, forked.status], ['One.', 'completed']);
    assert.equal((await host.runs.fork(ana, run.id, { at: second.id, key: 'f' })).run.id, made.run.id);
    assert.equal((await host.runs.snapshot(ana, run.id)).version, first.version);
    const texts = (await host.runs.events(ana, forked.id, { view: 'messages' })).events.map(({ text }) => text);
    assert.deepEqual(texts.slice(0, 4), ['One.', 'First.', 'completed', 'Two.']);
  }));

test('a fork may say something else in place of a message, and is found by its labels', () =>
  withHost({ script: [{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }] }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'One.' });
    await until(run.id, ({ terminal }) => terminal);
    await host.runs.say(ana, run.id, { content: 'Two.' });
    await until(run.id, ({ terminal, turns }) => terminal && turns === 2);
    const { events } = await host.runs.events(ana, run.id);
    const [one, two] = events.filter(({ role }) => role === 'user');
    const metadata = { of: run.id };
    const made = await host.runs.fork(ana, run.id, { at: two!.id, content: 'Zwei.', metadata });
    await until(made.run.id, ({ terminal, turns }) => terminal && turns === 2);
    const texts = (await host.runs.events(ana, made.run.id, { view: 'messages' })).events.map(({ text }) => text);
    assert.deepEqual(texts.slice(0, 4), ['One.', 'First.', 'completed', 'Zwei.']);
    const anew = await host.runs.fork(ana, run.id, { at: one!.id, content: 'Eins.' });
    assert.equal((await until(anew.run.id, ({ terminal }) => terminal)).title, 'Eins.');
    const { runs } = await host.runs.list(ana, { label: { name: 'of', value: run.id } });
    assert.deepEqual(
      runs.map(({ id }) => id),
      [made.run.id],
    );
    for (const at of [undefined, events.at(-1)!.id])
      await assert.rejects(host.runs.fork(ana, run.id, { at, content: 'x' }), { code: 'invalid_request' });
    await assert.rejects(host.runs.fork(ana, run.id, { at: one!.id, content: ' ' }), { code: 'input_invalid' });
  }));

test('a fork is named after the run it comes from, and so it stays', () =>
  withHost({}, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'One.' });
    await until(run.id, ({ terminal }) => terminal);
    const titleOf = async (at?: string): Promise<string> => {
      const made = await host.runs.fork(ana, run.id, { at });
      await until(made.run.id, ({ terminal }) => terminal);
      return (await host.runs.snapshot(ana, made.run.id)).title;
    };
    const [first] = (await host.runs.events(ana, run.id)).events;
    assert.deepEqual([await titleOf(), await titleOf(first?.id)], ['One. (fork)', 'One. (fork)']);
    await host.runs.rename(ana, run.id, 'x'.repeat(200));
    assert.equal(await titleOf(), `${'x'.repeat(193)} (fork)`);
    assert.equal((await host.runs.snapshot(ana, run.id)).title, 'x'.repeat(200));
  }));

test('a fork in the middle of a turn does nothing of it again, and takes the next message', () =>
  withHost(
    { script: [{ actions: [{ name: 'mail', arguments: { to: 'Bo' } }] }, { text: 'Said.' }, { text: 'Said.' }] },
    async ({ host, until, sent }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Mail.' });
      await until(run.id, ({ requests }) => requests.length === 1);
      const { events } = await host.runs.events(ana, run.id);
      const action = events.find(({ role }) => role === 'action')!;
      const made = await host.runs.fork(ana, run.id, { at: action.id });
      const forked = await until(made.run.id, ({ terminal }) => terminal);
      assert.deepEqual([forked.status, forked.requests, sent], ['stopped', [], []]);
      assert.equal((await host.runs.snapshot(ana, run.id)).requests.length, 1);
      await host.runs.say(ana, forked.id, { content: 'Something else.' });
      await until(forked.id, ({ status }) => status === 'completed');
      await assert.rejects(host.runs.fork(ana, run.id, { at: 'nothing' }), { code: 'invalid_request' });
    },
  ));

test('a fork of the whole run rests, and lists show its status', () =>
  withHost({}, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'One.' });
    await until(run.id, ({ terminal }) => terminal);
    const { run: made } = await host.runs.fork(ana, run.id, { metadata: { why: 'try' } });
    const { runs } = await host.runs.list(ana);
    assert.deepEqual(
      runs.map(({ status }) => status),
      ['completed', 'completed'],
    );
    assert.deepEqual([made.metadata, made.answer], [{ why: 'try' }, 'Done.']);
  }));

test('what the model saw is rendered again from the log, as it was then', () =>
  withHost({ script: [{ actions: [{ name: 'look', arguments: {} }] }, { text: 'Seen.' }] }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Look.' });
    await until(run.id, ({ terminal }) => terminal);
    const first = await host.runs.prompt(ana, run.id, { iteration: 1 });
    const second = await host.runs.prompt(ana, run.id, { turn: 1, iteration: 2 });
    assert.equal(first.sections.find(({ name }) => name === 'this turn')?.text, 'user: Look.');
    assert.match(second.sections.find(({ name }) => name === 'this turn')?.text ?? '', /tool look .*seen/);
    const { facts } = await host.runs.log(ana, run.id);
    const stated = facts.find((fact) => fact.type === 'llm.request')?.payload.sections;
    const digests = Object.fromEntries(first.sections.map(({ name, digest }) => [name, digest]));
    assert.deepEqual([digests['instructions'], digests['tools']], [stated?.['instructions'], stated?.['tools']]);
    await assert.rejects(host.runs.prompt(ana, run.id, { iteration: 9 }), { code: 'prompt_unknown' });
  }));

test('tokens are counted from the logs where there is no ledger, and money is unknown', () =>
  withHost({ script: [{ text: 'Done.', usage: { input: 10, output: 3 } }] }, async ({ host, until }) => {
    for (const prompt of ['one', 'two']) {
      const { run } = await host.runs.create(ana, { prompt });
      const ended = await until(run.id, ({ terminal }) => terminal);
      assert.deepEqual([ended.usage, 'cost' in ended], [{ input: 10, output: 3 }, false]);
    }
    assert.deepEqual(await host.runs.usage(ana, { by: 'model' }), [
      { key: 'scripted/scripted', calls: 2, usage: { input: 20, output: 6 } },
    ]);
    assert.deepEqual(await host.runs.usage(aCaller({ userId: 'bo' }), { by: 'user' }), []);
    await assert.rejects(host.runs.usage(ana, { by: 'day', from: 'yesterday' }), { code: 'invalid_request' });
  }));

test('what ended long ago is removed, and nothing else', () =>
  withHost(
    { script: [{ text: 'Done.' }, { text: 'Done.' }, { actions: [{ name: 'mail', arguments: { to: 'Bo' } }] }] },
    async ({ host, log, until }) => {
      const { run: kept } = await host.runs.create(ana, { prompt: 'Say done.' });
      await until(kept.id, ({ terminal }) => terminal);
      await host.runs.say(ana, kept.id, { content: 'Again.' });
      await until(kept.id, ({ terminal, turns }) => terminal && turns === 2);
      await host.runs.say(ana, kept.id, { content: 'Mail.' });
      await until(kept.id, ({ requests }) => requests.length === 1);
      const { run: gone } = await host.runs.fork(ana, kept.id);
      await until(gone.id, ({ terminal }) => terminal);
      const inAWeek = Date.now() + 7 * 86_400_000;
      assert.equal(await removeOld(log, inAWeek, { endedDays: 8 }), 0);
      assert.equal(await removeOld(log, inAWeek, { endedDays: 6 }), 1);
      await assert.rejects(host.runs.snapshot(ana, gone.id), { code: 'run_unknown' });
      assert.equal((await host.runs.snapshot(ana, kept.id)).id, kept.id);
    },
  ));

test('agents of two bundles that have one name are a mistake that names both', async () => {
  await withHost({}, async ({ host, another }) => {
    const [{ loaded }] = host.bundles as [(typeof host.bundles)[0]];
    await assert.rejects(another({ bundles: [loaded.file, loaded.file] }), { code: 'bundle_conflict' });
  });
});

test('a run is found by the id of its bundle when the folder has moved, and not driven by another bundle', () =>
  withHost({ script: [{ text: 'One.' }, { text: 'Two.' }] }, async ({ host, log, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'One.' });
    await until(run.id, ({ terminal }) => terminal);
    await withHost({ log, script: [{ text: 'One.' }, { text: 'Moved.' }] }, async (moved) => {
      await moved.host.runs.say(ana, run.id, { content: 'Go on.' });
      const ended = await moved.until(run.id, ({ turns, terminal }) => turns === 2 && terminal);
      assert.equal(ended.status, 'completed');
    });
    await withHost({ log, bundle: aBundle().replace('id: post', 'id: other') }, async (other) => {
      await assert.rejects(other.host.runs.say(ana, run.id, { content: 'Go on.' }), { code: 'bundle_not_served' });
      assert.equal((await other.host.runs.snapshot(ana, run.id)).turns, 2);
    });
  }));

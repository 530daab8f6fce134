// Whoever follows a run is handed all of it, once, however slow, from wherever it left off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../src/kernel/log.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Frame } from '../../src/platform/runs/frame.ts';
import type { WireEntry } from '../../src/platform/runs/page.ts';
import { ana, withHost } from './a-host.ts';

async function all(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const heard: Frame[] = [];
  for await (const frame of frames) heard.push(frame);
  return heard;
}

const entriesIn = (frames: readonly Frame[]): WireEntry[] =>
  frames.flatMap((one) => (one.type === 'entry' ? [one.entry] : []));

/** What a reader holds in the end: the newest of each, in place. */
const held = (entries: readonly WireEntry[]): [string, string][] =>
  [...new Map(entries.map((one) => [one.id, one])).values()]
    .sort((left, right) => left.position - right.position)
    .map(({ id, digest }) => [id, digest]);

test('a follower gets the status, every entry and the end, and holds what pages give', () =>
  withHost({ script: [{ actions: [{ name: 'look', arguments: {} }] }, { text: 'Seen.' }] }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Look.' });
    const frames = await all(await host.runs.follow(ana, run.id));
    const page = await host.runs.events(ana, run.id, { limit: 100 });
    assert.deepEqual([frames[0]?.type, frames.at(-1)?.type], ['status', 'end']);
    assert.deepEqual(held(entriesIn(frames)), held(page.events));
    const last = frames.findLast((one) => one.type === 'status');
    assert.deepEqual([last?.status, last?.terminal], ['completed', true]);
  }));

test('from any frame’s cursor a follower goes on without a loss, in another process, and so does a page', () =>
  withHost(
    { script: [{ actions: [{ name: 'look', arguments: {} }] }, { text: 'Seen.' }] },
    async ({ host, another }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Look.' });
      const frames = await all(await host.runs.follow(ana, run.id));
      const whole = held((await host.runs.events(ana, run.id, { limit: 100 })).events);
      const other = await another();
      const seen: WireEntry[] = [];
      for (const frame of frames) {
        if (frame.type !== 'entry') continue;
        seen.push(frame.entry);
        const rest = entriesIn(await all(await other.runs.follow(ana, run.id, { cursor: frame.cursor })));
        assert.deepEqual(held([...seen, ...rest]), whole);
        const pages: WireEntry[] = [];
        let { cursor } = frame;
        for (let hasMore = true; hasMore;) {
          const page = await other.runs.events(ana, run.id, { cursor, limit: 100 });
          pages.push(...page.events);
          ({ hasMore, nextCursor: cursor } = page);
        }
        assert.deepEqual(held([...seen, ...pages]), whole);
      }
    },
  ));

test('whoever begins to follow later is handed what happened while nobody watched', () =>
  withHost({ script: [{ text: 'Seen.' }] }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Look.' });
    // A list does not read the run, so nothing is known of it here but its beginning.
    const isOver = async (): Promise<boolean> => (await host.runs.list(ana)).runs[0]?.terminal === true;
    while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 5));
    const [first, ...frames] = await all(await host.runs.follow(ana, run.id));
    assert.deepEqual([first?.type, first?.type === 'status' && first.status], ['status', 'completed']);
    assert.equal(frames.at(-1)?.type, 'end');
  }));

test('pieces come under the id of their entry, before it, and add up to it', () =>
  withHost({ script: [{ thinking: 'Hm, let me see.', text: 'It is all done now.', chunks: 4 }] }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Do it.' });
    const frames = await all(await host.runs.follow(ana, run.id, { deltas: true }));
    for (const entry of entriesIn(frames).filter(({ role }) => role === 'assistant' || role === 'thinking')) {
      const place = frames.findIndex((one) => one.type === 'entry' && one.entry.id === entry.id);
      const late = frames.slice(place).filter((one) => one.type === 'delta' && one.id === entry.id);
      assert.deepEqual(late, []);
      const pieces = frames.flatMap((one) => (one.type === 'delta' && one.id === entry.id ? [one.delta] : [])).join('');
      assert.ok(entry.text.startsWith(pieces));
    }
    assert.ok(frames.every((one) => one.type !== 'delta' || entriesIn(frames).some(({ id }) => id === one.id)));
  }));

test('whoever comes in the middle of a text is handed it from its first word', () =>
  withHost({ script: [{ text: 'one two three four', chunks: 4, paceMs: 40 }] }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Talk.' });
    const first = await host.runs.follow(ana, run.id, { deltas: true });
    let heard = '';
    for await (const frame of first) {
      if (frame.type === 'delta') heard += frame.delta;
      if (heard.length >= 8) break;
    }
    const second = await all(await host.runs.follow(ana, run.id, { deltas: true }));
    const pieces = second.flatMap((one) => (one.type === 'delta' && one.kind === 'text' ? [one.delta] : []));
    assert.ok((pieces[0] ?? '').startsWith(heard));
    assert.equal(pieces.join(''), 'one two three four');
  }));

test('a slow reader loses pieces, is told how many, and no entry', () =>
  withHost(
    {
      script: [
        { text: 'x'.repeat(400), chunks: 1 },
        { text: 'y'.repeat(400), chunks: 1 },
      ],
      drives: false,
    },
    async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Talk.' });
      const frames = await host.runs.follow(ana, run.id, { deltas: true, maxDeltas: 10, until: 'removed' });
      const heard = [(await frames.next()).value as Frame];
      await host.start();
      await until(run.id, ({ terminal }) => terminal);
      while (!heard.some((one) => one.type === 'entry' && one.entry.role === 'end'))
        heard.push((await frames.next()).value as Frame);
      // What passed by before the end was told is let go with it: the next pieces show the gap.
      await host.runs.say(ana, run.id, { content: 'Talk on.' });
      while (heard.filter((one) => one.type === 'entry' && one.entry.role === 'end').length < 2)
        heard.push((await frames.next()).value as Frame);
      await frames.return?.();
      const gaps = heard.flatMap((one) => (one.type === 'gap' ? [one.dropped] : []));
      assert.ok(gaps.length > 0 && gaps.every((dropped) => dropped > 10), `gaps ${gaps.join()}`);
      assert.deepEqual(held(entriesIn(heard)), held((await host.runs.events(ana, run.id, { limit: 100 })).events));
    },
  ));

test('leaving lets go of a run that nothing happens in, also while the next frame is awaited', () =>
  withHost({}, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Do it.' });
    await until(run.id, ({ terminal }) => terminal);
    const frames = await host.runs.follow(ana, run.id, { until: 'removed' });
    let next = frames.next();
    for (let frame = await next; frame.done !== true; frame = await next) {
      next = frames.next();
      if (frame.value.type === 'entry' && frame.value.entry.role === 'end') break;
    }
    await frames.return?.();
    assert.equal((await next).done === true || (await frames.next()).done, true);
    const controller = new AbortController();
    const other = await host.runs.follow(ana, run.id, { until: 'removed', signal: controller.signal });
    const heard = all(other);
    setImmediate(() => controller.abort());
    assert.ok((await heard).length > 0);
  }));

test('a follower of an ended run that stays is handed its next turn', () =>
  withHost({ script: [{ text: 'One.' }, { text: 'Two.' }] }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    await until(run.id, ({ terminal }) => terminal);
    const frames = await host.runs.follow(ana, run.id, { until: 'removed' });
    const texts: string[] = [];
    for await (const frame of frames) {
      if (frame.type === 'entry' && frame.entry.role === 'end' && texts.length === 0)
        await host.runs.say(ana, run.id, { content: 'Go on.' });
      if (frame.type === 'entry' && frame.entry.role === 'end') texts.push(frame.entry.text);
      if (texts.length === 2) break;
    }
    assert.deepEqual(texts, ['completed', 'completed']);
  }));

test('a hundred followers read what is new once', async () => {
  let reads = 0;
  const log = createMemoryLog({ clock: systemClock });
  const counted: Log = {
    ...log,
    read(...asked) {
      reads++;
      return log.read(...asked);
    },
  };
  await withHost({ log: counted, drives: false }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Watch.' });
    const watching = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const frames = await host.runs.follow(ana, run.id, { until: 'removed' });
        await frames.next();
        await frames.next();
        return frames;
      }),
    );
    const waiting = watching.map((frames) => frames.next());
    await new Promise((resolve) => setImmediate(resolve));
    reads = 0;
    await host.runs.say(ana, run.id, { content: 'News.' });
    const heard = await Promise.all(waiting);
    assert.ok(heard.every(({ value }) => (value as Frame | undefined)?.type === 'entry'));
    assert.ok(reads < 20, `${reads} reads`);
    for (const frames of watching) await frames.return?.();
  });
});

test('readers of one run are handed the same pieces, and the log is not asked for them', async () => {
  let finds = 0;
  const log = createMemoryLog({ clock: systemClock });
  const counted: Log = {
    ...log,
    find(id) {
      finds++;
      return log.find(id);
    },
  };
  const pieces = (frames: readonly Frame[]) => frames.filter((one) => one.type === 'delta' && one.kind === 'text');
  const script = [{ text: 'word '.repeat(100), chunks: 5, paceMs: 2 }];
  await withHost({ log: counted, script, drives: false }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Talk.' });
    const follow = () => host.runs.follow(ana, run.id, { deltas: true });
    const readers = [await follow(), await follow(), await follow(), await follow()].map(all);
    finds = 0;
    await host.start();
    const [first = [], ...others] = (await Promise.all(readers)).map(pieces);
    assert.ok(first.length > 50, `${first.length} pieces`);
    for (const other of others) assert.ok(other.length === first.length && other.every((one, at) => one === first[at]));
    assert.ok(finds < first.length, `the run was looked up ${finds} times for ${first.length} pieces`);
  });
});

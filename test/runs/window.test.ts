// Pages of a run: at every size the same list, and whoever follows by cursor ends with what is there.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { entryDigest, type Entry } from '../../src/domain/entry.ts';
import type { Fact } from '../../src/domain/event.ts';
import { entriesOf, timelineOf } from '../../src/domain/timeline.ts';
import { createCursors, type Cursor } from '../../src/platform/runs/cursor.ts';
import { firstCursor, windowAt, type Versions } from '../../src/platform/runs/window.ts';
import { someLog } from './some-log.ts';

const cursors = createCursors('secret');
const here = ['tenant', 'run'];

/** The run as it is when the log has come to `head`. */
function versionsOf(facts: readonly Fact[], head: number): Versions {
  return { now: timelineOf(facts.slice(0, head)), at: (seq) => timelineOf(facts.slice(0, seq)) };
}

/** What a reader sends back, and nothing else. */
function carried(cursor: Cursor): Cursor {
  return cursors.read(here, cursors.write(here, cursor));
}

const named = (entries: readonly Entry[]) => entries.map((one) => [one.id, one.position, entryDigest(one)]);

describe('pages', () => {
  it('concatenate to the same list at every size', async () => {
    await fc.assert(
      fc.asyncProperty(someLog(60), fc.integer({ min: 1, max: 7 }), async (facts, limit) => {
        const versions = versionsOf(facts, facts.length);
        for (const order of ['asc', 'desc'] as const) {
          const read: Entry[] = [];
          let cursor = firstCursor(versions.now, 'all', order);
          for (;;) {
            const { entries, next, hasMore } = await windowAt(versions, carried(cursor), limit);
            read.push(...entries.map(({ entry }) => entry));
            cursor = next;
            if (!hasMore) break;
          }
          const whole = named(entriesOf(versions.now));
          assert.deepEqual(named(read), order === 'asc' ? whole : whole.reverse());
        }
      }),
    );
  });

  it('bring every reader to the present, whatever changed while it read, and say truly what they supersede', async () => {
    await fc.assert(
      fc.asyncProperty(
        someLog(80),
        fc.array(fc.record({ grows: fc.nat(9), limit: fc.integer({ min: 1, max: 6 }), reads: fc.nat(3) }), {
          maxLength: 40,
        }),
        async (facts, steps) => {
          let head = 0;
          let cursor: Cursor | undefined;
          const kept = new Map<string, Entry>();
          const read = async (limit: number): Promise<boolean> => {
            const versions = versionsOf(facts, head);
            cursor ??= firstCursor(versions.now, 'all', 'asc');
            const window = await windowAt(versions, carried(cursor), limit);
            const [first] = window.entries;
            const before = first === undefined ? undefined : kept.get(first.entry.id);
            const isSuperseded =
              before !== undefined && first !== undefined && entryDigest(before) !== entryDigest(first.entry);
            assert.equal(window.supersededFirst, isSuperseded);
            const ids = window.entries.map(({ entry }) => entry.id);
            assert.equal(new Set(ids).size, ids.length);
            for (const { entry } of window.entries) kept.set(entry.id, entry);
            cursor = window.next;
            return window.hasMore;
          };
          for (const { grows, limit, reads } of steps) {
            head = Math.min(facts.length, head + grows);
            for (let count = 0; count < reads; count++) await read(limit);
          }
          head = facts.length;
          while (await read(2));
          const ends = [...kept.values()].sort((left, right) => left.position - right.position);
          assert.deepEqual(named(ends), named(entriesOf(timelineOf(facts))));
        },
      ),
    );
  });

  it('go on after any single entry as if the page had ended there', async () => {
    await fc.assert(
      fc.asyncProperty(someLog(50), fc.nat(50), fc.nat(20), async (facts, cut, stop) => {
        const early = versionsOf(facts, Math.min(cut, facts.length));
        const late = versionsOf(facts, facts.length);
        const kept = new Map<string, Entry>();
        const first = await windowAt(early, firstCursor(early.now, 'all', 'asc'), 100);
        let cursor = firstCursor(early.now, 'all', 'asc');
        for (const { entry, after } of first.entries.slice(0, stop)) {
          kept.set(entry.id, entry);
          cursor = after;
        }
        for (let hasMore = true; hasMore;) {
          const window = await windowAt(late, carried(cursor), 3);
          for (const { entry } of window.entries) kept.set(entry.id, entry);
          cursor = window.next;
          hasMore = window.hasMore;
        }
        const ends = [...kept.values()].sort((left, right) => left.position - right.position);
        assert.deepEqual(named(ends), named(entriesOf(late.now)));
      }),
    );
  });
});

describe('a cursor', () => {
  const text = cursors.write(here, { kind: 'scan', view: 'all', order: 'asc', pin: 40, position: 7 });

  it('is refused when any character of it is another one', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let index = 0; index < text.length; index++) {
      for (const letter of letters) {
        if (letter === text[index]) continue;
        const altered = text.slice(0, index) + letter + text.slice(index + 1);
        assert.throws(() => cursors.read(here, altered), { code: 'invalid_cursor' });
      }
    }
  });

  it('is refused for another run, from another secret, cut short and as nonsense', () => {
    assert.throws(() => cursors.read(['tenant', 'other'], text), { code: 'invalid_cursor' });
    assert.throws(() => createCursors('other').read(here, text), { code: 'invalid_cursor' });
    for (const nonsense of ['', '.', text.slice(0, -1), `${text}=`, `${text}A`, '💥', 'null'])
      assert.throws(() => cursors.read(here, nonsense), { code: 'invalid_cursor' });
  });

  it('of an earlier version is still read', () => {
    // Written by version 1, with the secret `secret`. It stays here for ever.
    assert.deepEqual(cursors.read(here, 'MXMwMTQuN5SeW55lFYrV798U63L6IqA'), {
      kind: 'scan',
      view: 'all',
      order: 'asc',
      pin: 40,
      position: 7,
    });
  });

  it('of a list is no cursor of a page', () => {
    const place = cursors.writePlace(here, { updatedAt: 12, id: 'run_1' });
    assert.deepEqual(cursors.readPlace(here, place), { updatedAt: 12, id: 'run_1' });
    assert.throws(() => cursors.read(here, place), { code: 'invalid_cursor' });
    assert.throws(() => cursors.readPlace(here, text), { code: 'invalid_cursor' });
  });
});

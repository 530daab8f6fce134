// What every store of notes must do, whatever it is made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MaybePromise } from '../../src/base/promise.ts';
import type { Note, NoteOwner, NoteStore } from '../../src/kernel/notes.ts';

export interface NotesUnderTest {
  readonly open: () => MaybePromise<NoteStore & { close(): MaybePromise<void> }>;
  /** The same store again, as another process would see it. Absent where nothing is kept. */
  readonly reopen?: () => MaybePromise<NoteStore & { close(): MaybePromise<void> }>;
}

const ana: NoteOwner = { tenant: 'acme', userId: 'ana', bundle: 'desk' };
const MOST = 100;

export function aNote(id: string, text: string, at = 1, pinned = false): Note {
  return { id, text, pinned, createdAt: at, updatedAt: at };
}

export function notesConformance(name: string, { open, reopen }: NotesUnderTest): void {
  function fact(title: string, body: (store: NoteStore) => Promise<void>): void {
    test(`${name}: ${title}`, async () => {
      const store = await open();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });
  }
  const ids = (notes: readonly Note[]): string[] => notes.map(({ id }) => id);

  fact('a note is there as it was saved', async (store) => {
    const note = aNote('n1', 'Ana drinks green tea', 7, true);
    await store.saveNote(ana, note, MOST);
    assert.deepEqual(await store.findNote(ana, 'n1'), { ...note, bundle: 'desk' });
  });
  fact('a note that is saved again changes and keeps its beginning', async (store) => {
    await store.saveNote(ana, aNote('n1', 'tea', 1), MOST);
    assert.equal(await store.saveNote(ana, aNote('n1', 'coffee', 2), MOST), 'changed');
    assert.deepEqual(await store.findNote(ana, 'n1'), { ...aNote('n1', 'coffee', 2), createdAt: 1, bundle: 'desk' });
  });
  for (const [who, other] of [
    ['user', { ...ana, userId: 'bo' }],
    ['tenant', { ...ana, tenant: 'other' }],
    ['bundle', { ...ana, bundle: 'other' }],
  ] as const) {
    fact(`another ${who} neither sees, finds, counts nor removes it`, async (store) => {
      await store.saveNote(ana, aNote('n1', 'tea'), MOST);
      const seen = [
        await store.findNote(other, 'n1'),
        (await store.listNotes(other, 9)).length,
        (await store.searchNotes(other, ['tea'], 9)).length,
        await store.countNotes(other),
        await store.removeNote(other, 'n1'),
      ];
      assert.deepEqual(seen, [undefined, 0, 0, 0, false]);
    });
  }
  fact('a full book takes no other note, and still changes those it has', async (store) => {
    await store.saveNote(ana, aNote('n1', 'one'), 2);
    await store.saveNote(ana, aNote('n2', 'two'), 2);
    const outcomes = [
      await store.saveNote(ana, aNote('n3', 'three'), 2),
      await store.saveNote(ana, aNote('n2', 'two again'), 2),
      await store.countNotes(ana),
    ];
    assert.deepEqual(outcomes, ['full', 'changed', 2]);
  });
  fact('a removed note is gone, also from the search', async (store) => {
    await store.saveNote(ana, aNote('n1', 'tea'), MOST);
    assert.equal(await store.removeNote(ana, 'n1'), true);
    assert.deepEqual(await store.searchNotes(ana, ['tea'], 9), []);
    assert.equal(await store.removeNote(ana, 'n1'), false);
  });
  fact('pinned ones come first, then the last changed ones', async (store) => {
    for (const note of [aNote('old', 'a', 1), aNote('new', 'b', 3), aNote('pin', 'c', 2, true), aNote('mid', 'd', 2)]) {
      await store.saveNote(ana, note, MOST);
    }
    assert.deepEqual(ids(await store.listNotes(ana, 3)), ['pin', 'new', 'mid']);
  });
  fact('a list goes on after any place in it, also where what stood there is gone', async (store) => {
    for (const note of [aNote('a', 'x', 1), aNote('b', 'x', 1), aNote('c', 'x', 3), aNote('pin', 'x', 2, true)])
      await store.saveNote(ana, note, MOST);
    const read: string[] = [];
    for (
      let page = await store.listNotes(ana, 1);
      page[0] !== undefined;
      page = await store.listNotes(ana, 1, page[0])
    ) {
      read.push(page[0].id);
      await store.removeNote(ana, page[0].id);
    }
    assert.deepEqual(read, ['pin', 'c', 'a', 'b']);
  });
  fact('without a bundle a user has the notes of all, and nobody else’s', async (store) => {
    await store.saveNote(ana, aNote('n1', 'green tea', 1), MOST);
    await store.saveNote({ ...ana, bundle: 'shop' }, aNote('n2', 'black tea', 2), MOST);
    await store.saveNote({ ...ana, userId: 'bo' }, aNote('n3', 'tea', 3), MOST);
    const all = { tenant: 'acme', userId: 'ana' };
    const seen = [
      (await store.listNotes(all, 9)).map(({ id, bundle }) => `${bundle} ${id}`),
      ids(await store.searchNotes(all, ['tea'], 9)).sort(),
      await store.countNotes(all),
      (await store.findNote(all, 'n2'))?.bundle,
      await store.findNote(all, 'n3'),
    ];
    assert.deepEqual(seen, [['shop n2', 'desk n1'], ['n1', 'n2'], 2, 'shop', undefined]);
  });
  fact('a search finds words and beginnings of words, whatever their case and accents', async (store) => {
    await store.saveNote(ana, aNote('n1', 'The Café in Zürich'), MOST);
    await store.saveNote(ana, aNote('n2', 'Tea at home'), MOST);
    const found = [];
    for (const words of [['cafe'], ['zuri'], ['HOME'], ['nothing'], ['caf', 'tea']])
      found.push(ids(await store.searchNotes(ana, words, 9)).sort());
    assert.deepEqual(found, [['n1'], ['n1'], ['n2'], [], ['n1', 'n2']]);
  });
  fact('a note with more of the words comes first', async (store) => {
    await store.saveNote(ana, aNote('n1', 'tea'), MOST);
    await store.saveNote(ana, aNote('n2', 'green tea'), MOST);
    await store.saveNote(ana, aNote('n3', 'green'), MOST);
    assert.equal(ids(await store.searchNotes(ana, ['green', 'tea'], 9))[0], 'n2');
  });
  fact('words that mean something to a query language are words', async (store) => {
    await store.saveNote(ana, aNote('n1', 'he said "NOT tea" AND left'), MOST);
    const found = [];
    for (const word of ['"', 'NOT', 'tea"', '*', '(', 'text:tea', 'AND', '-tea', '', ' '])
      found.push((await store.searchNotes(ana, [word], 9)).length);
    assert.ok(found.every((count) => count <= 1));
  });
  fact('a note that was changed is found by its new words only', async (store) => {
    await store.saveNote(ana, aNote('n1', 'tea'), MOST);
    await store.saveNote(ana, aNote('n1', 'coffee'), MOST);
    const found = [await store.searchNotes(ana, ['tea'], 9), await store.searchNotes(ana, ['coffee'], 9)];
    assert.deepEqual(found.map(ids), [[], ['n1']]);
  });
  if (reopen === undefined) return;
  fact('another process sees what was saved', async (store) => {
    await store.saveNote(ana, aNote('n1', 'tea'), MOST);
    const again = await reopen();
    const found = ids(await again.searchNotes(ana, ['tea'], 9));
    await again.close();
    assert.deepEqual(found, ['n1']);
  });
}

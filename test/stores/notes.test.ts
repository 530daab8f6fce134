import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { lazyNotes } from '../../src/adapters/stores/notes/lazy.ts';
import { createMemoryNotes } from '../../src/adapters/stores/notes/memory.ts';
import { openSqliteNotes } from '../../src/adapters/stores/notes/sqlite.ts';
import { aNote, notesConformance } from '../conformance/notes.ts';
import { temporaryFolder } from './temporary.ts';

const folders: (() => void)[] = [];
const folder = temporaryFolder({ after: (undo) => void folders.push(undo) });
test.after(() => folders.forEach((undo) => undo()));
let files = 0;

notesConformance('memory', { open: () => createMemoryNotes() });
notesConformance('sqlite', {
  open: () => openSqliteNotes({ file: path.join(folder, `${++files}.db`) }),
  reopen: () => openSqliteNotes({ file: path.join(folder, `${files}.db`) }),
});
notesConformance('lazy', { open: () => lazyNotes(() => Promise.resolve(createMemoryNotes())) });

const ana = { tenant: 'acme', userId: 'ana', bundle: 'desk' };

test('notes that were closed say so', async () => {
  const store = await openSqliteNotes({ file: path.join(folder, 'closed.db') });
  store.close();
  assert.throws(() => store.countNotes(ana), { code: 'log_unavailable' });
});

test('a store is opened by its first use, and again where that failed', async () => {
  let tries = 0;
  const store = lazyNotes(() => {
    tries++;
    return tries === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve(createMemoryNotes());
  });
  await assert.rejects(async () => store.countNotes(ana), /not yet/);
  await store.saveNote(ana, aNote('n1', 'tea'), 9);
  assert.deepEqual([tries, await store.countNotes(ana)], [2, 1]);
});

test('a store that nobody used is not opened to be closed', async () => {
  let opened = false;
  await lazyNotes(() => {
    opened = true;
    return Promise.resolve(createMemoryNotes());
  }).close();
  assert.equal(opened, false);
});

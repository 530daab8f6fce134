// Notes in the terminal: those of this terminal's runs, and those of a server.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createMemoryNotes } from '../../src/adapters/stores/notes/memory.ts';
import { openSqliteNotes } from '../../src/adapters/stores/notes/sqlite.ts';
import { CONTROL_FILE } from '../../src/platform/hosting/data-folder.ts';
import { writeServerFile } from '../../src/platform/hosting/server-file.ts';
import { aServer } from '../http/server.ts';
import { inside } from './inside.ts';
import { workplace, type Ran } from './treadle.ts';

const ME = { tenant: 'local', userId: 'local', bundle: 'desk' };
const aNote = (id: string, text: string) => ({ id, text, pinned: false, createdAt: 0, updatedAt: 0 });

function notesIn(cwd: string): (...args: readonly string[]) => Promise<Ran> {
  return (...args) => inside(['notes', ...args], { cwd, env: { TREADLE_DATA: cwd } });
}

test('without a server the notes of runs in this terminal are found, put right, exported and deleted', async (t) => {
  const cwd = workplace(t);
  const store = await openSqliteNotes({ file: path.join(cwd, CONTROL_FILE) });
  store.saveNote(ME, aNote('n1', 'green tea'), 9);
  store.saveNote(ME, aNote('n2', 'Fridays'), 9);
  store.close();
  const notes = notesIn(cwd);
  assert.match((await notes('search', 'tea')).out, /^n1 {2}1970-01-01 {2}green tea {2}\(desk\)\n$/);
  assert.match((await notes('edit', 'n1', 'black', 'tea', '--pin')).out, /pinned {2}black tea/);
  const lines = (await notes('export')).out.trim().split('\n');
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { text: string }).text),
    ['black tea', 'Fridays'],
  );
  assert.equal((await notes('delete', 'n1', 'n2')).code, 0);
  assert.match((await notes('list')).err, /Nothing is remembered/);
});

test('the notes of a server are those of its user, and one that is not there is refused', async (t) => {
  const store = createMemoryNotes();
  store.saveNote(ME, aNote('n1', 'green tea'), 9);
  store.saveNote({ ...ME, userId: 'bo' }, aNote('n2', 'secret'), 9);
  const server = await aServer(t, { notes: store });
  const cwd = workplace(t);
  writeServerFile(cwd, { url: server.url, pid: process.pid });
  const notes = notesIn(cwd);
  assert.doesNotMatch((await notes('list')).out, /secret/);
  assert.match((await notes('show', 'n1')).out, /green tea\n$/);
  assert.equal((await notes('edit', 'n1')).code, 2);
  assert.match((await notes('show', 'n9')).err, /does not exist or is not yours/);
});

import process from 'node:process';
import { systemClock } from '../base/clock.ts';
import type { Note, NoteChange, NoteList, NoteOwner, NoteQuery } from '../client/index.ts';
import { SCOPES } from '../kernel/stores.ts';
import { dataFolder } from '../platform/hosting/data-folder.ts';
import { createNotes } from '../platform/hosting/notes.ts';
import type { Caller } from '../platform/runs/caller.ts';
import { createCursors } from '../platform/runs/cursor.ts';
import { readServerFile } from '../platform/hosting/server-file.ts';
import type { Context } from './context.ts';
import { openLog } from './open.ts';
import { openClient, type RemoteOptions } from './remote.ts';

/** Notes, wherever they are kept. */
export interface NoteBook {
  list(query: NoteQuery): Promise<NoteList>;
  every(owner: NoteOwner): AsyncGenerator<Note, void>;
  read(id: string, owner: NoteOwner): Promise<Note>;
  change(id: string, change: NoteChange, owner: NoteOwner): Promise<Note>;
  remove(id: string, owner: NoteOwner): Promise<void>;
  close(): Promise<void>;
}

/** Who runs agents in this terminal. */
const ME: Caller = { userId: 'local', tenant: 'local', scopes: new Set(SCOPES), kind: 'user' };

/** Those of the server that was named or that is up for the data folder; else those that runs in this terminal keep. */
export async function openNoteBook(context: Context, options: RemoteOptions): Promise<NoteBook> {
  const { environment } = context;
  const { url = environment['TREADLE_URL'] ?? '', key, data } = options;
  const folder = dataFolder({ named: data, environment, directory: process.cwd() });
  if (url !== '' || key !== undefined || readServerFile(folder) !== undefined) return remoteBook(context, options);
  const storage = await openLog({ data, environment });
  const { openNotesOf } = await import('../platform/hosting/storage.ts');
  const store = openNotesOf(storage);
  if (store === undefined) throw new Error('Treadle bug: notes are read of a store that keeps nothing');
  // Cursors of one process, which hands them to nobody else.
  const notes = createNotes({ store, cursors: createCursors('this process'), clock: systemClock });
  const list: NoteBook['list'] = ({ q: words, ...query }) => notes.list(ME, { words, ...query });
  return {
    list,
    async *every(owner) {
      for (let cursor: string | undefined; ;) {
        const page = await list({ ...owner, cursor });
        yield* page.notes;
        cursor = page.nextCursor;
        if (cursor === undefined) return;
      }
    },
    read: (id, owner) => notes.read(ME, id, owner),
    change: (id, change, owner) => notes.change(ME, id, change, owner),
    remove: (id, owner) => notes.remove(ME, id, owner),
    async close() {
      await store.close();
      await storage.log.close();
    },
  };
}

function remoteBook(context: Context, options: RemoteOptions): NoteBook {
  const client = openClient(context, options);
  return {
    list: (query) => client.notes(query),
    every: (owner) => client.everyNote(owner),
    read: (id, owner) => client.note(id, owner),
    change: (id, change, owner) => client.changeNote(id, change, owner),
    remove: (id, owner) => client.deleteNote(id, owner),
    close: () => Promise.resolve(),
  };
}

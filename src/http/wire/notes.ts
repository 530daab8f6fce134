import { z } from 'zod';
import { MOST_NOTE_CHARS } from '../../kernel/notes.ts';
import type { RouteTable } from './route.ts';
import { count, time, type Wire } from './shape.ts';

const whose = {
  bundle: z.string().max(200).optional().meta({ description: 'Of one app; of all when absent.' }),
  user: z.string().max(200).optional().meta({ description: 'Another user’s, for the scope `admin`.' }),
};
const whoseNotes = z.strictObject(whose);
const params = z.strictObject({ id: z.string() });

export const noteView = z
  .object({
    id: z.string(),
    bundle: z.string().meta({ description: 'The app that remembers it: no other one does.' }),
    text: z.string(),
    pinned: z.boolean().meta({ description: 'Told to the agent in every conversation.' }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Note', description: 'Something that agents remember of a person from one conversation to the next.' });
export type WireNote = Wire<typeof noteView>;

export const noteList = z
  .object({
    notes: z.array(noteView),
    total: z.int().meta({ description: 'Of all that there are, whatever the words.' }),
    hasMore: z.boolean(),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'NoteList' });
export type WireNoteList = Wire<typeof noteList>;

/** What agents remember of a person: seen, put right and forgotten by that person. Only agents make new ones. */
export const noteRoutes = {
  listNotes: {
    method: 'GET',
    path: '/notes',
    about: 'Your notes: pinned ones first, then the last changed ones; or those with some words, the best first.',
    scope: 'read',
    query: z.strictObject({
      ...whose,
      q: z.string().min(1).max(200).optional().meta({ description: 'Words, or how they begin. Without a cursor.' }),
      cursor: z.string().min(1).max(2_000).optional(),
      limit: count(1, 100).optional(),
    }),
    status: 200,
    reply: noteList,
    refuses: ['invalid_cursor'],
  },
  readNote: {
    method: 'GET',
    path: '/notes/{id}',
    about: 'One note.',
    scope: 'read',
    params,
    query: whoseNotes,
    status: 200,
    reply: noteView,
    refuses: ['not_found'],
  },
  changeNote: {
    method: 'PATCH',
    path: '/notes/{id}',
    about: 'Put a note right. What is not named stays; agents know it from the next turn on.',
    scope: 'run',
    params,
    query: whoseNotes,
    body: z
      .strictObject({
        text: z.string().trim().min(1).max(MOST_NOTE_CHARS).optional(),
        pinned: z.boolean().optional(),
      })
      .meta({ id: 'ChangeNote' }),
    status: 200,
    reply: noteView,
    refuses: ['not_found'],
  },
  deleteNote: {
    method: 'DELETE',
    path: '/notes/{id}',
    about: 'Forget a note for good.',
    scope: 'run',
    params,
    query: whoseNotes,
    mutation: true,
    status: 204,
    refuses: ['not_found'],
  },
} as const satisfies RouteTable;

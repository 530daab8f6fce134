import type { Host } from '../../platform/hosting/host.ts';
import type { Handlers } from '../endpoint.ts';
import type { noteRoutes } from '../wire.ts';

/** What agents remember of a person, for that person. */
export function noteHandlers({ notes }: Pick<Host, 'notes'>): Handlers<typeof noteRoutes> {
  return {
    async listNotes({ query: { q: words, ...query } }, { caller }) {
      const { notes: found, ...page } = await notes.list(caller, { words, ...query });
      return { body: { notes: [...found], ...page } };
    },
    async readNote({ params, query }, { caller }) {
      return { body: await notes.read(caller, params.id, query) };
    },
    async changeNote({ params, query, body }, { caller }) {
      return { body: await notes.change(caller, params.id, body, query) };
    },
    async deleteNote({ params, query }, { caller }) {
      await notes.remove(caller, params.id, query);
      return undefined;
    },
  };
}

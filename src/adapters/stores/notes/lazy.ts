import type { MaybePromise } from '../../../base/promise.ts';
import type { NoteStore } from '../../../kernel/notes.ts';

export interface LazyNotes extends NoteStore {
  close(): Promise<void>;
}

/** Opened by the first use: most agents keep no notes. A failed opening is tried again by the next use. */
export function lazyNotes(open: () => Promise<NoteStore & { close(): MaybePromise<void> }>): LazyNotes {
  let opening: ReturnType<typeof open> | undefined;
  const opened = (): ReturnType<typeof open> => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    saveNote: async (...args) => (await opened()).saveNote(...args),
    removeNote: async (...args) => (await opened()).removeNote(...args),
    findNote: async (...args) => (await opened()).findNote(...args),
    listNotes: async (...args) => (await opened()).listNotes(...args),
    searchNotes: async (...args) => (await opened()).searchNotes(...args),
    countNotes: async (...args) => (await opened()).countNotes(...args),
    async close() {
      const store = await opening?.catch(() => undefined);
      await store?.close();
    },
  };
}

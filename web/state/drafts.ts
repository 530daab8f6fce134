import { useCallback, useState } from 'react';
import type { Attachment } from '../api/calls.ts';

const PREFIX = 'treadle.draft.';

/** What was typed and not sent, by conversation. It outlives the tab. */
export function useDraft(id: string): readonly [string, (text: string) => void] {
  const name = PREFIX + id;
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const text = texts[name] ?? localStorage.getItem(name) ?? '';
  const write = useCallback(
    (next: string) => {
      setTexts((all) => ({ ...all, [name]: next }));
      try {
        if (next === '') localStorage.removeItem(name);
        else localStorage.setItem(name, next);
      } catch {
        // There is no room for it: it is kept for as long as the page stays open.
      }
    },
    [name],
  );
  return [text, write];
}

const NONE: readonly Attachment[] = [];
const attached = new Map<string, readonly Attachment[]>();

/** Files beside the draft. They are too large to be stored, and stay until the page is left. */
export function useAttachments(
  id: string,
): readonly [readonly Attachment[], (change: (all: readonly Attachment[]) => readonly Attachment[]) => void] {
  const [, redraw] = useState(0);
  const write = useCallback(
    (change: (all: readonly Attachment[]) => readonly Attachment[]) => {
      const next = change(attached.get(id) ?? NONE);
      if (next.length === 0) attached.delete(id);
      else attached.set(id, next);
      redraw((count) => count + 1);
    },
    [id],
  );
  return [attached.get(id) ?? NONE, write];
}

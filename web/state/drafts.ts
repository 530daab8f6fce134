import { useCallback, useState } from 'react';

const PREFIX = 'treadle.draft.';

/** What was typed and not sent, by conversation. It outlives the tab. */
export function useDraft(id: string): readonly [string, (text: string) => void] {
  const name = PREFIX + id;
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const text = texts[name] ?? localStorage.getItem(name) ?? '';
  const write = useCallback(
    (next: string) => {
      setTexts((all) => ({ ...all, [name]: next }));
      if (next === '') localStorage.removeItem(name);
      else localStorage.setItem(name, next);
    },
    [name],
  );
  return [text, write];
}

import { useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const NAME = 'treadle.theme';

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const stored = localStorage.getItem(NAME);
  const [theme, setTheme] = useState<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system');
  return [
    theme,
    (next) => {
      setTheme(next);
      if (next === 'system') {
        localStorage.removeItem(NAME);
        delete document.documentElement.dataset['theme'];
      } else {
        localStorage.setItem(NAME, next);
        document.documentElement.dataset['theme'] = next;
      }
    },
  ];
}

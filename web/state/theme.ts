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
      if (next === 'system') localStorage.removeItem(NAME);
      else localStorage.setItem(NAME, next);
      show(next);
    },
  ];
}

/** All colours at once: ink that changes before the ground below it has faded cannot be read meanwhile. */
function show(theme: Theme): void {
  const { documentElement: root } = document;
  const { dataset } = root;
  dataset['switching'] = '';
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
  root.getBoundingClientRect(); // the new colours are taken while nothing fades
  delete dataset['switching'];
}

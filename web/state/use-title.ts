import { useEffect } from 'react';

/** What the tab of the browser is called while something is shown. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title === undefined || title === '') return;
    document.title = `${title} · Treadle`;
    return () => {
      document.title = 'Treadle';
    };
  }, [title]);
}

import { useMemo, useSyncExternalStore } from 'react';
import { RunLink, type RunView } from './run-link.ts';

/** A run, live, while the component is on the page. */
export function useRun(id: string): RunView {
  const link = useMemo(() => new RunLink(id), [id]);
  const { subscribe, view } = useMemo(
    () => ({ subscribe: (listener: () => void) => link.subscribe(listener), view: () => link.view }),
    [link],
  );
  return useSyncExternalStore(subscribe, view);
}

import { useSyncExternalStore } from 'react';

const narrow = window.matchMedia('(width < 720px)');

/** Whether the window is that of a phone: for what is drawn otherwise there, and not only laid out otherwise. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => {
    narrow.removeEventListener('change', listener);
  };
}

import { useSyncExternalStore } from 'react';

/**
 * What is fetched once something on the page needs it, and stays. The hook gives undefined until it has come; the page
 * draws without it then. A fetch that failed, as while offline, is tried again with the next need.
 */
export function onceNeeded<T>(fetched: () => Promise<T>): (isNeeded: boolean) => T | undefined {
  let loaded: T | undefined;
  let isLoading = false;
  const listeners = new Set<() => void>();

  async function load(): Promise<void> {
    isLoading = true;
    try {
      loaded = await fetched();
      for (const listener of listeners) listener();
    } catch {
      isLoading = false;
    }
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  return function useOnceNeeded(isNeeded) {
    const now = useSyncExternalStore(subscribe, () => loaded);
    if (!isNeeded) return undefined;
    if (!isLoading) void load();
    return now;
  };
}

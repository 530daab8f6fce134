/** Who waits for facts of which conversation, in this process. */
export interface Watchers {
  /** The conversations that somebody watches. */
  readonly watched: ReadonlyMap<string, unknown>;
  add(conversationId: string, listener: () => void): () => void;
  notify(conversationId: string): void;
  /** Who wants to know that any conversation has work. */
  addForWork(listener: () => void): () => void;
  notifyOfWork(): void;
  /** Nobody waits for anything. */
  readonly isIdle: boolean;
}

/** `onError` hears what a listener throws: a fact is stated whether or not its watcher can bear it. */
export function createWatchers(onError: (problem: unknown) => void): Watchers {
  const watched = new Map<string, Set<() => void>>();
  const forWork = new Set<() => void>();

  function call(listeners: ReadonlySet<() => void>): void {
    for (const listener of [...listeners]) {
      try {
        listener();
      } catch (problem) {
        onError(problem);
      }
    }
  }

  return {
    watched,
    add(conversationId, listener) {
      const listeners = watched.get(conversationId) ?? new Set();
      watched.set(conversationId, listeners);
      const own = () => listener(); // one entry a call, so that the same function may watch twice
      listeners.add(own);
      return () => {
        listeners.delete(own);
        if (listeners.size === 0 && watched.get(conversationId) === listeners) watched.delete(conversationId);
      };
    },
    notify(conversationId) {
      const listeners = watched.size === 0 ? undefined : watched.get(conversationId);
      if (listeners !== undefined) call(listeners);
    },
    addForWork(listener) {
      const own = () => listener();
      forWork.add(own);
      return () => void forWork.delete(own);
    },
    notifyOfWork() {
      if (forWork.size > 0) call(forWork);
    },
    get isIdle() {
      return watched.size === 0 && forWork.size === 0;
    },
  };
}

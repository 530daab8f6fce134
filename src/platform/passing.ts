import type { Passing, PassingType, TreadleEvent } from '../domain/event.ts';
import type { Bus } from '../kernel/bus.ts';

const TYPES: readonly PassingType[] = ['llm.stream.chunk', 'llm.stream.end', 'tool.progress', 'io.status'];

/** Passing events of several buses, for whoever listens to one run. Nothing is heard, so nothing is made, while nobody does. */
export function createPassing(buses: readonly Pick<Bus, 'on'>[]): {
  readonly on: (runId: string, listener: (event: Passing) => void) => () => void;
  readonly close: () => void;
} {
  const listeners = new Map<string, Set<(event: Passing) => void>>();
  let offs: (() => void)[] = [];

  function hear(event: TreadleEvent): void {
    if ('seq' in event) return;
    for (const listener of listeners.get(event.conversationId) ?? []) listener(event);
  }

  function close(): void {
    for (const off of offs.splice(0)) off();
  }

  return {
    on(runId, listener) {
      const own = (event: Passing): void => listener(event);
      const known = listeners.get(runId) ?? new Set();
      listeners.set(runId, known);
      known.add(own);
      if (offs.length === 0) offs = buses.flatMap((bus) => TYPES.map((type) => bus.on(type, hear, { source: 'runs' })));
      return () => {
        known.delete(own);
        if (known.size === 0 && listeners.get(runId) === known) listeners.delete(runId);
        if (listeners.size === 0) close();
      };
    },
    close,
  };
}

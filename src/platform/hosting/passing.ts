import type { EventOf, Passing, PassingType, TreadleEvent } from '../../domain/event.ts';
import type { Bus } from '../../kernel/bus.ts';

type Chunk = EventOf<'llm.stream.chunk'>;

/** What passes by in runs that this process drives. */
export interface PassingEvents {
  readonly on: (runId: string, listener: (event: Passing) => void) => () => void;
  /** What the run's model has said so far of entries that are not there yet: one event an entry. */
  readonly soFar: (runId: string) => readonly Passing[];
  readonly close: () => void;
}

const OTHERS: readonly PassingType[] = ['tool.progress', 'io.status'];

/**
 * Passing events of several buses, for whoever listens to one run.
 *
 * What models say is listened to from the beginning and kept until the call is over, so that whoever comes in the middle
 * of a text has it from its first word. Of the rest nothing is heard, so nothing is made, while nobody listens.
 */
export function createPassing(buses: readonly Pick<Bus, 'on'>[]): PassingEvents {
  const listeners = new Map<string, Set<(event: Passing) => void>>();
  const spoken = new Map<string, Map<string, Chunk>>();
  let offs: (() => void)[] = [];

  function hear(event: TreadleEvent): void {
    if ('seq' in event) return;
    for (const listener of listeners.get(event.conversationId) ?? []) listener(event);
  }

  function keep(chunk: Chunk): void {
    const { conversationId: run, payload } = chunk;
    const own = spoken.get(run) ?? new Map<string, Chunk>();
    spoken.set(run, own);
    const before = own.get(payload.entry)?.payload;
    const delta = before?.attempt === payload.attempt ? before.delta + payload.delta : payload.delta;
    own.set(payload.entry, { ...chunk, payload: { ...payload, delta } });
    hear(chunk);
  }

  const always = buses.flatMap((bus) => [
    bus.on('llm.stream.chunk', keep, { source: 'runs' }),
    bus.on(
      'llm.stream.end',
      (event) => {
        spoken.delete(event.conversationId);
        hear(event);
      },
      { source: 'runs' },
    ),
    // A turn that ended otherwise than by its model's last word.
    bus.on('agent.turn.end', (event) => void spoken.delete(event.conversationId), { source: 'runs' }),
  ]);

  function letGo(): void {
    for (const off of offs.splice(0)) off();
  }

  return {
    on(runId, listener) {
      const own = (event: Passing): void => listener(event);
      const known = listeners.get(runId) ?? new Set();
      listeners.set(runId, known);
      known.add(own);
      if (offs.length === 0)
        offs = buses.flatMap((bus) => OTHERS.map((type) => bus.on(type, hear, { source: 'runs' })));
      return () => {
        known.delete(own);
        if (known.size === 0 && listeners.get(runId) === known) listeners.delete(runId);
        if (listeners.size === 0) letGo();
      };
    },
    soFar: (runId) => [...(spoken.get(runId)?.values() ?? [])],
    close() {
      letGo();
      for (const off of always) off();
      spoken.clear();
    },
  };
}

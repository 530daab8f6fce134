import type { Clock } from '../../src/base/clock.ts';
import { settle } from './house.ts';

/** Time that moves only when it is told to, or when everybody waits for it. */
export interface SimulatedClock extends Clock {
  /** Moves on, ringing what is due on the way, in order. */
  advance(ms: number): void;
  /** Lets work go on, and whenever all of it waits moves on to the next alarm. Rejects when the work neither ends nor waits. */
  until<T>(work: Promise<T>): Promise<T>;
}

export function aClock(start = 1_700_000_000_000): SimulatedClock {
  let now = start;
  let order = 0;
  const alarms = new Map<number, { readonly at: number; readonly ring: () => void }>();

  function due(until: number): [number, { readonly at: number; readonly ring: () => void }] | undefined {
    let first: [number, { readonly at: number; readonly ring: () => void }] | undefined;
    for (const entry of alarms)
      if (entry[1].at <= until && (first === undefined || entry[1].at < first[1].at)) first = entry;
    return first;
  }

  function advanceTo(until: number): void {
    for (let next = due(until); next !== undefined; next = due(until)) {
      alarms.delete(next[0]);
      now = Math.max(now, next[1].at);
      next[1].ring();
    }
    now = Math.max(now, until);
  }

  return {
    now: () => now,
    after(ms, ring) {
      const id = ++order;
      alarms.set(id, { at: now + ms, ring });
      return () => void alarms.delete(id);
    },
    advance: (ms) => advanceTo(now + ms),
    async until(work) {
      const state = { over: false };
      const ended = work.finally(() => (state.over = true));
      ended.catch(() => undefined);
      const isOver = async (): Promise<boolean> => {
        await settle();
        return state.over;
      };
      for (let rounds = 0; !(await isOver()); rounds++) {
        const next = due(Infinity);
        if (next === undefined || rounds > 10_000) throw new Error('the work neither ends nor waits for the clock');
        advanceTo(next[1].at);
      }
      return ended;
    },
  };
}

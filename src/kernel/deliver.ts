import type { Clock } from '../base/clock.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { TreadleEvent } from '../domain/event.ts';
import type { Logger } from './logger.ts';

export interface Listener {
  readonly pattern: string;
  readonly source: string;
  readonly priority: number;
  readonly patient: boolean;
  readonly hear: (event: TreadleEvent, signal: AbortSignal) => MaybePromise<void>;
}

export interface Delivery {
  deliver(event: TreadleEvent, to: readonly Listener[]): void;
  settled(): Promise<void>;
}

export interface DeliveryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeoutMs: number;
  readonly maxQueued: number;
}

/** A listener that is still busy with an event of one conversation, and what waits for it. */
interface Busy {
  readonly queue: TreadleEvent[];
  dropped: number;
}

/** A conversation whose event is on its way, and what was stated meanwhile. */
interface Underway {
  readonly conversationId: string;
  children: [TreadleEvent, readonly Listener[]][] | undefined;
  /** The event that this one was stated in the middle of, of another conversation. */
  readonly outer: Underway | undefined;
}

const IDLE_SIGNAL = new AbortController().signal;

/**
 * Bring events to listeners: one conversation's in order, a parent before the children stated while it was heard.
 *
 * A listener that throws or hangs costs a log line and nothing else. One that answers with a promise gets the next event
 * of that conversation when the promise settles; the loop does not wait for it.
 */
export function createDelivery({ clock, logger, timeoutMs, maxQueued }: DeliveryOptions): Delivery {
  /** The event on its way; delivery waits for nobody, so another one can only be within it. */
  let underway: Underway | undefined;
  const busy = new Map<Listener, Map<string, Busy>>();
  let pending = 0;
  let waiting: (() => void)[] = [];

  function tell(listener: Listener, event: TreadleEvent): void {
    const behind = busy.get(listener)?.get(event.conversationId);
    if (behind !== undefined) {
      if (behind.queue.length >= maxQueued) {
        behind.queue.shift();
        if (behind.dropped++ === 0)
          logger.warn('a listener is too slow; its oldest events are dropped', {
            listener: listener.source,
            conversation: event.conversationId,
          });
      }
      behind.queue.push(event);
      return;
    }
    let heard: MaybePromise<void>;
    try {
      heard = listener.hear(event, IDLE_SIGNAL);
    } catch (error) {
      report(listener, event, error);
      return;
    }
    if (isPromise(heard)) wait(listener, event, heard);
  }

  function wait(listener: Listener, event: TreadleEvent, heard: Promise<void>): void {
    const conversation = event.conversationId;
    let mine = busy.get(listener);
    if (mine === undefined) busy.set(listener, (mine = new Map<string, Busy>()));
    const behind: Busy = { queue: [], dropped: 0 };
    mine.set(conversation, behind);
    pending++;
    let over = false;
    const finish = (): void => {
      if (over) return;
      over = true;
      release();
      mine.delete(conversation);
      pending--;
      // What waited goes on in order; if the first of it is slow as well, tell() queues the rest again.
      for (const next of behind.queue) tell(listener, next);
      if (pending === 0) {
        const resolved = waiting;
        waiting = [];
        for (const resolve of resolved) resolve();
      }
    };
    const release = clock.after(timeoutMs, () => {
      report(listener, event, new Error(`no end after ${timeoutMs} ms`));
      finish();
    });
    heard.then(finish, (error: unknown) => {
      report(listener, event, error);
      finish();
    });
  }

  function report(listener: Listener, event: TreadleEvent, error: unknown): void {
    logger.error('a listener failed', {
      listener: listener.source,
      event: event.type,
      conversation: event.conversationId,
      error,
    });
  }

  return {
    deliver(event, to) {
      if (to.length === 0) return;
      const { conversationId } = event;
      for (let outer = underway; outer !== undefined; outer = outer.outer) {
        if (outer.conversationId !== conversationId) continue;
        (outer.children ??= []).push([event, to]);
        return;
      }
      const mine: Underway = { conversationId, children: undefined, outer: underway };
      underway = mine;
      for (const listener of to) tell(listener, event);
      for (let next = mine.children?.shift(); next !== undefined; next = mine.children?.shift()) {
        const [child, hearers] = next;
        for (const listener of hearers) tell(listener, child);
      }
      underway = mine.outer;
    },
    settled: () => (pending === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}

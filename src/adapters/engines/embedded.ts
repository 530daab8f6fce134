import { assert } from '../../base/assert.ts';
import type { Clock, Instant } from '../../base/clock.ts';
import type { Engine, Slice } from '../../kernel/engine.ts';
import type { Log, Shares } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';

export interface EmbeddedEngineOptions {
  /** What says which conversations have work. Any log will do: it is the queue, and nothing else is stored. */
  readonly log: Pick<Log, 'ready' | 'due' | 'onWork' | 'oldestReady'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What this process can drive; everything when absent. */
  readonly bundles?: readonly string[] | undefined;
  /** Slices under way at a time. */
  readonly concurrency?: number | undefined;
  /** Tenants take turns, and have no more than this under way. The longest waiting comes first when absent. */
  readonly shares?: Shares | undefined;
}

/** A slice waits for a model nearly all of the time, and meanwhile takes some memory and no processor. */
const CONCURRENCY = 500;
/** Slices begun at one look, so that a process that comes back to thousands of runs answers its callers meanwhile. */
const ADMITTED_AT_ONCE = 8;
/** A look for the case that nobody told us of work. */
const SWEEP_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
const WAITING_COUNTED = 1_000;

/** How long a conversation rests after so many slices in a row have failed. */
export function retryDelayMs(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS);
}

interface Running {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/**
 * An engine inside the process that holds the log, which is its queue: for one process, or a few that share a file.
 *
 * It looks when the log tells of work, when a slice has ended, when the next conversation is due, and every half minute.
 * However many conversations wait, it has one timer and remembers nothing of them.
 */
export function createEmbeddedEngine(options: EmbeddedEngineOptions): Engine {
  const { log, clock, logger, bundles, concurrency = CONCURRENCY, shares } = options;
  const running = new Map<string, Running>();
  /** What failed here, and when it may be tried again: also where the log could not be told. */
  const failed = new Map<string, { readonly failures: number; readonly retryAt: Instant }>();
  let slice: Slice | undefined;
  let stopped = false;
  let alarm: { readonly at: Instant; readonly isAtOnce: boolean; readonly cancel: () => void } | undefined;
  let isLooking = false;
  let isLate = false;
  /** The log did not answer when it was last asked. */
  let isAway = false;
  let unhear: () => void = () => undefined;

  /** One timer, for the earliest look that anybody wants. */
  function lookAt(at: Instant): void {
    if (slice === undefined || stopped) return;
    const now = clock.now();
    // An alarm that is overdue waits for a clock that was set forward, and would ring too late.
    if (alarm !== undefined && (alarm.isAtOnce || (alarm.at <= at && alarm.at > now))) return;
    alarm?.cancel();
    const ring = (): void => {
      alarm = undefined;
      void look();
    };
    alarm = { at, isAtOnce: at <= now, cancel: clock.after(Math.max(0, at - now), ring) };
  }

  async function look(): Promise<void> {
    if (isLooking) {
      isLate = true;
      return;
    }
    isLooking = true;
    try {
      await admit();
      if (isAway) logger.info('the log can be asked for work again');
      isAway = false;
    } catch (error) {
      // Once for as long as it lasts, however often it is asked.
      if (!isAway) logger.error('the log cannot be asked for work', { error });
      isAway = true;
      lookAt(clock.now() + FIRST_RETRY_MS);
    } finally {
      isLooking = false;
      if (isLate) lookAt(clock.now());
      isLate = false;
    }
  }

  async function admit(): Promise<void> {
    const room = Math.min(ADMITTED_AT_ONCE, concurrency - running.size);
    if (room <= 0 || stopped) return; // whatever ends looks again
    const now = clock.now();
    const ready = await log.ready(room + running.size + failed.size, { bundles, shares });
    const free = ready.filter((id) => !running.has(id) && (failed.get(id)?.retryAt ?? now) <= now);
    for (const id of free.slice(0, room)) run(id);
    if (free.length >= room) {
      lookAt(clock.now());
      return;
    }
    const due = await log.due({ bundles });
    const retries = [...failed.values()].map(({ retryAt }) => retryAt).filter((at) => at > now);
    // What is due and was not ready is held by somebody: no reason to look without end.
    lookAt(Math.min(now + SWEEP_MS, ...retries, Math.max(due ?? Infinity, now + 1)));
  }

  function run(id: string): void {
    assert(slice !== undefined, 'an engine ran before it was started');
    const controller = new AbortController();
    const attempt = (failed.get(id)?.failures ?? 0) + 1;
    const ended = attempted(slice, id, controller.signal, attempt).finally(() => {
      running.delete(id);
      lookAt(clock.now());
    });
    running.set(id, { controller, ended });
  }

  async function attempted(work: Slice, id: string, signal: AbortSignal, attempt: number): Promise<void> {
    try {
      await work(id, { signal, attempt });
      failed.delete(id);
    } catch (error) {
      const retryAt = clock.now() + retryDelayMs(attempt);
      failed.set(id, { failures: attempt, retryAt });
      logger.error('a slice failed; it is tried again', { conversation: id, attempt, error });
    }
  }

  return {
    start(given) {
      assert(slice === undefined, 'an engine is started once');
      slice = given;
      unhear = log.onWork(() => lookAt(clock.now()));
      return look();
    },
    wake() {
      lookAt(clock.now());
      return Promise.resolve();
    },
    async interrupt(conversationId) {
      const slice = running.get(conversationId);
      slice?.controller.abort();
      await slice?.ended;
    },
    async stop({ drainMs }) {
      stopped = true;
      unhear();
      alarm?.cancel();
      for (const { controller } of running.values()) controller.abort();
      await drained(Promise.all([...running.values()].map(({ ended }) => ended)), drainMs, clock);
    },
    async health() {
      const waiting = (await log.ready(WAITING_COUNTED, { bundles })).length;
      const oldestReady = await log.oldestReady();
      const due = await log.due({ bundles });
      const overdueMs = due === undefined ? 0 : Math.max(0, clock.now() - due);
      return { running: running.size, waiting, failing: failed.size, oldestReady, overdueMs };
    },
  };
}

/** Waits for work, but not longer than so many milliseconds. */
function drained(work: Promise<unknown>, drainMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const off = clock.after(drainMs, resolve);
    void work.then(() => {
      off();
      resolve();
    });
  });
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { assert } from '../../base/assert.ts';
import type { Clock, Instant } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Engine, Slice } from '../../kernel/engine.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { PostgresLog, WorkStanding } from '../stores/postgres.ts';
import { nameOf, storedName } from '../stores/postgres/text.ts';
import { createKeeper } from './dbos/keeper.ts';
import { SLICE, type DbosQueue } from './dbos/queue.ts';
import { dbosConfig } from './dbos/sdk.ts';
import { keeperStatements } from './dbos/sql.ts';
import { retryDelayMs } from './embedded.ts';

export interface DbosEngineOptions {
  readonly queue: DbosQueue;
  /** The log that tells `queue` of its work. */
  readonly log: Pick<PostgresLog, 'workOf' | 'ready' | 'due' | 'oldestReady'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** What this process can drive. */
  readonly bundles: readonly string[];
  /** How long a process that died keeps its runs from the others. */
  readonly leaseMs: number;
  /** Times in the log are those of `clock`: for tests, in which time stands still. */
  readonly ownTime?: boolean | undefined;
}

const WAITING_COUNTED = 1_000;

interface Running {
  readonly conversationId: string;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/**
 * An engine that hands out slices by the queues of DBOS: for many processes over one PostgreSQL database.
 *
 * DBOS says whose turn it is, and when; whether there is anything to do says the log. So a row of DBOS is a reason to look,
 * and nothing else: one too many finds no work, and one that is lost is found by a sweep. No slice is replayed.
 */
export function createDbosEngine(options: DbosEngineOptions): Engine {
  const { queue, log, clock, logger, bundles, leaseMs, ownTime = false } = options;
  const { database } = queue;
  const { DBOS } = queue.sdk;
  const sql = keeperStatements(database.settings.schema, queue.schema);
  const worker = options.ids.next('executor');
  const running = new Map<string, Running>();
  /** What failed here, and when it may be tried again. */
  const failed = new Map<string, { readonly failures: number; readonly retryAt: Instant }>();
  /** What a slice does is no business of DBOS: none of its contexts reach in there. */
  const outside = AsyncLocalStorage.snapshot();
  const keeper = createKeeper({
    ...{ queue, worker, clock, logger, staleMs: leaseMs },
    underWay: () => [...running.keys()],
    now: () => (ownTime ? clock.now() : null),
  });
  let slice: Slice | undefined;
  let stopped: Promise<void> | undefined;

  /** What DBOS begins for a row. Rejects when the slice failed, so that the row says why. */
  async function begin(partition: string): Promise<void> {
    const id = DBOS.workflowID;
    assert(id !== undefined && slice !== undefined, 'DBOS began a slice outside of a workflow or before the start');
    const work = slice;
    const conversationId = nameOf(partition);
    const controller = new AbortController();
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    running.set(id, { conversationId, controller, ended });
    try {
      if (stopped !== undefined) await giveBack(id, conversationId);
      else await outside(() => attempted(work, id, conversationId, controller.signal));
    } finally {
      running.delete(id);
      end();
    }
  }

  /** What DBOS had taken up when it was told to begin nothing more. */
  async function giveBack(id: string, conversationId: string): Promise<void> {
    const standing = await log.workOf(conversationId);
    if (standing !== undefined) await putOff(id, conversationId, standing, `b${worker}`);
  }

  async function attempted(work: Slice, id: string, conversationId: string, signal: AbortSignal): Promise<void> {
    const standing = await log.workOf(conversationId);
    if (standing?.ready === undefined) {
      failed.delete(conversationId);
      return;
    }
    const now = clock.now();
    const { retryAt, failures } = failed.get(conversationId) ?? { retryAt: 0, failures: 0 };
    const readyAt = now + standing.ready.inMs;
    if (readyAt > now || retryAt > now) {
      // Somebody holds it, it rests, or it has just failed: the look that this row stands for is due when that is over.
      const mark = readyAt > retryAt ? `l${standing.epoch}.${standing.ready.at}` : `f${worker}.${retryAt}`;
      await putOff(id, conversationId, standing, mark, Math.max(readyAt, retryAt));
      return;
    }
    const attempt = failures + 1;
    try {
      await work(conversationId, { signal, attempt });
      failed.delete(conversationId);
    } catch (error) {
      failed.set(conversationId, { failures: attempt, retryAt: clock.now() + retryDelayMs(attempt) });
      logger.error('a slice failed; it is tried again', { conversation: conversationId, attempt, error });
      throw error;
    }
  }

  /** Puts another row behind the one that is being ended. Rows that wait for the same are one. */
  async function putOff(
    id: string,
    conversationId: string,
    { bundle }: WorkStanding,
    mark: string,
    at?: Instant,
  ): Promise<void> {
    const [, own = '', again = '0'] = /^(.*?)(?:~(\d+))?$/.exec(id.slice(storedName(conversationId).length + 1)) ?? [];
    // It came too soon, by another clock: a row of the same name would be itself.
    const cause = own === mark ? `${mark}~${Number(again) + 1}` : mark;
    await database.together((transaction) => queue.outbox(transaction, { conversationId, bundle, cause, at }));
  }

  async function launch(): Promise<void> {
    assert(!DBOS.isInitialized(), 'a process has one engine on DBOS');
    DBOS.setConfig({
      ...dbosConfig(database, queue.pool, logger),
      runMigrations: false,
      executorID: worker,
      listenQueues: bundles.map(storedName),
    });
    // How often a slice is tried again is for the log to say.
    DBOS.registerWorkflow(begin, { name: SLICE, maxRecoveryAttempts: Number.MAX_SAFE_INTEGER });
    await DBOS.launch();
  }

  async function end(drainMs: number): Promise<void> {
    try {
      if (slice !== undefined) {
        keeper.stop();
        for (const { controller } of running.values()) controller.abort();
        // It begins nothing more from here on.
        const down = DBOS.shutdown({
          workflowCompletionTimeoutMS: Math.min(drainMs, LONGEST_DRAIN_MS),
          deregister: true,
        });
        await within(drainMs, down, clock);
        await keeper.leave();
      }
    } catch (error) {
      // What is left here is handed over by others once there is no sign of life.
      logger.warn('the queues of DBOS could not be left', { error });
    } finally {
      await queue.close();
    }
  }

  return {
    async start(given) {
      assert(slice === undefined && stopped === undefined, 'an engine is started once');
      slice = given;
      await keeper.start();
      await launch();
    },
    // What gives work is in the queue with it.
    wake: () => Promise.resolve(),
    async interrupt(conversationId) {
      const here = [...running.values()].filter((one) => one.conversationId === conversationId);
      for (const { controller } of here) controller.abort();
      await Promise.all(here.map(({ ended }) => ended));
    },
    stop({ drainMs }) {
      stopped ??= end(drainMs);
      return stopped;
    },
    async health() {
      const [[depth], [lag], ready, oldestReady, due] = await Promise.all([
        database.run<{ queued: number }>(sql.depth, [], 'some'),
        database.run<{ ms: number | null }>(sql.lag, [], 'some'),
        log.ready(WAITING_COUNTED, { bundles }),
        log.oldestReady(),
        log.due({ bundles }),
      ]);
      const late = due === undefined ? 0 : clock.now() - due;
      return {
        running: running.size,
        waiting: ready.length,
        failing: failed.size,
        queued: depth?.queued ?? 0,
        oldestReady,
        overdueMs: Math.max(0, late, (lag?.ms ?? 0) - leaseMs),
      };
    },
    check() {
      const lateMs = slice === undefined ? 0 : keeper.lateMs();
      if (lateMs === 0) return;
      throw new TreadleError('log_unavailable', {
        place: `${database.settings.place}, the queues of DBOS`,
        found: `no look after them that succeeded, for ${Math.round(lateMs / 1_000)} s longer than others wait`,
        wanted: 'one every few seconds',
        hint: 'see the lines of the log: others take over what this process has',
      });
    },
  };
}

/** A timer of Node holds no more. */
const LONGEST_DRAIN_MS = 2_147_483_647;

/** Waits for work, but not longer than so many milliseconds. */
async function within(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  let off: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (off = clock.after(ms, resolve)));
  try {
    await Promise.race([work, late]);
  } finally {
    off();
  }
}

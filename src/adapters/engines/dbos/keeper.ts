import { assert } from '../../../base/assert.ts';
import type { Clock, Instant } from '../../../base/clock.ts';
import type { Logger } from '../../../kernel/logger.ts';
import type { Transaction } from '../../stores/postgres/database.ts';
import { nameOf } from '../../stores/postgres/text.ts';
import type { DbosQueue } from './queue.ts';
import { keeperStatements } from './sql.ts';

export interface KeeperOptions {
  readonly queue: DbosQueue;
  /** As which this process takes up work. */
  readonly worker: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A process that gave no sign of life for so long is taken for dead. */
  readonly staleMs: number;
  /** Ids of what is under way in this process. */
  readonly underWay: () => readonly string[];
  /** Now as the log counts it, where that is not the clock of the database. */
  readonly now: () => Instant | null;
}

/**
 * What DBOS leaves to whoever runs it without its own control plane: signs of life, so that what a dead process had taken up
 * is handed to another; work that the queue knows nothing of; and rows that are finished.
 *
 * Each process gives its sign of life; of several, whichever comes first does the rest, for all bundles. A wrong verdict
 * wastes work and breaks none: what a process does that was taken for dead is refused by the lease of the log.
 */
export interface Keeper {
  /** The first round, and all that come after it. */
  start(): Promise<void>;
  /** For how many milliseconds the last round that succeeded is too long ago; 0 where it is not. */
  lateMs(): number;
  /** Hands over what this process has taken up and not ended, and says that it is gone. */
  leave(): Promise<void>;
  stop(): void;
}

const BEATS_IN_STALE = 4;
const LONGEST_BEAT_MS = 5_000;
const SWEEP_MS = 30_000;
const CLEAN_MS = 600_000;
/** What became of slices is for whoever looks into DBOS; the log has it all. */
const KEPT_MS = 3_600_000;
/** Slices that failed, for longer: their errors are in the rows. */
const FAILED_KEPT_MS = 7 * 86_400_000;

interface Left {
  readonly id: string;
  readonly queue: string;
  readonly worker: string;
}

export function createKeeper({ queue, worker, clock, logger, staleMs, underWay, now }: KeeperOptions): Keeper {
  const { database, client } = queue;
  const sql = keeperStatements(database.settings.schema, queue.schema);
  const beatMs = Math.min(LONGEST_BEAT_MS, staleMs / BEATS_IN_STALE);
  let isOver = false;
  let lastRound = 0;
  let sweptAt = -Infinity;
  let cleanedAt = clock.now();
  let cancel: () => void = () => undefined;
  let round: Promise<void> = Promise.resolve();

  async function go(): Promise<void> {
    try {
      await database.run(sql.beat, [worker], 'none');
      await database.together(keep);
      lastRound = performance.now();
    } catch (error) {
      if (!isOver) logger.warn('the queues of DBOS could not be looked after', { error });
    } finally {
      if (!isOver) cancel = clock.after(beatMs, () => void (round = go()));
    }
  }

  /** One process at a time: two would hand over the same twice, the second time from whoever had it from the first. */
  async function keep(transaction: Transaction): Promise<void> {
    const [lock] = await transaction.run<{ mine: boolean }>(sql.lock.text, [`${queue.schema} keeper`]);
    if (lock?.mine !== true) return;
    const left = await transaction.run<Left & Record<string, unknown>>(sql.left.text, [
      worker,
      staleMs,
      [...underWay()],
    ]);
    if (left.length > 0) await handOver(left);
    const at = clock.now();
    if (at - sweptAt >= SWEEP_MS) {
      await sweep(transaction);
      sweptAt = at;
    }
    if (at - cleanedAt >= CLEAN_MS) {
      await clean(transaction);
      cleanedAt = at;
    }
  }

  /** Into the queue that it came from: its partition stays closed to others meanwhile. */
  async function handOver(left: readonly Left[]): Promise<void> {
    const workers = [...new Set(left.map((one) => one.worker))];
    logger.warn('slices of processes that give no sign of life are handed over', { slices: left.length, workers });
    for (const [queueName, rows] of Map.groupBy(left, (one) => one.queue))
      await client.resumeWorkflows(
        rows.map(({ id }) => id),
        { queueName },
      );
  }

  async function sweep(transaction: Transaction): Promise<void> {
    const missing = await transaction.run<{ id: string; bundle: string; epoch: number; now: number }>(
      sql.missing.text,
      [now()],
    );
    for (const { id, bundle, epoch, now: at } of missing)
      await queue.outbox(transaction, {
        conversationId: nameOf(id),
        bundle: nameOf(bundle),
        cause: `s${epoch}.${at}`,
      });
  }

  async function clean(transaction: Transaction): Promise<void> {
    const ids = (await transaction.run<{ id: string }>(sql.finished.text, [KEPT_MS, FAILED_KEPT_MS])).map(
      ({ id }) => id,
    );
    if (ids.length > 0) await client.deleteWorkflows(ids);
    await transaction.run(sql.forget.text);
  }

  return {
    async start() {
      assert(lastRound === 0, 'a keeper is started once');
      await (round = go());
    },
    lateMs: () => Math.max(0, performance.now() - lastRound - Math.max(staleMs, 3 * beatMs)),
    stop() {
      isOver = true;
      cancel();
    },
    async leave() {
      await round;
      const own = await database.run<Left & Record<string, unknown>>(sql.own, [worker], 'some');
      for (const [queueName, rows] of Map.groupBy(own, (one) => one.queue))
        await client.resumeWorkflows(
          rows.map(({ id }) => id),
          { queueName },
        );
      await database.run(sql.leave, [worker], 'some');
    },
  };
}

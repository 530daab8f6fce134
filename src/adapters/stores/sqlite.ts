import type { DatabaseSync } from 'node:sqlite';
import type { Clock, Instant } from '../../base/clock.ts';
import { sha256 } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Fact } from '../../domain/event.ts';
import type { AppendResult, Log } from '../../kernel/log.ts';
import { conversationRow, minuteOf } from './conversation-row.ts';
import { pack } from './packed.ts';
import { busyConversation, placed, unknownConversation } from './fact.ts';
import { folded } from './listing.ts';
import { adopted, carried } from './sqlite/carry.ts';
import { createBlobs } from './sqlite/blobs.ts';
import { connect, connectToRead, type Synchronous } from './sqlite/connection.ts';
import { storeError } from './sqlite/errors.ts';
import { createFactTable } from './sqlite/fact-table.ts';
import { createNames } from './sqlite/names.ts';
import { createPoll } from './sqlite/poll.ts';
import { created, forkConversation, listed, removeConversation, statusCounts } from './sqlite/conversation-table.ts';
import { standingRow, type StandingRow } from './sqlite/rows.ts';
import { createStatements } from './sqlite/statements.ts';
import { createTransactions } from './sqlite/transactions.ts';
import { fairWork, freeWork, nextDue } from './sqlite/work.ts';
import { createOutage } from './outage.ts';
import { idleTimer, type Schedule } from './schedule.ts';
import { holds, isLeased, leavesWork, mayTake, refusal } from './standing.ts';
import { createWatchers } from './watchers.ts';

export interface SqliteLogOptions {
  /** Made where it is missing, with its folder. */
  readonly file: string;
  readonly clock: Clock;
  readonly synchronous?: Synchronous | undefined;
  /** How long to wait for another process that writes. The event loop stands still meanwhile. */
  readonly busyTimeoutMs?: number | undefined;
  /** Without a problem: one that was told of before is over. */
  readonly onWarning?: ((message: string, problem?: unknown) => void) | undefined;
  /** For the look at what other processes state. The default keeps no process alive. */
  readonly schedule?: Schedule | undefined;
}

/**
 * A log in one SQLite file, for any number of processes of one machine.
 *
 * With `normal`, every method answers at once. With `full`, `append` and `post` answer after a trip to the disk that
 * all writes of the tick share.
 */
export async function openSqliteLog(options: SqliteLogOptions): Promise<Log> {
  const { file, synchronous = 'full', busyTimeoutMs = 5000 } = options;
  return createSqliteLog(await connect(file, synchronous, busyTimeoutMs), options);
}

/** The log in a file that cannot be written: what would state anything is refused with `log_full`. */
export function openSqliteLogToRead(options: Pick<SqliteLogOptions, 'file' | 'clock'>): Log {
  return createSqliteLog(connectToRead(options.file), options);
}

/** The log over a connection that `connect` has made; closing the log closes it. */
export function createSqliteLog(
  connection: DatabaseSync,
  { file, clock, synchronous = 'full', onWarning = () => undefined, schedule = idleTimer }: SqliteLogOptions,
): Log {
  const sql = createStatements(connection);
  const names = createNames(sql);
  const blobs = createBlobs(sql);
  const table = createFactTable(file, sql, names, blobs);
  connection.function('folded', { deterministic: true }, (text) => folded(String(text)));
  const explain = (problem: unknown) => storeError(problem, file);
  const transactions = createTransactions(connection, synchronous, { undone: () => names.forget(), explain });
  const watchers = createWatchers((problem) => onWarning('A watcher of the log threw.', problem));
  const poll = createPoll(
    watchers,
    schedule,
    { version: () => Number(sql('dataVersion').get()?.['data_version']), head: headOf },
    createOutage((message, problem) => onWarning(message, problem === undefined ? undefined : explain(problem)), {
      begun: 'The log cannot be watched.',
      over: 'The log is watched again.',
    }),
  );

  function reading<T>(work: () => T): T {
    if (!connection.isOpen) throw closed(file);
    try {
      return work();
    } catch (problem) {
      throw explain(problem);
    }
  }

  function headOf(conversationId: string): number {
    return Number(sql('head').get(conversationId)?.['head'] ?? 0);
  }

  function standingOf(conversationId: string): StandingRow | undefined {
    const columns = sql('standing').get(conversationId);
    return columns === undefined ? undefined : standingRow(columns);
  }

  function known(conversationId: string): StandingRow {
    const standing = standingOf(conversationId);
    if (standing === undefined) throw unknownConversation(`${file}: conversation ${conversationId}`);
    return standing;
  }

  return {
    create(meta) {
      return light(() => created(sql, meta));
    },

    find(conversationId) {
      return reading(() => {
        const columns = sql('find').get(conversationId);
        return columns === undefined ? undefined : conversationRow(columns);
      });
    },

    list(query) {
      return reading(() => listed(sql, query));
    },

    archive(conversationId, archived) {
      return heavy(
        () => {
          return sql('archive').run(conversationId, archived ? clock.now() : null).changes === 1;
        },
        () => undefined,
      );
    },

    rename(conversationId, title) {
      return heavy(
        () => sql('rename').run(conversationId, title).changes === 1,
        () => undefined,
      );
    },

    remove(conversationId) {
      return heavy(
        () => {
          const standing = standingOf(conversationId);
          if (standing === undefined) return false;
          if (isLeased(standing, clock.now())) throw busyConversation(`${file}: conversation ${conversationId}`);
          removeConversation(sql, standing);
          return true;
        },
        (removed) => {
          if (removed) watchers.notify(conversationId);
        },
      );
    },

    fork(meta, from, at) {
      return heavy(
        () => {
          const source = known(from);
          if (!created(sql, meta)) return false;
          forkConversation(sql, source, known(meta.id), at);
          return true;
        },
        () => undefined,
      );
    },

    read(conversationId, after, limit) {
      return reading(() => {
        const standing = standingOf(conversationId);
        return standing === undefined
          ? []
          : table.read(conversationId, standing, Math.max(0, after), Math.max(0, limit));
      });
    },

    append(lease, expected, drafts, row) {
      const { conversationId } = lease;
      const packed = drafts.map((draft) => pack(conversationId, draft));
      return heavy(
        (): AppendResult => {
          const standing = standingOf(conversationId);
          const reason = standing === undefined ? 'fenced' : refusal(standing, lease, expected);
          if (standing === undefined || reason !== undefined) return { ok: false, reason: reason ?? 'fenced' };
          const now = clock.now();
          const facts: Fact[] = [];
          for (const one of packed) {
            if (table.keyed(standing.key, one.draft) !== undefined) continue;
            const fact = placed(conversationId, standing.agentPath, expected + facts.length + 1, now, one.draft);
            table.add(standing.key, fact.seq, now, one);
            facts.push(fact);
          }
          moveInList(standing, now);
          sql('appended').run(standing.key, expected + facts.length, now, row?.status ?? null, row?.title ?? null);
          return { ok: true, facts };
        },
        (result) => {
          if (result.ok && result.facts.length > 0) watchers.notify(conversationId);
        },
      );
    },

    post(conversationId, draft) {
      const packed = pack(conversationId, draft);
      return heavy(
        () => {
          const standing = known(conversationId);
          const before = table.keyed(standing.key, draft);
          if (before !== undefined) {
            const [fact] = table.read(conversationId, standing, before - 1, 1);
            if (fact !== undefined) return { fact, fresh: false };
          }
          const now = clock.now();
          const fact = placed(conversationId, standing.agentPath, standing.head + 1, now, draft);
          table.add(standing.key, fact.seq, now, packed);
          moveInList(standing, now);
          sql('posted').run(standing.key, fact.seq, now);
          return { fact, fresh: true };
        },
        ({ fresh }) => {
          if (!fresh) return;
          watchers.notify(conversationId);
          watchers.notifyOfWork();
        },
      );
    },

    take(conversationId, owner, ttlMs) {
      return light(() => {
        const standing = known(conversationId);
        const now = clock.now();
        if (!mayTake(standing, owner, now)) return undefined;
        sql('take').run(standing.key, owner, now + ttlMs, now);
        return { conversationId, owner, epoch: standing.epoch + 1, until: now + ttlMs };
      });
    },

    renew(lease, ttlMs) {
      return light(() => {
        const standing = standingOf(lease.conversationId);
        if (standing === undefined || !holds(standing, lease)) return undefined;
        const until = Math.max(standing.until, clock.now() + ttlMs);
        sql('renew').run(standing.key, until);
        return { ...lease, until };
      });
    },

    release(lease, options = {}) {
      const { continueAt } = options;
      const hasWork = light(() => {
        const standing = standingOf(lease.conversationId);
        if (standing === undefined || !holds(standing, lease)) return false;
        const left = leavesWork(standing, options);
        sql('release').run(standing.key, left ? clock.now() : null, continueAt ?? null);
        return left || continueAt !== undefined;
      });
      if (hasWork) watchers.notifyOfWork();
    },

    ready(limit, { bundles, shares } = {}) {
      const most = Math.max(0, limit);
      return reading(() => {
        const free =
          shares === undefined
            ? freeWork(sql, clock.now(), most, bundles)
            : fairWork(sql, clock.now(), most, { bundles, shares });
        return free.map(({ id }) => id);
      });
    },

    due({ bundles } = {}) {
      return reading(() => nextDue(sql, bundles));
    },

    onWork(listener) {
      const leave = watchers.addForWork(listener);
      reading(() => poll.start());
      return () => {
        leave();
        if (watchers.isIdle) poll.stop();
      };
    },

    counts() {
      return reading(() => statusCounts(sql));
    },

    oldestReady() {
      return reading(() => freeWork(sql, clock.now(), 1, undefined)[0]?.since);
    },

    watch(conversationId, listener) {
      const leave = watchers.add(conversationId, listener);
      reading(() => poll.start(conversationId));
      return () => {
        leave();
        if (watchers.isIdle) poll.stop();
      };
    },

    carry(conversationId) {
      return reading(() => {
        const [standing, columns] = [standingOf(conversationId), sql('find').get(conversationId)];
        if (standing === undefined || columns === undefined) return undefined;
        if (isLeased(standing, clock.now())) throw busyConversation(`${file}: conversation ${conversationId}`);
        return carried({ sql, blobs, table }, conversationRow(columns), standing);
      });
    },

    adopt(given) {
      return heavy(
        () => adopted({ sql, blobs, table }, given, (id) => known(id).key, clock.now()),
        (isNew) => {
          if (isNew && (given.hasWork || given.continueAt !== undefined)) watchers.notifyOfWork();
        },
      );
    },

    writeBody(conversationId, body) {
      const ref = sha256(body);
      return light(() => {
        blobs.grant(known(conversationId).key, blobs.keyOf(ref, body));
        return ref;
      });
    },

    readBody(conversationId, ref) {
      return reading(() => blobs.granted(conversationId, ref));
    },

    close() {
      if (!connection.isOpen) return;
      poll.stop();
      transactions.flush();
      connection.close();
    },
  };

  function moveInList(standing: StandingRow, now: Instant): void {
    const minute = minuteOf(now);
    if (minute !== standing.minute) sql('minute').run(standing.key, minute);
  }

  function light<T>(work: () => T): T {
    if (!connection.isOpen) throw closed(file);
    return transactions.writeLightly(work);
  }

  function heavy<T>(work: () => T, committed: (result: T) => void): T | Promise<T> {
    if (!connection.isOpen) throw closed(file);
    return transactions.write(work, committed);
  }
}

function closed(file: string): TreadleError {
  return new TreadleError('log_unavailable', { place: file, found: 'a log that was closed', wanted: 'an open log' });
}

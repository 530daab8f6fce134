import type { Clock, Instant } from '../../base/clock.ts';
import { sha256 } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import { RUN_STATUSES, statusKind } from '../../domain/status.ts';
import type { AppendResult, Log } from '../../kernel/log.ts';
import { minuteOf } from './conversation-row.ts';
import { placed, unknownConversation } from './fact.ts';
import { folded } from './listing.ts';
import { adopted, carried } from './postgres/carry.ts';
import { openDatabase, type Database, type Value } from './postgres/database.ts';
import { channelOf, createLine, type Line } from './postgres/line.ts';
import { listStatement } from './postgres/list.ts';
import { migrate } from './postgres/migrate.ts';
import { createNews } from './postgres/news.ts';
import {
  columnsOf,
  COLUMNS,
  factsIn,
  packedRow,
  rowOf,
  withoutTwins,
  type PackedRow,
  type Posted,
  type ReadRow,
  type Released,
  type Row,
  type Standing,
} from './postgres/rows.ts';
import type { Outbox } from './postgres/outbox.ts';
import { removeConversation } from './postgres/remove.ts';
import { readDatabaseUrl } from './postgres/settings.ts';
import { logStatements } from './postgres/sql.ts';
import { createStatements } from './postgres/statements.ts';
import { nameOf, storedName, storedNames } from './postgres/text.ts';
import { idleTimer, type Schedule } from './schedule.ts';
import { createOutage } from './outage.ts';
import { createWatchers } from './watchers.ts';

export interface PostgresLogOptions {
  /** `postgres://user:password@host/database`, with `?schema=` and `?pool=` where the defaults do not do. */
  readonly url: string;
  /** Of this process. Times in the log are the database's own, which all processes share. */
  readonly clock: Clock;
  /** Names this process in what it calls to the others. */
  readonly origin: string;
  /** Without a problem: one that was told of before is over. */
  readonly onWarning?: ((message: string, problem?: unknown) => void) | undefined;
  /** Times are those of `clock`: for tests, in which time stands still. */
  readonly ownTime?: boolean | undefined;
  readonly schedule?: Schedule | undefined;
  /** What is told of all work that conversations get, where something besides the log hands it out. */
  readonly outboxOf?: ((database: Database) => Promise<Outbox>) | undefined;
}

/** A log in a PostgreSQL database, and what else is kept there. */
export interface PostgresLog extends Log {
  readonly database: Database;
  /** On which processes that share the database call to each other. */
  readonly line: Line;
  /** How things stand with the work of a conversation; undefined when it is unknown. */
  workOf(conversationId: string): Promise<WorkStanding | undefined>;
}

/** Whether there is work that nobody holds. */
export interface WorkStanding {
  readonly bundle: string;
  readonly epoch: number;
  /** From when on there is, by the passing of time alone: the end of a rest, or of a lease. Absent: not before somebody states a fact. */
  readonly ready?: { readonly at: Instant; /** 0: now. */ readonly inMs: number } | undefined;
}

/** `initializing` is what a conversation is born with and says nothing. */
const WORKING = RUN_STATUSES.filter((status) => status !== 'initializing' && statusKind(status) === 'working');

/** Makes the tables where they are missing and the role may. Throws what opening a log throws. */
export async function openPostgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const database = await openDatabase(readDatabaseUrl(options.url));
  try {
    await migrate(database);
    return createPostgresLog(database, options, await options.outboxOf?.(database));
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The log over a database whose tables are there; closing the log closes it. */
export function createPostgresLog(
  database: Database,
  {
    clock,
    origin,
    onWarning = () => undefined,
    ownTime = false,
    schedule = idleTimer,
  }: Omit<PostgresLogOptions, 'url' | 'outboxOf'>,
  outbox?: Outbox,
): PostgresLog {
  const { schema, place: server } = database.settings;
  const sql = logStatements(schema);
  const line = createLine(database, sql.notify, {
    origin,
    schedule,
    outage: createOutage(onWarning, {
      begun: 'The other processes of the log cannot be heard.',
      over: 'The other processes of the log are heard again.',
    }),
  });
  const watchers = createWatchers((problem) => onWarning('A watcher of the log threw.', problem));
  const news = createNews({
    ...{ line, channel: channelOf(database, 'facts'), watchers, schedule },
    async heads(conversations) {
      const rows = await run<{ id: string; head: number }>('heads', [conversations.map(storedName)], 'none');
      return new Map(rows.map(({ id, head }) => [nameOf(id), head]));
    },
    outage: createOutage(onWarning, {
      begun: 'The log cannot be watched.',
      over: 'The log is watched again.',
    }),
  });
  const { run, stating } = createStatements(database, sql, outbox);
  const time = (): Instant | null => (ownTime ? clock.now() : null);

  function unknown(conversationId: string): TreadleError {
    return unknownConversation(`${server}: conversation ${conversationId}`);
  }

  async function refusalOf(conversationId: string, epoch: number): Promise<AppendResult> {
    const [row] = await run<{ epoch: number; owner: string | null }>('standing', [storedName(conversationId)], 'long');
    const isHeld = row !== undefined && row.owner !== null && row.epoch === epoch;
    return { ok: false, reason: isHeld ? 'moved' : 'fenced' };
  }

  function tellOf(conversationId: string, hasWork: boolean): void {
    watchers.notify(conversationId);
    if (hasWork) watchers.notifyOfWork();
    news.stated(conversationId, hasWork);
  }

  const log: PostgresLog = {
    database,
    line,

    async create(meta) {
      const columns = columnsOf(meta);
      columns.splice(7, 0, minuteOf(meta.createdAt));
      return (await run('create', columns, 'none')).length === 1;
    },

    async find(conversationId) {
      const [row] = await run('find', [storedName(conversationId)], 'some');
      return row === undefined ? undefined : rowOf(row);
    },

    async list(query) {
      const { text, values } = listStatement(schema, query);
      return (await database.run<Row>({ name: '', text }, values, 'some')).map(rowOf);
    },

    async archive(conversationId, archived) {
      return (await run('archive', [storedName(conversationId), archived, time()], 'some')).length === 1;
    },

    async rename(conversationId, title) {
      const titles = [title, folded(title)].map(storedName);
      return (await run('rename', [storedName(conversationId), ...titles], 'some')).length === 1;
    },

    async remove(conversationId) {
      const removed = await removeConversation(database, conversationId, time());
      if (removed) tellOf(conversationId, false);
      return removed;
    },

    async fork(meta, from, at) {
      const values = [...columnsOf(meta), storedName(from), Math.max(0, at)];
      const [done] = await run<{ known: boolean; made: boolean }>('fork', values, 'none');
      if (done?.known !== true) throw unknown(from);
      return done.made;
    },

    async read(conversationId, after, limit) {
      const [from, most] = [Math.max(0, after), Math.max(0, limit)];
      const rows = await run<ReadRow>('read', [storedName(conversationId), from, most], 'some');
      return factsIn(rows, { conversationId, from, most, place: `${server}: conversation ${conversationId}` });
    },

    async append({ conversationId, epoch }, expected, drafts, row) {
      const packed = withoutTwins(drafts).map((draft) => packedRow(conversationId, draft));
      const column = (name: keyof PackedRow): Value => packed.map((one) => one[name]) as Value; // one type a column
      const blobs = new Map(
        packed.flatMap(({ blob, content }) => (blob && content ? [[blob.toString('hex'), [blob, content]]] : [])),
      );
      const texts = [row?.title, row?.title === undefined ? undefined : folded(row.title)];
      const [done] = await run<{ agent_path: string; at: number; places: number[] | null }>(
        'append',
        [
          ...[storedName(conversationId), epoch, expected, time()],
          ...COLUMNS.map(column),
          ...[row?.status ?? null, ...texts.map((text) => (text === undefined ? null : storedName(text)))],
          ...[0, 1].map((index) => [...blobs.values()].map((pair) => pair[index] ?? null)),
        ],
        'long',
      );
      if (done === undefined) return refusalOf(conversationId, epoch);
      const agentPath = nameOf(done.agent_path);
      const facts = (done.places ?? []).flatMap((place, index) => {
        const draft = packed[place - 1]?.draft;
        return draft === undefined ? [] : [placed(conversationId, agentPath, expected + index + 1, done.at, draft)];
      });
      if (facts.length > 0) tellOf(conversationId, false);
      return { ok: true, facts };
    },

    async post(conversationId, draft) {
      const packed = packedRow(conversationId, draft);
      const [done] = await stating<Posted>(
        'post',
        [storedName(conversationId), time(), ...COLUMNS.map((name) => packed[name] as Value), packed.content], // a draft is no value, and no column
        draft.key === undefined ? 'none' : 'some',
        // One that had work already is in the outbox, or comes there when whoever holds it lets go.
        ({ seq, bundle, woken }) => (woken ? { bundle: nameOf(bundle), cause: String(seq) } : undefined),
        conversationId,
      );
      if (done === undefined) throw unknown(conversationId);
      if (!done.fresh) {
        const [fact] = await log.read(conversationId, done.seq - 1, 1);
        if (fact === undefined) throw unknown(conversationId);
        return { fact, fresh: false };
      }
      tellOf(conversationId, true);
      return { fact: placed(conversationId, nameOf(done.agent_path), done.seq, done.at, draft), fresh: true };
    },

    async take(conversationId, owner, ttlMs) {
      const values = [storedName(conversationId), storedName(owner), ttlMs, time()];
      const [row] = await run<{ epoch: number; until: number }>('take', values, 'some');
      if (row !== undefined) return { conversationId, owner, ...row };
      if ((await log.find(conversationId)) === undefined) throw unknown(conversationId);
      return undefined;
    },

    async renew(lease, ttlMs) {
      const values = [storedName(lease.conversationId), lease.epoch, ttlMs, time()];
      const [row] = await run<{ until: number }>('renew', values, 'long');
      return row === undefined ? undefined : { ...lease, ...row };
    },

    async release({ conversationId, epoch }, { unfinished = false, continueAt } = {}) {
      const values = [storedName(conversationId), epoch, unfinished, continueAt ?? null, WORKING, time()];
      const cause = `e${epoch}`;
      const [row] = await stating<Released>(
        'release',
        values,
        'some',
        ({ bundle, waiting_since, continue_at }) => {
          if (waiting_since !== null) return { bundle: nameOf(bundle), cause };
          return continue_at === null ? undefined : { bundle: nameOf(bundle), cause, at: continue_at };
        },
        conversationId,
      );
      if (row === undefined) return;
      const hasWork = row.waiting_since !== null || row.continue_at !== null;
      if (hasWork) watchers.notifyOfWork();
      // Room was made, which others may have waited for.
      if (hasWork || row.more) news.stated(conversationId, true);
    },

    async ready(limit, { bundles, shares } = {}) {
      const values = [Math.max(0, limit), storedNames(bundles), time()];
      const limits = [shares?.perTenant ?? null, shares?.perUser ?? null];
      const rows = await (shares === undefined
        ? run<{ id: string }>('ready', values, 'some')
        : run<{ id: string }>('turns', [...values, ...limits], 'some'));
      return rows.map(({ id }) => nameOf(id));
    },

    async due({ bundles } = {}) {
      const [row] = await run<{ ms: number | null }>('due', [storedNames(bundles), time()], 'some');
      return row?.ms === null || row === undefined ? undefined : clock.now() + row.ms;
    },

    onWork(listener) {
      refuseClosed();
      const leave = watchers.addForWork(listener);
      news.watch();
      return () => {
        leave();
        if (watchers.isIdle) news.rest();
      };
    },

    async counts() {
      const rows = await run<{ status: string; count: number }>('counts', [], 'some');
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },

    async oldestReady() {
      const [row] = await run<{ since: number; now: number }>('ready', [1, null, time()], 'some');
      return row === undefined ? undefined : clock.now() - (row.now - row.since); // as this process counts
    },

    watch(conversationId, listener) {
      refuseClosed();
      const leave = watchers.add(conversationId, listener);
      news.watch(conversationId);
      return () => {
        leave();
        if (watchers.isIdle) news.rest();
      };
    },

    async workOf(conversationId) {
      const [row] = await run<Standing>('workOf', [storedName(conversationId), time()], 'some');
      if (row === undefined) return undefined;
      const { bundle, epoch, at, ms } = row;
      const ready = at === null || ms === null ? undefined : { at, inMs: ms };
      return { bundle: nameOf(bundle), epoch, ready };
    },

    carry: (conversationId) => carried(database, conversationId, time()),

    async adopt(given) {
      const isNew = await adopted(database, given, time(), outbox);
      if (isNew && (given.hasWork || given.continueAt !== undefined)) tellOf(given.row.id, true);
      return isNew;
    },

    async writeBody(conversationId, body) {
      const ref = sha256(body);
      const values = [storedName(conversationId), Buffer.from(ref, 'hex'), Buffer.from(body)];
      if ((await run('writeBody', values, 'long')).length === 0) throw unknown(conversationId);
      return ref;
    },

    async readBody(conversationId, ref) {
      const values = [storedName(conversationId), Buffer.from(ref, 'hex')];
      const [row] = await run<{ content: Buffer }>('readBody', values, 'some');
      return row?.content.toString();
    },

    async close() {
      if (!database.isOpen) return;
      news.flush();
      news.rest();
      await line.close();
      await database.close();
    },
  };
  return log;

  function refuseClosed(): void {
    if (database.isOpen) return;
    throw new TreadleError('log_unavailable', { place: server, found: 'a log that was closed', wanted: 'an open log' });
  }
}

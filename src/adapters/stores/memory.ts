import type { Clock, Instant } from '../../base/clock.ts';
import { sha256 } from '../../base/digest.ts';
import type { Draft, Fact } from '../../domain/event.ts';
import type { RunStatus } from '../../domain/status.ts';
import type { AppendResult, ConversationMeta, ConversationRow, Lease, Log } from '../../kernel/log.ts';
import { busyConversation, copied, placed, unknownConversation } from './fact.ts';
import { fairly, type FreeRun, type Held } from './fair.ts';
import { compareRows, isListed } from './listing.ts';
import { holds, isLeased, leavesWork, mayTake, refusal } from './standing.ts';
import { createWatchers } from './watchers.ts';

/** One conversation. Mutable, and never handed out. */
interface Entry {
  readonly meta: ConversationMeta;
  /** Facts as they were drafted, and when each was stated: what its place says of a fact is made when it is read. */
  readonly drafts: Draft[];
  readonly times: Instant[];
  /** Sequence numbers by type and key. Absent until the first key. */
  keys: Map<string, number> | undefined;
  bodies: Map<string, string> | undefined;
  head: number;
  status: RunStatus;
  title: string;
  updatedAt: Instant;
  epoch: number;
  owner: string | undefined;
  until: Instant;
  seen: number;
  posted: number;
  /** Since when there is work left or begun. */
  waitingSince: Instant | undefined;
  continueAt: Instant | undefined;
  archivedAt: Instant | undefined;
}

/** The log with every method answering at once: no promise is made, so nobody has to wait for one. */
export type MemoryLog = {
  [K in keyof Log]: (...parameters: Parameters<Log[K]>) => Exclude<ReturnType<Log[K]>, Promise<unknown>>;
};

/**
 * A log that lives and dies with the process: for tests, for examples, and for runs nobody needs to keep.
 *
 * Facts keep the very payload objects they were drafted with, so whoever drafts one must not change it afterwards.
 */
export function createMemoryLog({
  clock,
  onWarning = () => undefined,
}: {
  readonly clock: Clock;
  readonly onWarning?: ((message: string, problem: unknown) => void) | undefined;
}): MemoryLog {
  const entries = new Map<string, Entry>();
  /** Conversations with work left or begun, the longest waiting first. */
  const waiting = new Set<Entry>();
  /** Conversations that are to go on at a time of their own. */
  const timed = new Set<Entry>();
  const watchers = createWatchers((problem) => onWarning('A watcher of the log threw.', problem));

  function entryOf(conversationId: string): Entry {
    const entry = entries.get(conversationId);
    if (entry === undefined) throw unknownConversation(conversationId);
    return entry;
  }

  function add(entry: Entry, draft: Draft, at: Instant): Fact {
    entry.drafts.push(draft);
    entry.times.push(at);
    const seq = ++entry.head;
    if (draft.key !== undefined) (entry.keys ??= new Map()).set(keyOf(draft.type, draft.key), seq);
    return placed(entry.meta.id, entry.meta.agentPath, seq, at, draft);
  }

  /** Facts from a place on. */
  function factsOf({ meta, drafts, times }: Entry, from: number, until: number): Fact[] {
    return drafts
      .slice(from, until)
      .map((draft, index) => placed(meta.id, meta.agentPath, from + index + 1, times[from + index] ?? 0, draft));
  }

  function found(entry: Entry, { type, key }: Draft): Fact | undefined {
    const seq = key === undefined ? undefined : entry.keys?.get(keyOf(type, key));
    return seq === undefined ? undefined : factsOf(entry, seq - 1, seq)[0];
  }

  function born(meta: ConversationMeta): Entry {
    const entry: Entry = {
      meta: { ...meta },
      drafts: [],
      times: [],
      keys: undefined,
      bodies: undefined,
      head: 0,
      status: 'initializing',
      title: '',
      updatedAt: meta.createdAt,
      epoch: 0,
      owner: undefined,
      until: 0,
      seen: 0,
      posted: 0,
      waitingSince: undefined,
      continueAt: undefined,
      archivedAt: undefined,
    };
    entries.set(meta.id, entry);
    return entry;
  }

  function wait(entry: Entry, now: Instant): void {
    entry.waitingSince ??= now;
    waiting.add(entry);
  }

  function rest(entry: Entry): void {
    entry.waitingSince = undefined;
    waiting.delete(entry);
  }

  function timeAt(entry: Entry, at: Instant | undefined): void {
    entry.continueAt = at;
    if (at === undefined) timed.delete(entry);
    else timed.add(entry);
  }

  /** What nobody holds and has work, and since when. */
  function free(bundles: readonly string[] | undefined): FreeRun[] {
    const now = clock.now();
    const found: FreeRun[] = [];
    for (const entry of new Set([...waiting, ...timed])) {
      const since = entry.waitingSince ?? entry.continueAt ?? now;
      if (since > now && entry.waitingSince === undefined) continue;
      if (!isLeased(entry, now) && bundles?.includes(entry.meta.bundle) !== false)
        found.push({ id: entry.meta.id, since, tenant: entry.meta.tenant, userId: entry.meta.userId });
    }
    return found.sort((left, right) => left.since - right.since);
  }

  function held(): Held {
    const now = clock.now();
    const metas = [...waiting].filter((entry) => isLeased(entry, now)).map(({ meta }) => meta);
    return {
      ofTenant: (tenant) => metas.filter((meta) => meta.tenant === tenant).length,
      ofUser: (tenant, userId) => metas.filter((meta) => meta.tenant === tenant && meta.userId === userId).length,
    };
  }

  return {
    create(meta) {
      if (entries.has(meta.id)) return false;
      born(meta);
      return true;
    },

    archive(conversationId, archived) {
      const entry = entries.get(conversationId);
      if (entry === undefined) return false;
      entry.archivedAt = archived ? (entry.archivedAt ?? clock.now()) : undefined;
      return true;
    },

    rename(conversationId, title) {
      const entry = entries.get(conversationId);
      if (entry === undefined) return false;
      entry.title = title;
      return true;
    },

    remove(conversationId) {
      const entry = entries.get(conversationId);
      if (entry === undefined) return false;
      if (isLeased(entry, clock.now())) throw busyConversation(conversationId);
      rest(entry);
      timeAt(entry, undefined);
      entries.delete(conversationId);
      watchers.notify(conversationId);
      return true;
    },

    fork(meta, from, at) {
      const source = entryOf(from);
      if (entries.has(meta.id)) return false;
      const entry = born(meta);
      for (const fact of factsOf(source, 0, Math.max(0, at))) {
        entry.drafts.push(copied(fact, meta));
        entry.times.push(fact.at);
      }
      entry.head = entry.seen = entry.drafts.length;
      entry.title = source.title;
      for (const [key, seq] of source.keys ?? []) if (seq <= entry.head) (entry.keys ??= new Map()).set(key, seq);
      if (source.bodies !== undefined) entry.bodies = new Map(source.bodies);
      return true;
    },

    find(conversationId) {
      const entry = entries.get(conversationId);
      return entry === undefined ? undefined : rowOf(entry);
    },

    list(query) {
      const rows: ConversationRow[] = [];
      for (const entry of entries.values()) {
        const row = rowOf(entry);
        if (isListed(row, query)) rows.push(row);
      }
      return rows.sort(compareRows).slice(0, Math.max(0, query.limit));
    },

    read(conversationId, after, limit) {
      const entry = entries.get(conversationId);
      const from = Math.max(0, after);
      return entry === undefined || from >= entry.head ? [] : factsOf(entry, from, from + Math.max(0, limit));
    },

    append(lease, expected, drafts, row): AppendResult {
      const entry = entries.get(lease.conversationId);
      if (entry === undefined) return { ok: false, reason: 'fenced' };
      const reason = refusal(entry, lease, expected);
      if (reason !== undefined) return { ok: false, reason };
      const now = clock.now();
      const added: Fact[] = [];
      for (const draft of drafts) if (found(entry, draft) === undefined) added.push(add(entry, draft, now));
      entry.seen = entry.head;
      entry.updatedAt = now;
      if (row?.status !== undefined) entry.status = row.status;
      if (entry.title === '') entry.title = row?.title ?? '';
      if (added.length > 0) watchers.notify(lease.conversationId);
      return { ok: true, facts: added };
    },

    post(conversationId, draft) {
      const entry = entryOf(conversationId);
      const known = found(entry, draft);
      if (known !== undefined) return { fact: known, fresh: false };
      const now = clock.now();
      const fact = add(entry, draft, now);
      entry.posted = fact.seq;
      entry.updatedAt = now;
      wait(entry, now);
      watchers.notify(conversationId);
      watchers.notifyOfWork();
      return { fact, fresh: true };
    },

    take(conversationId, owner, ttlMs): Lease | undefined {
      const entry = entryOf(conversationId);
      const now = clock.now();
      if (!mayTake(entry, owner, now)) return undefined;
      entry.epoch++;
      entry.owner = owner;
      entry.until = now + ttlMs;
      entry.seen = entry.head;
      wait(entry, now); // until it is let go: a holder that dies leaves its work to the next
      timeAt(entry, undefined);
      return { conversationId, owner, epoch: entry.epoch, until: entry.until };
    },

    renew(lease, ttlMs) {
      const entry = entries.get(lease.conversationId);
      if (entry === undefined || !holds(entry, lease)) return undefined;
      entry.until = Math.max(entry.until, clock.now() + ttlMs);
      return { ...lease, until: entry.until };
    },

    release(lease, options = {}) {
      const entry = entries.get(lease.conversationId);
      if (entry === undefined || !holds(entry, lease)) return;
      entry.owner = undefined;
      rest(entry);
      timeAt(entry, options.continueAt);
      if (leavesWork(entry, options)) wait(entry, clock.now());
      if (entry.waitingSince !== undefined || entry.continueAt !== undefined) watchers.notifyOfWork();
    },

    ready(limit, { bundles, shares } = {}) {
      const runs = free(bundles);
      return (shares === undefined ? runs : fairly(runs, held(), shares))
        .slice(0, Math.max(0, limit))
        .map(({ id }) => id);
    },

    due({ bundles } = {}) {
      let first: Instant | undefined;
      for (const { meta, owner, until, waitingSince, continueAt } of new Set([...waiting, ...timed])) {
        if (bundles?.includes(meta.bundle) === false) continue;
        const at = waitingSince === undefined ? continueAt : owner === undefined ? undefined : until;
        if (at !== undefined) first = Math.min(first ?? at, at);
      }
      return first;
    },

    onWork: (listener) => watchers.addForWork(listener),

    counts() {
      const counts: Partial<Record<RunStatus, number>> = {};
      for (const { status } of entries.values()) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    },

    oldestReady() {
      const times = free(undefined).map(({ since }) => since);
      return times.length === 0 ? undefined : Math.min(...times);
    },

    watch: (conversationId, listener) => watchers.add(conversationId, listener),

    carry(conversationId) {
      const entry = entries.get(conversationId);
      if (entry === undefined) return undefined;
      if (isLeased(entry, clock.now())) throw busyConversation(conversationId);
      return {
        row: rowOf(entry),
        facts: entry.drafts.map((draft, index) => ({ draft, at: entry.times[index] ?? 0 })),
        bodies: [...(entry.bodies?.values() ?? [])],
        hasWork: entry.waitingSince !== undefined,
        continueAt: entry.continueAt,
      };
    },

    adopt({ row, facts, bodies, hasWork, continueAt }) {
      if (entries.has(row.id)) return false;
      const { head: _head, status, title, updatedAt, archivedAt, ...meta } = row;
      const entry = born(meta);
      for (const { draft, at } of facts) add(entry, draft, at);
      Object.assign(entry, { status, title, updatedAt, archivedAt, seen: entry.head });
      for (const body of bodies) (entry.bodies ??= new Map()).set(sha256(body), body);
      timeAt(entry, continueAt);
      if (hasWork) wait(entry, clock.now());
      if (hasWork || continueAt !== undefined) watchers.notifyOfWork();
      return true;
    },

    writeBody(conversationId, body) {
      const entry = entryOf(conversationId);
      const ref = sha256(body);
      (entry.bodies ??= new Map()).set(ref, body.toWellFormed());
      return ref;
    },

    readBody: (conversationId, ref) => entries.get(conversationId)?.bodies?.get(ref),

    close: () => undefined,
  };
}

function keyOf(type: string, key: string): string {
  return `${type}\n${key}`; // no type has a line break
}

function rowOf({ meta, head, status, title, updatedAt, archivedAt }: Entry): ConversationRow {
  const row = { ...meta, head, status, title, updatedAt };
  return archivedAt === undefined ? row : { ...row, archivedAt };
}

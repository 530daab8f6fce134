import type { Clock } from '../../base/clock.ts';
import { sha256 } from '../../base/digest.ts';
import type { Fact } from '../../domain/event.ts';
import type { RunStatus } from '../../domain/status.ts';
import type { AppendResult, ConversationMeta, ConversationRow, Lease, Log } from '../../kernel/log.ts';
import { busyConversation, copied, unknownConversation } from './fact.ts';
import { fairly } from './fair.ts';
import { compareRows, isListed } from './listing.ts';
import { factsOf, found, newEntry, rowOf, stated, type Entry } from './memory/entry.ts';
import { createWork } from './memory/work.ts';
import { holds, isLeased, leavesWork, mayTake, refusal } from './standing.ts';
import { createWatchers } from './watchers.ts';

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
  const work = createWork(clock);
  const watchers = createWatchers((problem) => onWarning('A watcher of the log threw.', problem));

  function entryOf(conversationId: string): Entry {
    const entry = entries.get(conversationId);
    if (entry === undefined) throw unknownConversation(conversationId);
    return entry;
  }

  function born(meta: ConversationMeta): Entry {
    const entry = newEntry(meta);
    entries.set(meta.id, entry);
    return entry;
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
      work.rest(entry);
      work.timeAt(entry, undefined);
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
      for (const draft of drafts) if (found(entry, draft) === undefined) added.push(stated(entry, draft, now));
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
      const fact = stated(entry, draft, now);
      entry.posted = fact.seq;
      entry.updatedAt = now;
      work.wait(entry, now);
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
      work.wait(entry, now); // until it is let go: a holder that dies leaves its work to the next
      work.timeAt(entry, undefined);
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
      work.rest(entry);
      work.timeAt(entry, options.continueAt);
      if (leavesWork(entry, options)) work.wait(entry, clock.now());
      if (entry.waitingSince !== undefined || entry.continueAt !== undefined) watchers.notifyOfWork();
    },

    ready(limit, { bundles, shares } = {}) {
      const runs = work.free(bundles);
      return (shares === undefined ? runs : fairly(runs, work.held(), shares))
        .slice(0, Math.max(0, limit))
        .map(({ id }) => id);
    },

    due: ({ bundles } = {}) => work.due(bundles),

    onWork: (listener) => watchers.addForWork(listener),

    counts() {
      const counts: Partial<Record<RunStatus, number>> = {};
      for (const { status } of entries.values()) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    },

    oldestReady() {
      const times = work.free(undefined).map(({ since }) => since);
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
      for (const { draft, at } of facts) stated(entry, draft, at);
      Object.assign(entry, { status, title, updatedAt, archivedAt, seen: entry.head });
      for (const body of bodies) (entry.bodies ??= new Map()).set(sha256(body), body);
      work.timeAt(entry, continueAt);
      if (hasWork) work.wait(entry, clock.now());
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

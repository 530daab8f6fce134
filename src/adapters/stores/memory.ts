import type { Clock, Instant } from '../../base/clock.ts';
import { sha256 } from '../../base/digest.ts';
import type { Draft, Fact } from '../../domain/event.ts';
import type { RunStatus } from '../../domain/status.ts';
import type { AppendResult, ConversationMeta, ConversationRow, Lease, Log } from '../../kernel/ports.ts';
import { placed, unknownConversation } from './fact.ts';
import { compareRows, isListed } from './listing.ts';
import { holds, isLeased, leavesWork, mayTake, refusal } from './standing.ts';
import { createWatchers } from './watchers.ts';

/** One conversation. Mutable, and never handed out. */
interface Entry {
  readonly meta: ConversationMeta;
  readonly facts: Fact[];
  /** Facts by type and key. Absent until the first key. */
  keys: Map<string, Fact> | undefined;
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
  const watchers = createWatchers((problem) => onWarning('A watcher of the log threw.', problem));

  function entryOf(conversationId: string): Entry {
    const entry = entries.get(conversationId);
    if (entry === undefined) throw unknownConversation(conversationId);
    return entry;
  }

  function add(entry: Entry, draft: Draft, at: Instant): Fact {
    const fact = placed(entry.meta.id, entry.meta.agentPath, entry.head + 1, at, draft);
    entry.facts.push(fact);
    entry.head = fact.seq;
    if (draft.key !== undefined) (entry.keys ??= new Map()).set(keyOf(draft.type, draft.key), fact);
    return fact;
  }

  function found(entry: Entry, { type, key }: Draft): Fact | undefined {
    return key === undefined ? undefined : entry.keys?.get(keyOf(type, key));
  }

  return {
    create(meta) {
      if (entries.has(meta.id)) return false;
      entries.set(meta.id, {
        meta: { ...meta },
        facts: [],
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
      });
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
      const from = Math.max(0, after);
      return entries.get(conversationId)?.facts.slice(from, from + Math.max(0, limit)) ?? [];
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
      if (row?.title !== undefined) entry.title = row.title;
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
      waiting.add(entry);
      watchers.notify(conversationId);
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
      waiting.add(entry); // until it is let go: a holder that dies leaves its work to the next
      return { conversationId, owner, epoch: entry.epoch, until: entry.until };
    },

    renew(lease, ttlMs) {
      const entry = entries.get(lease.conversationId);
      if (entry === undefined || !holds(entry, lease)) return undefined;
      entry.until = Math.max(entry.until, clock.now() + ttlMs);
      return { ...lease, until: entry.until };
    },

    release(lease, { unfinished = false } = {}) {
      const entry = entries.get(lease.conversationId);
      if (entry === undefined || !holds(entry, lease)) return;
      entry.owner = undefined;
      waiting.delete(entry);
      if (unfinished || leavesWork(entry)) waiting.add(entry);
    },

    ready(limit) {
      const now = clock.now();
      const ids: string[] = [];
      for (const entry of waiting) {
        if (ids.length >= limit) break;
        if (!isLeased(entry, now)) ids.push(entry.meta.id);
      }
      return ids;
    },

    watch: (conversationId, listener) => watchers.add(conversationId, listener),

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

function rowOf({ meta, head, status, title, updatedAt }: Entry): ConversationRow {
  return { ...meta, head, status, title, updatedAt };
}

import type { Instant } from '../../../base/clock.ts';
import type { Draft, Fact } from '../../../domain/event.ts';
import type { RunStatus } from '../../../domain/status.ts';
import type { ConversationMeta, ConversationRow } from '../../../kernel/log.ts';
import { placed } from '../fact.ts';

/** One conversation. Mutable, and never handed out. */
export interface Entry {
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

/** The draft as a fact of its conversation, the last one. */
export function stated(entry: Entry, draft: Draft, at: Instant): Fact {
  entry.drafts.push(draft);
  entry.times.push(at);
  const seq = ++entry.head;
  if (draft.key !== undefined) (entry.keys ??= new Map()).set(keyOf(draft.type, draft.key), seq);
  return placed(entry.meta.id, entry.meta.agentPath, seq, at, draft);
}

/** Facts from a place on. */
export function factsOf({ meta, drafts, times }: Entry, from: number, until: number): Fact[] {
  return drafts
    .slice(from, until)
    .map((draft, index) => placed(meta.id, meta.agentPath, from + index + 1, times[from + index] ?? 0, draft));
}

/** What was stated under the key of a draft before. */
export function found(entry: Entry, { type, key }: Draft): Fact | undefined {
  const seq = key === undefined ? undefined : entry.keys?.get(keyOf(type, key));
  return seq === undefined ? undefined : factsOf(entry, seq - 1, seq)[0];
}

export function newEntry(meta: ConversationMeta): Entry {
  return {
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
}

export function rowOf({ meta, head, status, title, updatedAt, archivedAt }: Entry): ConversationRow {
  const row = { ...meta, head, status, title, updatedAt };
  return archivedAt === undefined ? row : { ...row, archivedAt };
}

function keyOf(type: string, key: string): string {
  return `${type}\n${key}`; // no type has a line break
}

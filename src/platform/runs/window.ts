import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { entryDigest, type Entry, type EntryRole } from '../../domain/entry.ts';
import { entriesSince, entryAt, lengthOf, type Timeline } from '../../domain/timeline.ts';
import { invalidCursor, type Cursor } from './cursor.ts';
import type { View } from './page.ts';

/** The timeline now, and as it was. */
export interface Versions {
  readonly now: Timeline;
  /** At a log point, which is not after `now`. */
  readonly at: (seq: number) => MaybePromise<Timeline>;
}

/** Some entries, each with where a reader stands who has seen it. */
export interface Window {
  readonly entries: readonly { readonly entry: Entry; readonly after: Cursor }[];
  /** Where a reader stands who has seen them all. */
  readonly next: Cursor;
  readonly hasMore: boolean;
  /** The first was handed out under this cursor before, and said something else. */
  readonly supersededFirst: boolean;
}

const HIDDEN: ReadonlySet<EntryRole> = new Set<EntryRole>(['call', 'thinking', 'notice']);

/** A question to a person is part of the conversation, whatever it stands in. */
function isShown(entry: Entry, view: View): boolean {
  if (view === 'all' || !HIDDEN.has(entry.role)) return true;
  return entry.role === 'notice' && entry.data.kind === 'question';
}

export function firstCursor(now: Timeline, view: View, order: 'asc' | 'desc'): Cursor {
  return { kind: 'scan', view, order, pin: now.head, position: order === 'asc' ? 0 : lengthOf(now) + 1 };
}

/**
 * What a reader gets next.
 *
 * A scan reads the entries as they were when it began, so edits shift nothing under it. Then the reader has everything as
 * of that log point, and from there on gets what has changed since: once each, as of a new log point, in the order of the
 * changes. So at the start of each such stretch it is known exactly what the reader has seen.
 */
export async function windowAt(versions: Versions, cursor: Cursor, limit: number): Promise<Window> {
  if (cursor.pin > versions.now.head) throw invalidCursor(); // of a log that has been put back since
  return cursor.kind === 'scan' ? scan(versions, cursor, limit) : tail(versions, cursor, limit);
}

async function scan(versions: Versions, cursor: Extract<Cursor, { kind: 'scan' }>, limit: number): Promise<Window> {
  const pinned = await versionAt(versions, cursor.pin);
  const step = cursor.order === 'asc' ? 1 : -1;
  const entries: { entry: Entry; after: Cursor }[] = [];
  let place: Cursor = cursor;
  let isDone = false;
  for (let position = cursor.position + step; ; position += step) {
    const entry = entryAt(pinned, position);
    if (entry === undefined) {
      isDone = true;
      break;
    }
    if (!isShown(entry, cursor.view)) continue;
    if (entries.length === limit) break;
    place = { ...cursor, position };
    entries.push({ entry, after: place });
  }
  if (!isDone) return { entries, next: place, hasMore: true, supersededFirst: false };
  if (cursor.order === 'desc')
    return { entries, next: { ...cursor, position: 0 }, hasMore: false, supersededFirst: false };
  const next = seenUpTo(cursor.pin, cursor.view);
  if (entries.length === 0) return tail(versions, next, limit);
  return { entries, next, hasMore: hasNewer(versions.now, next), supersededFirst: false };
}

async function tail(versions: Versions, cursor: Extract<Cursor, { kind: 'tail' }>, limit: number): Promise<Window> {
  const { base, view } = cursor;
  const isFresh = cursor.pin === base;
  const pin = isFresh ? versions.now.head : cursor.pin;
  const pinned = await versionAt(versions, pin);
  const newer = entriesSince(pinned, base)
    .filter((entry) => isShown(entry, view) && (isFresh || isAfter(entry, cursor)))
    .sort((left, right) => left.revision - right.revision || left.position - right.position);
  const entries = newer.slice(0, limit).map((entry) => ({
    entry,
    after: { ...cursor, pin, revision: entry.revision, position: entry.position },
  }));
  if (entries.length === 0 && !isFresh) return tail(versions, seenUpTo(pin, view), limit);
  const last = entries.at(-1);
  const isDone = newer.length <= limit;
  const next = isDone || last === undefined ? seenUpTo(pin, view) : last.after;
  return {
    entries,
    next,
    hasMore: !isDone || hasNewer(versions.now, next),
    supersededFirst: await isSuperseded(versions, base, entries[0]?.entry),
  };
}

async function isSuperseded(versions: Versions, base: number, entry: Entry | undefined): Promise<boolean> {
  if (entry === undefined || entry.since > base) return false;
  const before = entryAt(await versionAt(versions, base), entry.position);
  return before !== undefined && entryDigest(before) !== entryDigest(entry);
}

/** A reader that has everything as it was at a log point. */
function seenUpTo(seq: number, view: View): Extract<Cursor, { kind: 'tail' }> {
  return { kind: 'tail', view, base: seq, pin: seq, revision: 0, position: 0 };
}

function hasNewer(now: Timeline, cursor: Cursor): boolean {
  return cursor.kind === 'tail' && entriesSince(now, cursor.pin).some((entry) => isShown(entry, cursor.view));
}

function isAfter(entry: Entry, { revision, position }: Extract<Cursor, { kind: 'tail' }>): boolean {
  return entry.revision > revision || (entry.revision === revision && entry.position > position);
}

async function versionAt({ now, at }: Versions, seq: number): Promise<Timeline> {
  if (seq === now.head) return now;
  const found = at(seq);
  return isPromise(found) ? await found : found;
}

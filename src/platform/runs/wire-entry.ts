import { isoTime } from '../../base/clock.ts';
import { toJson } from '../../base/json.ts';
import { entryDigest, type Entry } from '../../domain/entry.ts';
import type { WireEntry } from './page.ts';

/** Entries never change, so each is written once, however many read it. */
const written = new WeakMap<Entry, WireEntry>();

export function wireEntry(entry: Entry): WireEntry {
  let made = written.get(entry);
  if (made === undefined) written.set(entry, (made = make(entry)));
  return made;
}

function make(entry: Entry): WireEntry {
  const { id, role, text, data, position, revision, at, turn } = entry;
  return {
    id,
    digest: entryDigest(entry),
    role,
    text,
    ...(data !== undefined && { data: toJson(data) }),
    position,
    revision,
    at: isoTime(at),
    ...(turn !== undefined && { turn }),
  };
}

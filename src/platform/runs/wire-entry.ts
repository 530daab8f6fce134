import { isoTime } from '../../base/clock.ts';
import { toJson, type Json } from '../../base/json.ts';
import { head, utf8Length } from '../../base/text.ts';
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
    ...fitting(entry, text, data === undefined ? undefined : toJson(data)),
    position,
    revision,
    at: isoTime(at),
    ...(turn !== undefined && { turn }),
  };
}

const MOST_BYTES = 1_048_576;
const MOST_CUT_BYTES = 65_536;

/** An entry of any size fits into a page: of one that is too large goes what it is, its first words and where the rest is. */
function fitting({ since }: Entry, text: string, data: Json | undefined): Pick<WireEntry, 'text' | 'data'> {
  const whole = data === undefined ? { text } : { text, data };
  const bytes = utf8Length(text) + (data === undefined ? 0 : utf8Length(JSON.stringify(data)));
  if (bytes <= MOST_BYTES) return whole;
  return { text: head(text, MOST_CUT_BYTES), data: { oversize: { bytes, log: { after: since - 1 } } } };
}

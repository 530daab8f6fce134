import type { RunEntry } from '../client/index.ts';
import type { Entry } from '../domain/entry.ts';
import { tellEntry, type StoryOptions } from './story.ts';
import { harmless, wrap } from './text.ts';

const TOGETHER: ReadonlySet<string> = new Set(['thinking', 'action', 'notice']);

/** An entry from a server, for reading. One that a newer server has put together otherwise is told in its own words. */
export function entryLines(entry: RunEntry, entries: readonly RunEntry[], options: StoryOptions): string[] {
  // Parts of one model call stand together.
  const gap = TOGETHER.has(entry.role) ? [] : [''];
  try {
    return [...gap, ...tellEntry(asEntry(entry), entries.map(asEntry), options)];
  } catch {
    return [...gap, ...wrap(harmless(`${entry.role}: ${entry.text}`), { columns: options.columns, first: '  ' })];
  }
}

function asEntry(entry: RunEntry): Entry {
  const data = { ...entry, since: entry.revision, at: Date.parse(entry.at) };
  return data as unknown as Entry; // as a server of this version makes it; any other fails above
}

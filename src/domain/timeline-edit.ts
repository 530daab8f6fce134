import type { AppendList } from '../base/append-list.ts';
import type { Instant } from '../base/clock.ts';
import type { EffectiveAgent } from './agent.ts';
import type { Entry, EntryOf, EntryRole, Placed } from './entry.ts';
import type { Fact, FactType } from './event.ts';

/** The entries of a conversation: a fold of its facts. Immutable. */
export interface Timeline {
  /** Sequence number of the last fact folded in. */
  readonly head: number;
  /** When the conversation last got on: a worker that only took it over does not count. */
  readonly progressAt: Instant;
  /** Entries that can change no more. */
  readonly settled: AppendList<Entry>;
  /** Entries of the turn in work, and what was said since. */
  readonly open: AppendList<Entry>;
  readonly turn: { readonly number: number; readonly at: Instant } | undefined;
  readonly turns: number;
  readonly grammar: EffectiveAgent['grammar'];
  readonly deferral: EffectiveAgent['deferral'];
  readonly last: FactType | undefined;
  /** It has begun other runs. */
  readonly delegated: boolean;
}

export type Body<R extends EntryRole = EntryRole> = { [K in R]: Omit<EntryOf<K>, keyof Placed> }[R];

/** Adds an entry whose id was known before, or changes the open one that has it: an id stands for one entry. */
export function addNamed(timeline: Timeline, fact: Fact, id: string, text: string, body: Body): Timeline {
  const again = revise(timeline, fact, (entry) => (entry.id === id ? { ...placeOf(entry), text, ...body } : undefined));
  return again ?? add(timeline, fact, id, text, body);
}

/** Adds an entry at the end. Its id is made of the fact's number, so it is new. */
export function add(timeline: Timeline, fact: Fact, id: string, text: string, body: Body): Timeline {
  const placed: Placed = {
    id,
    position: timeline.settled.length + timeline.open.length + 1,
    revision: fact.seq,
    since: fact.seq,
    at: fact.at,
    text,
    ...(timeline.turn !== undefined && { turn: timeline.turn.number }),
  };
  return { ...timeline, open: timeline.open.append({ ...placed, ...body }) };
}

/** Changes the newest open entry that `change` has something to say about; the very same entry is no change. */
export function revise(
  timeline: Timeline,
  fact: Fact,
  change: (entry: Entry) => Entry | undefined,
): Timeline | undefined {
  for (let index = timeline.open.length - 1; index >= 0; index--) {
    const entry = timeline.open.at(index);
    const changed = entry === undefined ? undefined : change(entry);
    if (changed === undefined) continue;
    if (changed === entry) return timeline;
    return { ...timeline, open: timeline.open.with(index, { ...changed, revision: fact.seq }) };
  }
  return undefined;
}

function placeOf({ id, position, revision, since, at, turn }: Entry): Omit<Placed, 'text'> {
  return { id, position, revision, since, at, ...(turn !== undefined && { turn }) };
}

import type { Passing } from '../../domain/event.ts';
import type { Timeline } from '../../domain/timeline.ts';
import type { Frame } from './frame.ts';

type Hot = Extract<Frame, { type: 'delta' | 'activity' }>;

/**
 * What passes by while a reader is busy. When it is more than is kept, all of it goes and only its number stays: what is
 * left of a text with a hole in it is of no use. What was said so far then comes again, in one piece.
 */
export class Deltas {
  readonly #most: number;
  readonly #soFar: () => readonly Passing[];
  #queue: Hot[] = [];
  #dropped = 0;

  /** `soFar`: what the model has said of entries that are not there yet. A reader begins with it, and anew after a gap. */
  constructor(most: number, soFar: () => readonly Passing[]) {
    this.#most = most;
    this.#soFar = soFar;
  }

  begin(): void {
    this.#queue = this.#soFar().flatMap((event) => hotOf(event) ?? []);
  }

  push(event: Passing): void {
    const hot = hotOf(event);
    if (hot === undefined) return;
    this.#queue.push(hot);
    if (this.#queue.length <= this.#most) return;
    this.#dropped += this.#queue.length;
    this.#queue = [];
  }

  /** What came since, without what the timeline tells in full; first of all the gap, if there was one. */
  take(timeline: Timeline): Frame[] {
    if (this.#queue.length === 0 && this.#dropped === 0) return [];
    const frames: Frame[] = [];
    if (this.#dropped > 0) {
      frames.push({ type: 'gap', dropped: this.#dropped });
      this.begin(); // what was queued since is in it
    }
    for (const hot of this.#queue) if (hot.type === 'activity' || !isTold(timeline, hot)) frames.push(hot);
    this.#queue = [];
    this.#dropped = 0;
    return frames;
  }
}

/** An entry's pieces come before it: once it is there, or its turn has ended, they are late. Progress belongs to it. */
function isTold({ open, turn, turns }: Timeline, { id, kind }: Extract<Hot, { type: 'delta' }>): boolean {
  if (kind === 'progress') return false;
  const number = Number(/^t(\d+)-/.exec(id)?.[1]);
  const isOver = turn === undefined ? number <= turns : number < turn.number;
  if (isOver) return true;
  for (const entry of open) if (entry.id === id) return true;
  return false;
}

const made = new WeakMap<Passing, Hot>();

/** However many readers a run has, they are handed the same frame, so that it is written out once. */
function hotOf(event: Passing): Hot | undefined {
  const known = made.get(event);
  if (known !== undefined) return known;
  const hot = make(event);
  if (hot !== undefined) made.set(event, hot);
  return hot;
}

function make(event: Passing): Hot | undefined {
  switch (event.type) {
    case 'llm.stream.chunk': {
      const { entry, kind, attempt, delta, name } = event.payload;
      return { type: 'delta', id: entry, kind, attempt, delta, ...(name !== undefined && { name }) };
    }
    case 'tool.progress': {
      const { action, text, fraction } = event.payload;
      const delta = text ?? (fraction === undefined ? '' : `${Math.round(fraction * 100)}%`);
      return { type: 'delta', id: action, kind: 'progress', attempt: 1, delta };
    }
    case 'io.status': {
      const { state, detail } = event.payload;
      return { type: 'activity', state, ...(detail !== undefined && { detail }) };
    }
    case 'llm.stream.end':
      return undefined;
  }
}

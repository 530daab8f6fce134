import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { emptyConversation, type Conversation } from '../../domain/conversation.ts';
import type { Fact } from '../../domain/event.ts';
import { apply } from '../../domain/fold.ts';
import { emptyTimeline, lengthOf, project, type Timeline } from '../../domain/timeline.ts';
import type { ConversationMeta, Log } from '../../kernel/log.ts';
import { BoundedMap } from '../bounded-map.ts';

/** A run as its log tells it: what decides, and what people read. Of the same facts, so that they agree. */
export interface RunFold {
  readonly conversation: Conversation;
  readonly timeline: Timeline;
}

type Named = Pick<ConversationMeta, 'id' | 'agentPath' | 'createdAt'>;

/** Folds of runs, kept and read on from where they were left. Versions share what they have in common. */
export interface Folds {
  /** As of now. */
  read(run: Named): MaybePromise<RunFold>;
  /** As of a log point. */
  at(run: Named, seq: number): MaybePromise<Timeline>;
  /**
   * Calls back when the run may have moved. While somebody watches, `latest` answers without asking the log, and however
   * many watch, what is new is read and folded once.
   */
  watch(run: Named, listener: () => void): () => void;
  /** As of the last call of a watcher, for watchers. */
  latest(run: Named): MaybePromise<RunFold>;
  /** How many entries are kept of runs that nobody watches. */
  readonly kept: number;
}

interface Kept {
  readonly createdAt: number;
  fold: RunFold;
  /** By log point: those that a reader may come back to. */
  readonly versions: BoundedMap<number, Timeline>;
  readonly watchers: Set<() => void>;
  unwatch: (() => void) | undefined;
  /** The log may have more. */
  stale: boolean;
  reading: Promise<RunFold> | undefined;
}

const PAGE = 1_000;
const MOST_RUNS = 1_000;
const MOST_ENTRIES = 100_000;
const MOST_VERSIONS = 16;

export function createFolds(
  log: Log,
  {
    mostRuns = MOST_RUNS,
    mostEntries = MOST_ENTRIES,
  }: { readonly mostRuns?: number; readonly mostEntries?: number } = {},
): Folds {
  const runs = new Map<string, Kept>();

  function keptOf({ id, agentPath, createdAt }: Named): Kept {
    const known = runs.get(id);
    // Removed and made anew under the same id, it is another run.
    if (known?.createdAt === createdAt) {
      runs.delete(id);
      runs.set(id, known);
      return known;
    }
    const made: Kept = {
      createdAt,
      fold: { conversation: emptyConversation(id, agentPath), timeline: emptyTimeline },
      versions: new BoundedMap(MOST_VERSIONS),
      watchers: known?.watchers ?? new Set(),
      unwatch: known?.unwatch,
      stale: true,
      reading: undefined,
    };
    runs.set(id, made);
    return made;
  }

  /** Lets go of what was not asked for the longest, as long as there is too much. */
  function trim(): void {
    let entries = 0;
    for (const { fold } of runs.values()) entries += lengthOf(fold.timeline);
    for (const [id, { fold, watchers, reading }] of runs) {
      if (runs.size <= mostRuns && entries <= mostEntries) return;
      if (watchers.size > 0 || reading !== undefined) continue;
      runs.delete(id);
      entries -= lengthOf(fold.timeline);
    }
  }

  function take(kept: Kept, facts: readonly Fact[]): void {
    let { conversation, timeline } = kept.fold;
    for (const fact of facts) {
      if (fact.seq <= timeline.head) continue; // another reader was faster
      conversation = apply(conversation, fact);
      timeline = project(timeline, fact);
    }
    kept.fold = { conversation, timeline };
  }

  function readOn(run: Named, kept: Kept): MaybePromise<RunFold> {
    for (;;) {
      kept.stale = false;
      const page = log.read(run.id, kept.fold.timeline.head, PAGE);
      if (isPromise(page)) return readOnLater(run, kept, page);
      take(kept, page);
      if (page.length < PAGE) return done(kept);
    }
  }

  async function readOnLater(run: Named, kept: Kept, first: Promise<readonly Fact[]>): Promise<RunFold> {
    let page = await first;
    for (;;) {
      take(kept, page);
      if (page.length < PAGE) return done(kept);
      page = await log.read(run.id, kept.fold.timeline.head, PAGE);
    }
  }

  function done(kept: Kept): RunFold {
    kept.versions.set(kept.fold.timeline.head, kept.fold.timeline);
    trim();
    return kept.fold;
  }

  function read(run: Named): MaybePromise<RunFold> {
    return readOn(run, keptOf(run));
  }

  return {
    read,
    latest(run) {
      const kept = keptOf(run);
      if (kept.reading !== undefined) return kept.reading.then(() => (kept.stale ? read(run) : kept.fold));
      if (!kept.stale && kept.watchers.size > 0) return kept.fold;
      const reading = readOn(run, kept);
      if (!isPromise(reading)) return reading;
      kept.reading = reading.finally(() => (kept.reading = undefined));
      return kept.reading;
    },
    at(run, seq) {
      const kept = keptOf(run);
      const { timeline } = kept.fold;
      if (timeline.head === seq) return timeline;
      return kept.versions.get(seq) ?? foldUpTo(log, run, seq, (found) => kept.versions.set(seq, found));
    },
    watch(run, listener) {
      const kept = keptOf(run);
      const own = (): void => listener();
      kept.watchers.add(own);
      // While nobody watched, nobody was told.
      if (kept.unwatch === undefined) kept.stale = true;
      kept.unwatch ??= log.watch(run.id, () => {
        const now = runs.get(run.id);
        if (now === undefined) return;
        now.stale = true;
        for (const one of [...now.watchers]) one();
      });
      return () => {
        kept.watchers.delete(own);
        if (kept.watchers.size > 0) return;
        kept.unwatch?.();
        kept.unwatch = undefined;
        const now = runs.get(run.id);
        if (now !== undefined && now.watchers === kept.watchers) now.unwatch = undefined;
        trim();
      };
    },
    get kept() {
      let entries = 0;
      for (const { fold, watchers } of runs.values()) if (watchers.size === 0) entries += lengthOf(fold.timeline);
      return entries;
    },
  };
}

/** Reads the log from its beginning: a version that nobody kept is made again. */
function foldUpTo(log: Log, run: Named, seq: number, keep: (timeline: Timeline) => void): MaybePromise<Timeline> {
  let timeline = emptyTimeline;
  const takePage = (page: readonly Fact[]): MaybePromise<Timeline> => {
    for (const fact of page) timeline = project(timeline, fact);
    if (timeline.head < seq && page.length > 0) return next();
    keep(timeline);
    return timeline;
  };
  const next = (): MaybePromise<Timeline> => {
    const page = log.read(run.id, timeline.head, Math.min(PAGE, seq - timeline.head));
    return isPromise(page) ? page.then(takePage) : takePage(page);
  };
  return next();
}

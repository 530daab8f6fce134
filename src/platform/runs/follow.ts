import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, toJson } from '../../base/json.ts';
import { isPromise } from '../../base/promise.ts';
import { statusKind } from '../../domain/status.ts';
import type { ConversationRow } from '../../kernel/log.ts';
import type { Caller } from './caller.ts';
import type { Cursor } from './cursor.ts';
import { Deltas } from './deltas.ts';
import type { FollowOptions, Frame } from './frame.ts';
import type { View } from './page.ts';
import { runOf, type RunsPorts } from './ports.ts';
import { boundTo } from './reading.ts';
import { kindOf, needsInput, pendingApproval, stateOf, type RunState } from './state.ts';
import { wireEntry } from './wire-entry.ts';
import { firstCursor, windowAt } from './window.ts';

const MOST_DELTAS = 1_000;
/** Entries looked up at once; each goes out by itself. */
const STRETCH = 100;

/**
 * Hands out a run's entries from a cursor on, as they come about.
 *
 * Entries are pulled from the log, so a reader may be as slow as it likes and misses none; nothing is kept for it but its
 * place. Pieces of entries are pushed and may be let go.
 */
export async function follow(
  ports: RunsPorts,
  caller: Caller,
  id: string,
  options: FollowOptions,
): Promise<AsyncIterableIterator<Frame>> {
  const row = await runOf(ports, caller, 'read', id);
  const cursor = options.cursor === undefined ? undefined : ports.cursors.read(boundTo(row), options.cursor);
  if (cursor?.kind === 'scan' && cursor.order === 'desc')
    throw new TreadleError('invalid_cursor', { hint: 'a cursor that goes back cannot be followed' });
  const view = cursor?.view ?? options.view ?? 'all';
  const follower = new Follower(ports, row, options);
  return leavable(frames(follower, { row, cursor, view, until: options.until ?? 'ended' }), () => follower.leave());
}

/** A generator that waits cannot be left: it is woken first. */
function leavable<T>(generator: AsyncGenerator<T>, wake: () => void): AsyncIterableIterator<T> {
  return {
    next: () => generator.next(),
    return(value?: unknown) {
      wake();
      return generator.return(value);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

interface Plan {
  readonly row: ConversationRow;
  readonly cursor: Cursor | undefined;
  readonly view: View;
  readonly until: 'ended' | 'removed';
}

async function* frames(follower: Follower, { row, cursor, view, until }: Plan): AsyncGenerator<Frame> {
  const { cursors, folds } = follower.ports;
  const bound = boundTo(row);
  let place = cursor;
  let told = '';
  follower.begin();
  try {
    for (;;) {
      follower.rest();
      const state = await follower.state();
      if (state === undefined || follower.isOver()) return;
      const now = state.fold.timeline;
      place ??= firstCursor(now, view, 'asc');
      if (told === '') {
        told = signature(state);
        yield statusFrame(state, cursors.write(bound, place));
      }
      const versions = { now, at: (seq: number) => folds.at(row, seq) };
      for (let hasMore = true; hasMore;) {
        const stretch = await windowAt(versions, place, STRETCH);
        for (const { entry, after } of stretch.entries) {
          if (follower.isOver()) return;
          place = after;
          yield { type: 'entry', entry: wireEntry(entry), cursor: cursors.write(bound, after) };
        }
        place = stretch.next;
        hasMore = stretch.hasMore;
      }
      for (const frame of follower.deltas.take(now)) yield frame;
      const said = signature(state);
      if (said !== told) {
        told = said;
        yield statusFrame(state, cursors.write(bound, place));
      }
      const hasEnded = until === 'ended' && statusKind(state.status) === 'ended';
      if (hasEnded && !follower.hasMoved()) {
        yield { type: 'end', status: state.status, cursor: cursors.write(bound, place) };
        return;
      }
      await follower.moved();
      // While pieces come and no facts, there is nothing to ask the log for.
      while (!hasEnded && !follower.isBehind() && !follower.isOver()) {
        follower.restFromPieces();
        for (const frame of follower.deltas.take(now)) yield frame;
        await follower.moved();
      }
      if (follower.isOver()) return;
    }
  } finally {
    follower.end();
  }
}

function statusFrame(state: RunState, cursor: string): Frame {
  const pending = pendingApproval(state.requests);
  const kind = kindOf(state);
  return {
    type: 'status',
    status: state.status,
    statusKind: kind,
    terminal: kind === 'ended',
    needsInput: needsInput(state),
    ...(pending !== undefined && { pendingApproval: pending }),
    waitingOn: kind === 'working' ? [] : state.waitingOn,
    requests: state.requests,
    version: state.version,
    cursor,
  };
}

/** What a status frame says, but for the version: a new one is sent when something else is new. */
function signature({ status, requests, waitingOn }: RunState): string {
  return canonicalJson(toJson({ status, requests: requests.map(({ run, id }) => [run, id]), waitingOn }));
}

/** Everything a follower holds on to, and whether there may be news. */
class Follower {
  readonly ports: RunsPorts;
  readonly deltas: Deltas;
  readonly #row: ConversationRow;
  readonly #signal: AbortSignal | undefined;
  readonly #wantsDeltas: boolean;
  readonly #below = new Map<string, () => void>();
  readonly #offs: (() => void)[] = [];
  #wake: (() => void) | undefined;
  #moved = true;
  #behind = true;
  #over = false;

  constructor(ports: RunsPorts, row: ConversationRow, { deltas = false, maxDeltas, signal }: FollowOptions) {
    this.ports = ports;
    this.deltas = new Deltas(maxDeltas ?? MOST_DELTAS, () => ports.passing.soFar(row.id));
    this.#row = row;
    this.#signal = signal;
    this.#wantsDeltas = deltas;
  }

  isOver(): boolean {
    return this.#over || this.#signal?.aborted === true;
  }

  hasMoved(): boolean {
    return this.#moved;
  }

  /** The log may have more: not only pieces have come. */
  isBehind(): boolean {
    return this.#behind;
  }

  begin(): void {
    const { folds, passing } = this.ports;
    this.#offs.push(folds.watch(this.#row, () => this.#notice()));
    if (this.#wantsDeltas) {
      this.deltas.begin();
      this.#offs.push(
        passing.on(this.#row.id, (event) => {
          this.deltas.push(event);
          this.#wakeUp();
        }),
      );
    }
    const stop = (): void => this.#notice();
    this.#signal?.addEventListener('abort', stop);
    this.#offs.push(() => this.#signal?.removeEventListener('abort', stop));
  }

  /** Ends it soon, also while it waits. */
  leave(): void {
    this.#over = true;
    this.#notice();
  }

  end(): void {
    this.#over = true;
    for (const off of [...this.#offs.splice(0), ...this.#below.values()]) off();
    this.#below.clear();
  }

  /** What comes from now on is news. */
  rest(): void {
    this.#moved = false;
    this.#behind = false;
  }

  restFromPieces(): void {
    this.#moved = false;
  }

  /** Undefined when the run was removed. */
  async state(): Promise<RunState | undefined> {
    const { log, folds } = this.ports;
    const row = await log.find(this.#row.id);
    if (row?.createdAt !== this.#row.createdAt) return undefined;
    const fold = folds.latest(row);
    const state = await stateOf(this.ports, row, isPromise(fold) ? await fold : fold);
    // What is asked below is asked here, too.
    for (const child of state.below) {
      if (this.#below.has(child.id) || statusKind(child.status) === 'ended') continue;
      this.#below.set(
        child.id,
        folds.watch(child, () => this.#notice()),
      );
    }
    return state;
  }

  async moved(): Promise<void> {
    if (this.#moved || this.isOver()) return;
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  #notice(): void {
    this.#behind = true;
    this.#wakeUp();
  }

  #wakeUp(): void {
    this.#moved = true;
    this.#wake?.();
    this.#wake = undefined;
  }
}

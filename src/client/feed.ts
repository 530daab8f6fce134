import { ClientError } from './client-error.ts';
import type { RunEvent } from './events.ts';
import { IDLE_MS, readFrames, type FrameReader } from './frames.ts';
import { asPage, asSnapshot } from './shapes.ts';
import type { Transport } from './transport.ts';
import type { Page, RunEntry, RunRequest, StreamFrame } from './types.ts';
import { elapsed, sleep } from './wait.ts';

export interface FeedOptions {
  readonly transport: Transport;
  /** Path of the run. */
  readonly path: string;
  readonly cursor: string | undefined;
  readonly deltas: boolean;
  readonly stream: boolean;
  readonly firstPollMs: number;
  readonly longestPollMs: number;
  readonly giveUpMs: number;
}

/** What one reader of one run has read, and what it still has to hand out. */
export interface Feed {
  events(signal?: AbortSignal): AsyncGenerator<RunEvent, void>;
  /** Everything up to here was handed out. */
  cursor(): string | undefined;
  /** The newest form of every entry read so far, in order of position. */
  entries(): readonly RunEntry[];
  /** The run has changed since what was read: what is older than this version says nothing about its end. */
  atLeast(version: number): void;
}

const PAGE = 100;
const POLL_GROWTH = 1.5;

export function createFeed(options: FeedOptions): Feed {
  const { transport, path, deltas, firstPollMs, longestPollMs, giveUpMs } = options;
  const queue: { readonly event?: RunEvent; readonly cursor?: string }[] = [];
  const known = new Map<string, RunEntry>();
  const asked = new Set<string>();
  let readTo = options.cursor;
  let delivered = options.cursor;
  let status: string | undefined;
  let version = 0;
  let newest = 0;
  /** Version of the run at which all of it had been read, and it had ended. */
  let endedAt = -1;
  let isReading = false;
  let streams = options.stream;
  let silentStreams = 0;

  function takeEntry(entry: RunEntry): void {
    const before = known.get(entry.id);
    known.set(entry.id, entry);
    if (before !== undefined && isSame(before, entry)) return;
    queue.push({ event: { type: 'entry', entry, replaces: before !== undefined } });
  }

  function takeRequests(requests: readonly RunRequest[]): void {
    for (const request of requests) {
      const name = JSON.stringify([request.run, request.id, request.digest]);
      if (asked.has(name)) continue;
      asked.add(name);
      queue.push({ event: { type: 'request', request } });
    }
  }

  function takeStatus(one: Pick<Page, 'status' | 'version'>): void {
    if (one.version < version) return;
    version = one.version;
    if (one.status === status) return;
    status = one.status;
    queue.push({ event: { type: 'status', status: one.status } });
  }

  function takePage(page: Page): void {
    // Of one entry twice in a page only the newest counts.
    const last = new Map(page.events.map((entry) => [entry.id, entry]));
    for (const entry of page.events) if (last.get(entry.id) === entry) takeEntry(entry);
    takeStatus(page);
    if (typeof page.nextCursor === 'string' && page.nextCursor !== '') {
      readTo = page.nextCursor;
      queue.push({ cursor: readTo });
    }
  }

  /** Reads one page. Only a page without a further one says anything about the end. */
  async function readPage(signal: AbortSignal | undefined): Promise<'more' | 'ended' | 'tail'> {
    const query = { limit: PAGE, cursor: readTo };
    const page = asPage(await transport.send({ method: 'GET', path: `${path}/events`, query, signal }));
    takePage(page);
    if (page.hasMore) return 'more';
    if (page.terminal) {
      endedAt = page.version;
      return 'ended';
    }
    const waits = page.pendingApproval !== undefined || page.needsInput || page.status === 'waiting_for_subagents';
    if (waits) takeRequests(asSnapshot(await transport.send({ method: 'GET', path, signal })).requests);
    return 'tail';
  }

  function takeFrame(frame: StreamFrame): void {
    switch (frame.type) {
      case 'entry':
        takeEntry(frame.entry);
        break;
      case 'status':
        takeStatus(frame);
        takeRequests(frame.requests);
        break;
      case 'delta':
      case 'gap':
      case 'activity':
        if (deltas) queue.push({ event: frame });
        return;
      case 'end':
        break;
    }
    if (typeof frame.cursor !== 'string' || frame.cursor === '') return;
    readTo = frame.cursor;
    queue.push({ cursor: readTo });
  }

  async function openStream(signal: AbortSignal | undefined): Promise<FrameReader | undefined> {
    const abort = new AbortController();
    const both = signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]);
    try {
      const query = { cursor: readTo, deltas: deltas ? true : undefined };
      const response = await transport.open(`${path}/stream`, query, both);
      if (response.headers.get('content-type')?.startsWith('text/event-stream') === true)
        return readFrames(response, () => abort.abort());
      abort.abort();
      streams = false;
    } catch (error) {
      if (signal?.aborted === true) throw error;
      // Too many streams, no streams at all, or no server just now: pages tell, and say what is wrong where something is.
      if (error instanceof ClientError && error.status > 0) streams = false;
    }
    return undefined;
  }

  return {
    cursor: () => delivered,
    entries: () => [...known.values()].sort((one, other) => one.position - other.position),
    atLeast(least) {
      newest = Math.max(newest, least);
    },
    async *events(signal) {
      if (isReading) throw new ClientError('already_reading', 'This run is being read: one handle has one reader.');
      isReading = true;
      endedAt = -1;
      let reader: FrameReader | undefined;
      let isAtTail = false;
      let pause = firstPollMs;
      let quietSince = elapsed();
      try {
        for (;;) {
          for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
            if (item.cursor !== undefined) delivered = item.cursor;
            if (item.event === undefined) continue;
            yield item.event;
            quietSince = elapsed();
            pause = firstPollMs;
          }
          if (endedAt >= newest) return;
          signal?.throwIfAborted();
          const left = giveUpMs - (elapsed() - quietSince);
          if (left <= 0) throw gaveUp(status, giveUpMs);
          if (reader !== undefined) {
            const frame = await reader.next(Math.min(left, IDLE_MS));
            if (frame !== undefined && frame !== 'quiet') takeFrame(frame);
            if (frame !== undefined && frame !== 'quiet' && frame.type !== 'end') continue;
            reader.close();
            silentStreams = reader.heard() ? 0 : silentStreams + 1;
            streams &&= silentStreams < 2;
            reader = undefined;
          }
          if (!isAtTail) {
            isAtTail = (await readPage(signal)) === 'tail';
            continue; // what it brought goes first
          }
          isAtTail = false;
          reader = streams ? await openStream(signal) : undefined;
          if (reader !== undefined) continue;
          await sleep(Math.min(pause, left), signal);
          pause = Math.min(pause * POLL_GROWTH, longestPollMs);
        }
      } finally {
        isReading = false;
        reader?.close();
      }
    },
  };
}

/** By digest; by content where a server gives none. */
function isSame(one: RunEntry, other: RunEntry): boolean {
  if (typeof other.digest === 'string' && other.digest !== '') return one.digest === other.digest;
  return JSON.stringify([one.text, one.data]) === JSON.stringify([other.text, other.data]);
}

const FOR_A_PERSON: ReadonlySet<string | undefined> = new Set([
  'pending_plan_approval',
  'pending_action_approval',
  'awaiting_user_input',
]);

function gaveUp(status: string | undefined, ms: number): ClientError {
  const after = `Nothing has happened for ${ms} ms`;
  return FOR_A_PERSON.has(status)
    ? new ClientError('run_awaiting_input', `${after}: the run waits for an answer. It goes on when it has one.`)
    : new ClientError('run_timeout', `${after}. The run itself goes on.`);
}

import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Clock, Instant } from '../base/clock.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Logger } from '../kernel/logger.ts';
import type { HttpContext } from './context.ts';
import { Refusal } from './refusal.ts';
import { HEARTBEAT, OPENING } from './sse.ts';

export interface StreamLimits {
  readonly total: number;
  readonly perCaller: number;
  readonly heartbeatMs: number;
  /** A reader that takes nothing for so long is let go. It comes back with its last cursor, or does not. */
  readonly stallMs: number;
}

export interface Streams {
  /**
   * Answers with a stream of frames, each as the event that `written` makes of it. Throws what `open` throws, and
   * `too_many_streams`, while there is still a reply to give.
   */
  answer<T>(
    context: HttpContext,
    caller: string,
    open: (signal: AbortSignal) => MaybePromise<AsyncIterableIterator<T>>,
    written: (frame: T) => string,
  ): Promise<Response>;
  count(): number;
  /** Ends every stream after its last whole frame. */
  close(): void;
}

interface OpenStream {
  readonly outgoing: ServerResponse;
  readonly stop: AbortController;
  /** Since when it waits for its reader. */
  waitingSince: Instant | undefined;
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Some proxies collect a reply before they hand it on.
  'X-Accel-Buffering': 'no',
};

/** Streams write to their sockets themselves: a socket that is full stops the pull from the log, and nothing is kept for it. */
export function createStreams(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  { total, perCaller, heartbeatMs, stallMs }: StreamLimits,
  onCount: (open: number) => void = () => undefined,
): Streams {
  const streams = new Set<OpenStream>();
  const callers = new Map<string, number>();
  let unbeat: (() => void) | undefined;

  function reserve(caller: string): () => void {
    const mine = callers.get(caller) ?? 0;
    if (streams.size >= total || mine >= perCaller) throw new Refusal('too_many_streams', undefined, { retryAfter: 5 });
    callers.set(caller, mine + 1);
    return () => {
      const left = (callers.get(caller) ?? 1) - 1;
      if (left === 0) callers.delete(caller);
      else callers.set(caller, left);
    };
  }

  /** One timer for all streams. */
  function beat(): void {
    unbeat = clock.after(heartbeatMs, () => {
      const now = clock.now();
      for (const { outgoing, waitingSince } of streams) {
        if (waitingSince === undefined) outgoing.write(HEARTBEAT);
        else if (now - waitingSince > stallMs) outgoing.destroy();
      }
      beat();
    });
  }

  function add(stream: OpenStream): void {
    streams.add(stream);
    if (unbeat === undefined) beat();
    onCount(streams.size);
  }

  function remove(stream: OpenStream): void {
    if (!streams.delete(stream)) return;
    if (streams.size === 0) {
      unbeat?.();
      unbeat = undefined;
    }
    onCount(streams.size);
  }

  async function pump<T>(
    stream: OpenStream,
    frames: AsyncIterableIterator<T>,
    written: (frame: T) => string,
  ): Promise<void> {
    const { outgoing } = stream;
    const write = gathered(outgoing);
    for await (const frame of frames) {
      if (outgoing.destroyed || outgoing.writableEnded) return;
      if (write(written(frame))) continue;
      stream.waitingSince = clock.now();
      await drained(outgoing);
      stream.waitingSince = undefined;
    }
  }

  return {
    async answer(context, caller, open, written) {
      const { outgoing } = context.env;
      const free = reserve(caller);
      const stop = new AbortController();
      const stream: OpenStream = { outgoing, stop, waitingSince: undefined };
      outgoing.once('close', () => {
        stop.abort();
        remove(stream);
        free();
      });
      const frames = await open(stop.signal);
      if (context.req.method === 'HEAD') {
        await frames.return?.();
        return context.body(null, 200, HEADERS);
      }
      for (const [name, value] of context.res.headers) outgoing.setHeader(name, value);
      outgoing.writeHead(200, HEADERS);
      outgoing.write(OPENING);
      add(stream);
      pump(stream, frames, written)
        .catch((error: unknown) => {
          if (!stop.signal.aborted) logger.error('a stream broke off', { request: context.get('requestId'), error });
        })
        .finally(() => {
          remove(stream);
          finish(outgoing);
        });
      return RESPONSE_ALREADY_SENT;
    },
    count: () => streams.size,
    close() {
      for (const { stop, outgoing } of [...streams]) {
        stop.abort();
        finish(outgoing);
      }
    },
  };
}

/** Frames that come at once leave in one piece. */
function gathered(outgoing: ServerResponse): (text: string) => boolean {
  let corked = false;
  return (text) => {
    if (!corked) {
      corked = true;
      outgoing.cork();
      setImmediate(() => {
        corked = false;
        release(outgoing);
      });
    }
    return outgoing.write(text);
  };
}

/** Node sends the length of a piece, the piece and its end one by one: held back at the socket, they are one write. */
function release(outgoing: ServerResponse): void {
  const { socket } = outgoing;
  socket?.cork();
  outgoing.uncork();
  socket?.uncork();
}

function finish(outgoing: ServerResponse): void {
  if (outgoing.writableEnded) return;
  release(outgoing); // what is gathered is lost where the end comes first
  outgoing.end();
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('drain', done);
    outgoing.on('close', done);
  });
}

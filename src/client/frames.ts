import { createParser } from 'eventsource-parser';
import { isObject, tryParseJson } from '../base/json.ts';
import { ClientError } from './client-error.ts';
import { bytesOf, REPLY_BYTES_MAX } from './reply.ts';
import { asEntry } from './shapes.ts';
import type { Query } from './address.ts';
import type { Transport } from './transport.ts';
import type { StreamFrame } from './types.ts';

export interface FrameReader {
  /** The next frame; `quiet` when nothing came for so long; undefined at the end, however it came about. */
  next(ms: number): Promise<StreamFrame | 'quiet' | undefined>;
  /** Whether the server has sent anything at all: some proxies hold streams back until they end. */
  heard(): boolean;
  close(): void;
}

/** The server sends a comment every ten seconds: a stream that is silent for so long is dead. Milliseconds. */
export const IDLE_MS = 30_000;

/** Opens a stream, and hands out its frames until it ends, is cut or falls silent. */
export async function openFrames(
  { open }: Pick<Transport, 'open'>,
  path: string,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<AsyncGenerator<StreamFrame, void>> {
  const abort = new AbortController();
  const both = signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]);
  const response = await open(path, query, both);
  const reader = readFrames(response, () => abort.abort());
  return (async function* () {
    try {
      for (;;) {
        const frame = await reader.next(IDLE_MS);
        if (frame === undefined || frame === 'quiet') return;
        yield frame;
      }
    } finally {
      reader.close();
    }
  })();
}

const TYPES: ReadonlySet<unknown> = new Set<StreamFrame['type']>([
  'entry',
  'delta',
  'activity',
  'status',
  'gap',
  'end',
]);

/** Reads the frames of an open stream, one when it is asked for: a slow caller slows the server and nothing piles up. */
export function readFrames(response: Response, close: () => void): FrameReader {
  const ready: StreamFrame[] = [];
  const decoder = new TextDecoder();
  const reader = bytesOf(response);
  let heard = false;
  let pending: Promise<boolean> | undefined;
  let broken: ClientError | undefined;

  const parser = createParser({
    maxBufferSize: REPLY_BYTES_MAX,
    onEvent: ({ data, event, id }) => {
      const frame = asFrame(data, event, id);
      if (frame !== undefined) ready.push(frame);
    },
    onError: ({ type, message }) => {
      if (type === 'max-buffer-size-exceeded') broken = new ClientError('response_too_large', message);
    },
  });

  /** True while there is more to come. */
  async function pull(): Promise<boolean> {
    try {
      const chunk = await reader?.read();
      if (chunk?.value === undefined) return false;
      heard = true;
      parser.feed(decoder.decode(chunk.value, { stream: true }));
      return true;
    } catch (error) {
      if (error instanceof ClientError) throw error;
      return false; // cut off, like an end: the reader goes on from its cursor
    }
  }

  return {
    async next(ms) {
      for (;;) {
        const frame = ready.shift();
        if (frame !== undefined) return frame;
        if (broken !== undefined) throw broken;
        pending ??= pull();
        const state = await within(pending, ms);
        if (state === 'quiet') return 'quiet';
        pending = undefined;
        if (!state && ready.length === 0) return undefined;
      }
    },
    heard: () => heard,
    close,
  };
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | 'quiet'> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const quiet = new Promise<'quiet'>((resolve) => {
    timer = setTimeout(() => resolve('quiet'), ms);
  });
  try {
    return await Promise.race([promise, quiet]);
  } finally {
    clearTimeout(timer);
  }
}

/** A frame that is known; one of a newer server is passed over. */
function asFrame(data: string, event: string | undefined, id: string | undefined): StreamFrame | undefined {
  const parsed = tryParseJson(data);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const frame = { type: event, ...(id !== undefined && { cursor: id }), ...parsed.value };
  if (!TYPES.has(frame.type)) return undefined;
  if (frame.type === 'entry') asEntry(Reflect.get(frame, 'entry'));
  return frame as unknown as StreamFrame; // its type is known, and an entry was looked at
}

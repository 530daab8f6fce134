import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Frame } from './types.ts';
import { readJson } from '../json.ts';
import { ApiError, send } from './http.ts';

export interface StreamOptions {
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onFrame: (frame: Frame) => void;
}

/** A stream that is silent for so long, its heartbeats too, is dead. Milliseconds. */
const SILENCE_MS = 30_000;

/** Hands out the frames of a run from a cursor on, until the stream ends. Rejects when it is cut or refused. */
export async function stream(run: string, { cursor, signal, onOpen, onFrame }: StreamOptions): Promise<void> {
  const dead = new AbortController();
  const response = await send(`/runs/${encodeURIComponent(run)}/stream`, {
    query: { cursor, deltas: true, until: 'removed' },
    signal: AbortSignal.any([signal, dead.signal]),
  });
  if (response.body === null) throw new ApiError(0, 'unreachable', 'The stream has no body.');
  onOpen();
  let timer = 0;
  const alive = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      dead.abort();
    }, SILENCE_MS);
  };
  const watched = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      alive();
      controller.enqueue(chunk);
    },
  });
  const events = response.body
    .pipeThrough(watched)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  alive();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onFrame(readJson(value.data) as Frame); // our own server's words
    }
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => undefined);
  }
}

// Server-sent events, read as they come.
import { createParser, type EventSourceMessage } from 'eventsource-parser';

export interface Followed {
  readonly status: number;
  readonly headers: Headers;
  /** The next event; undefined at the end of the stream. */
  next(): Promise<EventSourceMessage | undefined>;
  /** Everything that comes until an event that fits, that one included. */
  until(fits: (event: EventSourceMessage) => boolean): Promise<EventSourceMessage[]>;
  /** Comments so far. */
  readonly comments: string[];
  leave(): void;
}

export async function follow(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Followed> {
  const stop = new AbortController();
  const reply = await fetch(url, { headers, signal: stop.signal });
  const events: EventSourceMessage[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent: (event) => void events.push(event),
    onComment: (text) => void comments.push(text),
  });
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  const followed: Followed = {
    status: reply.status,
    headers: reply.headers,
    comments,
    async next() {
      while (events.length === 0) {
        const read = await reader?.read().catch(() => undefined);
        if (read === undefined || read.done) return undefined;
        parser.feed(read.value);
      }
      return events.shift();
    },
    async until(fits) {
      const heard: EventSourceMessage[] = [];
      for (;;) {
        const event = await followed.next();
        if (event === undefined) return heard;
        heard.push(event);
        if (fits(event)) return heard;
      }
    },
    leave: () => stop.abort(),
  };
  return followed;
}

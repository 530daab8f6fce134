import type { Frame } from '../platform/runs/frame.ts';

/** The comment that keeps a quiet connection open, and tells both ends that the other is there. */
export const HEARTBEAT = ':\n\n';

/** A reader whose connection broke comes back after two seconds. */
export const OPENING = 'retry: 2000\n\n';

const encoded = new WeakMap<object, string>();

/** A frame as a server-sent event. What several readers are handed is written out once. */
export function eventOf(frame: Frame): string {
  const known = encoded.get(frame);
  if (known !== undefined) return known;
  const id = 'cursor' in frame ? `id: ${frame.cursor}\n` : '';
  const data = frame.type === 'entry' ? entryData(frame) : JSON.stringify(frame);
  const event = `${id}event: ${frame.type}\ndata: ${data}\n\n`;
  encoded.set(frame, event);
  return event;
}

/** Cursors are each reader's own, entries are not. */
function entryData({ entry, cursor }: Extract<Frame, { type: 'entry' }>): string {
  let text = encoded.get(entry);
  if (text === undefined) encoded.set(entry, (text = JSON.stringify(entry)));
  return `{"type":"entry","entry":${text},"cursor":${JSON.stringify(cursor)}}`;
}

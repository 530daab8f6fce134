import type { Recorded } from './recorded.ts';

/** Places in the bytes of a recording, found by reading it and not by the code under test. */
export interface Landmarks {
  /** Where each event has ended. */
  readonly ends: readonly number[];
  /** Inside characters of several bytes. */
  readonly halves: readonly number[];
  /** Whether the provider had said by then that it is done. */
  isTerminated(at: number): boolean;
  /** How many actions the provider had closed by then. */
  closedActions(at: number): number;
}

export function landmarks(stream: Recorded): Landmarks {
  // A character for each byte, so that places in the text are places in the bytes.
  const text = Buffer.from(stream.bytes).toString('latin1');
  const ends: number[] = [];
  let terminated = Infinity;
  let begin = 0;
  for (const blank of text.matchAll(/\r?\n\r?\n/g)) {
    const end = blank.index + blank[0].length;
    if (terminated === Infinity && isTerminal(stream, text.slice(begin, blank.index))) terminated = end;
    ends.push(end);
    begin = end;
  }
  const halves: number[] = [];
  for (const [at, byte] of stream.bytes.entries()) if ((byte & 0xc0) === 0x80) halves.push(at);
  const { patterns, all } = closings(stream);
  const closed = patterns.flatMap((one) => [...text.matchAll(one)].map((found) => found.index + found[0].length));
  closed.sort((a, b) => a - b);
  return {
    ends,
    halves,
    isTerminated: (at) => at >= terminated,
    closedActions: (at) => {
      const by = closed.findIndex((end) => end > at);
      const count = by < 0 ? closed.length : by;
      return all && count > 0 ? Infinity : count;
    },
  };
}

function isTerminal({ provider }: Recorded, event: string): boolean {
  switch (provider) {
    case 'anthropic':
      return event.startsWith('event: message_stop');
    case 'openai':
      return /^event: response\.(completed|incomplete|failed)/.test(event);
    case 'google':
      return event.includes('"finishReason"');
    case 'openai-chat':
    case 'openai-compatible':
      return /"finish_reason": ?"/.test(event);
  }
}

/** What closes an action; `all` of them at once where the provider closes none alone. */
function closings({ provider }: Recorded): { readonly patterns: readonly RegExp[]; readonly all: boolean } {
  switch (provider) {
    case 'anthropic':
      return {
        patterns: [/"type": ?"content_block_stop"/g, /"content": ?\[\{"type": ?"tool_use"/g],
        all: false,
      };
    case 'openai':
      return { patterns: [/^event: response\.output_item\.done/gm], all: false };
    case 'google':
      return { patterns: [/"functionCall"/g], all: false };
    case 'openai-chat':
    case 'openai-compatible':
      return { patterns: [/"finish_reason": ?"/g], all: true };
  }
}

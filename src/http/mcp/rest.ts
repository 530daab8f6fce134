import type { Clock } from '../../base/clock.ts';
import type { Caller } from '../../platform/runs/caller.ts';
import type { Frame } from '../../platform/runs/frame.ts';
import type { Runs } from '../../platform/runs/runs.ts';
import type { Snapshot } from '../../platform/runs/snapshot.ts';

export interface RestOptions {
  readonly runs: Runs;
  readonly clock: Clock;
  readonly caller: Caller;
  /** The call is over for whoever made it. */
  readonly signal: AbortSignal;
  readonly waitMs: number;
  /** What the run is doing, in a few words, as it goes. */
  readonly onProgress: (message: string) => void;
}

/** Waits until a run has ended, or waits for a person, or until time is up: whatever comes first. */
export async function untilRest(id: string, options: RestOptions): Promise<Snapshot> {
  const { runs, clock, caller, signal, waitMs, onProgress } = options;
  const enough = new AbortController();
  const stop = (): void => enough.abort();
  signal.addEventListener('abort', stop, { once: true });
  const unset = clock.after(waitMs, stop);
  try {
    for await (const frame of await runs.follow(caller, id, { deltas: true, signal: enough.signal })) {
      const words = inWords(frame);
      if (words !== undefined) onProgress(words);
      if (enough.signal.aborted || isRest(frame)) break;
    }
  } catch (error) {
    if (!enough.signal.aborted) throw error;
  } finally {
    unset();
    signal.removeEventListener('abort', stop);
  }
  return runs.snapshot(caller, id);
}

function isRest(frame: Frame): boolean {
  if (frame.type === 'end') return true;
  return frame.type === 'status' && frame.statusKind !== 'working' && frame.requests.length > 0;
}

function inWords(frame: Frame): string | undefined {
  switch (frame.type) {
    case 'entry':
      return frame.entry.role === 'user' || frame.entry.role === 'end' ? undefined : oneLine(frame.entry.text);
    case 'activity':
      return frame.state === 'idle' ? undefined : [frame.state.replace('_', ' '), frame.detail].join(' ').trim();
    default:
      return undefined;
  }
}

const LONGEST = 200;

function oneLine(text: string): string | undefined {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return undefined;
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1).toWellFormed()}…` : line;
}

import type { Frame } from '../api/types.ts';
import { ApiError, frames } from '../api/http.ts';
import { emptyRun, heard, type LiveRun } from './live-run.ts';

/** How this tab stands with the server. */
export type Link =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** `retryAt`: when it is tried again, on the page's clock. */
  | { readonly state: 'lost'; readonly offline: boolean }
  | { readonly state: 'refused'; readonly error: ApiError };

export interface RunView {
  readonly run: LiveRun;
  readonly link: Link;
}

/** Asked anew: a signal may be aborted while something else is waited for. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/**
 * Follows one run for as long as somebody looks at it.
 *
 * Frames are taken in once per animation frame, however fast they come. A stream that is cut goes on at its last cursor,
 * so nothing is lost and nothing comes twice.
 */
export class RunLink {
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  #view: RunView = { run: emptyRun, link: { state: 'connecting' } };
  #queue: Frame[] = [];
  #painting = 0;
  #stop: AbortController | undefined;
  /** Lets go of the stream that is read just now; another one is opened. */
  #drop: AbortController | undefined;
  #wake: () => void = () => undefined;

  constructor(id: string) {
    this.#id = id;
  }

  get view(): RunView {
    return this.#view;
  }

  /** Begins with the first listener and lets go with the last. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#stop === undefined) this.#begin();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#end();
    };
  }

  #begin(): void {
    const stop = new AbortController();
    this.#stop = stop;
    const online = (): void => {
      this.#wake();
    };
    window.addEventListener('online', online, { signal: stop.signal });
    // A stream over a line that is gone says nothing for long: the browser knows at once.
    const offline = (): void => {
      this.#set({ link: { state: 'lost', offline: true } });
      this.#drop?.abort();
    };
    window.addEventListener('offline', offline, { signal: stop.signal });
    void this.#follow(stop.signal);
  }

  #end(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    cancelAnimationFrame(this.#painting);
    this.#painting = 0;
    this.#takeIn();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let wait = FIRST_WAIT_MS;
    while (!signal.aborted) {
      try {
        const query = { cursor: this.#view.run.cursor, deltas: true, until: 'removed' } as const;
        const drop = new AbortController();
        this.#drop = drop;
        const open = await frames(this.#id, query, { signal: AbortSignal.any([signal, drop.signal]) });
        wait = FIRST_WAIT_MS;
        this.#set({ link: { state: 'live' } });
        for await (const frame of open) {
          this.#queue.push(frame);
          if (this.#painting === 0) this.#painting = requestAnimationFrame(() => this.#takeIn());
        }
      } catch (error) {
        if (isOver(signal)) return;
        if (error instanceof ApiError && [400, 401, 403, 404].includes(error.status)) {
          this.#set({ link: { state: 'refused', error } });
          return;
        }
        this.#set({ link: { state: 'lost', offline: !navigator.onLine } });
      }
      this.#takeIn();
      await this.#pause(wait, signal);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = window.setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', this.#wake, { once: true });
    });
  }

  #takeIn(): void {
    this.#painting = 0;
    if (this.#queue.length === 0) return;
    const frames = this.#queue;
    this.#queue = [];
    this.#set({ run: heard(this.#view.run, frames) });
  }

  #set(change: Partial<RunView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}

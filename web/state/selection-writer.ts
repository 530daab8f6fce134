import type { ChangeSelection, ConsequenceReply, Decision } from '../api/types.ts';
import { joined } from './choices.ts';

/** A change that costs something, and waits for the person's word. */
export interface CostlyChange {
  readonly change: ChangeSelection;
  readonly reply: ConsequenceReply;
}

export interface WriterView {
  /** Made here and not taken by the server yet. Shown as if it were. */
  readonly unsaved: ChangeSelection | undefined;
  readonly costly: CostlyChange | undefined;
  readonly problem: string | undefined;
  readonly isBusy: boolean;
}

export interface WriterPorts {
  readonly priced: (change: ChangeSelection) => Promise<ConsequenceReply>;
  readonly write: (change: ChangeSelection, options?: { readonly isLast: boolean }) => Promise<unknown>;
  /** The server has taken something, or has not: what is shown is read again. */
  readonly changed: () => Promise<unknown>;
  readonly after: (ms: number, then: () => void) => () => void;
}

/** So long one may go on switching before what came of it is written. Milliseconds. */
export const PAUSE_MS = 600;

const IDLE: WriterView = { unsaved: undefined, costly: undefined, problem: undefined, isBusy: false };

/**
 * Writes what a person switches: several switches in a row are one write.
 *
 * What is free is written; what would make a warm cache cold is asked about first, with its price. What the server did not
 * take goes back to what it was, and says why.
 */
export class SelectionWriter {
  readonly #ports: WriterPorts;
  readonly #listeners = new Set<() => void>();
  #view: WriterView = IDLE;
  #queued: ChangeSelection | undefined;
  #cancel: () => void = () => undefined;
  #writing: Promise<void> | undefined;

  constructor(ports: WriterPorts) {
    this.#ports = ports;
  }

  get view(): WriterView {
    return this.#view;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  change(change: ChangeSelection): void {
    this.#queued = this.#queued === undefined ? change : joined(this.#queued, change);
    const { unsaved } = this.#view;
    this.#set({ unsaved: unsaved === undefined ? change : joined(unsaved, change), problem: undefined });
    this.#cancel();
    this.#cancel = this.#ports.after(PAUSE_MS, () => void this.flush());
  }

  /** Resolves when nothing is left to write. False where the person has to decide first. */
  async flush(): Promise<boolean> {
    this.#cancel();
    while (this.#writing !== undefined || (this.#queued !== undefined && this.#view.costly === undefined))
      await (this.#writing ??= this.#writeQueued());
    return this.#view.costly === undefined;
  }

  /** The page goes away: what is still queued is sent, and nobody waits for an answer. What costs is refused there. */
  letGo(): void {
    this.#cancel();
    const change = this.#queued;
    this.#queued = undefined;
    if (change !== undefined) this.#ports.write(change, { isLast: true }).catch(() => undefined);
  }

  async decide(decision: Decision, isRemembered: boolean): Promise<void> {
    const { costly } = this.#view;
    if (costly === undefined) return;
    const classes = costly.reply.parts.map((part) => [part.class, decision] as const);
    await this.#attempt({
      ...costly.change,
      decision,
      ...(isRemembered ? { cache_policy: Object.fromEntries(classes) } : {}),
    });
  }

  /** It stays as it was. */
  leave(): void {
    this.#set({ costly: undefined, unsaved: this.#queued });
  }

  dropPending(): Promise<void> {
    return this.#attempt({ drop_pending: true });
  }

  async #writeQueued(): Promise<void> {
    const change = this.#queued;
    this.#queued = undefined;
    if (change === undefined) return;
    this.#set({ isBusy: true });
    try {
      const reply = await this.#ports.priced(change);
      const isCostly =
        reply.choices.length > 0 &&
        reply.parts.some(({ policy, consequence }) => policy === 'confirm' && consequence.kind !== 'free');
      if (isCostly) this.#set({ costly: { change, reply }, isBusy: false });
      else await this.#attempt(change);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#writing = undefined;
    }
  }

  async #attempt(change: ChangeSelection): Promise<void> {
    this.#set({ isBusy: true, problem: undefined });
    try {
      await this.#ports.write(change);
      await this.#ports.changed();
      this.#set({ costly: undefined, isBusy: false, unsaved: this.#queued });
    } catch (error) {
      this.#failed(error);
      await this.#ports.changed();
    }
  }

  #failed(error: unknown): void {
    const why = error instanceof Error ? error.message : 'The server did not take it.';
    this.#set({
      costly: undefined,
      isBusy: false,
      unsaved: this.#queued,
      problem: `${why} It is as it was.`,
    });
  }

  #set(change: Partial<WriterView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}

// What a log and its engines must do, in the fewest words: no tables, no clocks, no promises.
import { statusKind, type RunStatus } from '../../src/domain/status.ts';
import type { ReleaseOptions } from '../../src/kernel/log.ts';

export interface ModelLease {
  readonly epoch: number;
  /** The head as its holder last knew it. */
  head: number;
}

/** One conversation as it ought to be. */
export class Model {
  readonly facts: string[] = [];
  readonly #keys = new Set<string>();
  status: RunStatus = 'initializing';
  epoch = 0;
  #owner: string | undefined;
  #until = 0;
  #seen = 0;
  #posted = 0;
  #hasWork = false;
  #continueAt: number | undefined;

  get head(): number {
    return this.facts.length;
  }

  post(text: string, key: string | undefined): void {
    if (key !== undefined && this.#keys.has(key)) return;
    if (key !== undefined) this.#keys.add(key);
    this.facts.push(text);
    this.#posted = this.head;
    this.#hasWork = true;
  }

  /** Whether anybody may be given it now. */
  isFree(now: number): boolean {
    const isHeld = this.#owner !== undefined && this.#until > now;
    return this.#hasWork ? !isHeld : this.#continueAt !== undefined && this.#continueAt <= now;
  }

  mayTake(owner: string, now: number): boolean {
    return this.#owner === undefined || this.#owner === owner || this.#until <= now;
  }

  take(owner: string, until: number): ModelLease {
    this.epoch++;
    this.#owner = owner;
    this.#until = until;
    this.#seen = this.head;
    this.#hasWork = true;
    this.#continueAt = undefined;
    return { epoch: this.epoch, head: this.head };
  }

  #holds({ epoch }: ModelLease): boolean {
    return this.#owner !== undefined && this.epoch === epoch;
  }

  append(lease: ModelLease, texts: readonly string[], status: RunStatus): 'ok' | 'moved' | 'fenced' {
    if (!this.#holds(lease)) return 'fenced';
    if (lease.head !== this.head) return 'moved';
    this.facts.push(...texts);
    lease.head = this.#seen = this.head;
    this.status = status;
    return 'ok';
  }

  renew(lease: ModelLease, until: number): boolean {
    if (!this.#holds(lease)) return false;
    this.#until = Math.max(this.#until, until);
    return true;
  }

  release(lease: ModelLease, { unfinished = false, continueAt }: ReleaseOptions): void {
    if (!this.#holds(lease)) return;
    this.#owner = undefined;
    this.#continueAt = continueAt;
    const goesOn = statusKind(this.status) === 'working' && this.status !== 'initializing' && continueAt === undefined;
    this.#hasWork = unfinished || this.#posted > this.#seen || goesOn;
  }
}

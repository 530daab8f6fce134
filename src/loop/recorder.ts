import { assert } from '../base/assert.ts';
import { TreadleError } from '../base/errors.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import { apply, type Conversation } from '../domain/conversation.ts';
import type { Draft, Fact, FactPayload, FactType } from '../domain/event.ts';
import type { RunStatus } from '../domain/status.ts';
import type { Bus } from '../kernel/bus.ts';
import type { AppendResult, Lease, Log } from '../kernel/ports.ts';

export interface RecordOptions {
  /**
   * For intents: true when what others stated meanwhile makes them wrong; nothing is stated then. Absent: the facts
   * happened, so they are stated whatever came in between.
   */
  readonly unless?: (conversation: Conversation) => boolean;
  readonly row?: { readonly status?: RunStatus; readonly title?: string };
}

/** Facts per read when catching up: a slice of a long log at a time. */
const PAGE = 500;

/**
 * One worker's pen: the conversation as the worker knows it, and the only way to add to it.
 *
 * Facts are appended, then folded, then delivered. What others appended meanwhile is folded and delivered first, so
 * everybody hears one conversation in the order of its log.
 */
export class Recorder {
  readonly #log: Log;
  readonly #bus: Bus;
  readonly #lease: Lease;
  #conversation: Conversation;
  /** The append on its way, if any: a conversation has one writer, and that writer one append at a time. */
  #underway: Promise<unknown> | undefined;
  readonly #onMoved = new Set<() => void>();
  /** Inside a synchronous append: the notification that arrives is about our own facts. */
  #appending = false;
  /** A notification came while an append was on its way. */
  #nudged = false;

  constructor(log: Log, bus: Bus, lease: Lease, conversation: Conversation) {
    this.#log = log;
    this.#bus = bus;
    this.#lease = lease;
    this.#conversation = conversation;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** Calls back after a fact from outside was folded in. The returned function ends it. */
  onMoved(listener: () => void): () => void {
    this.#onMoved.add(listener);
    return () => this.#onMoved.delete(listener);
  }

  /**
   * States facts: all or none. Undefined when `unless` said no. Rejects with `log_fenced` when the lease was lost, and
   * with the log's own errors.
   */
  record(drafts: readonly Draft[], options: RecordOptions = {}): MaybePromise<readonly Fact[] | undefined> {
    if (this.#underway !== undefined) return this.#queue(() => this.#append(drafts, options));
    const done = this.#append(drafts, options);
    return isPromise(done) ? this.#queue(() => done) : done;
  }

  /** Something was appended, perhaps by somebody else. Never throws: a log that fails says so at the next append. */
  nudge(): void {
    if (this.#appending) return;
    if (this.#underway !== undefined) {
      this.#nudged = true;
      return;
    }
    try {
      const done = this.catchUp();
      if (isPromise(done)) done.catch(() => undefined);
    } catch {
      return;
    }
  }

  /** Folds in what others have stated since. */
  catchUp(): MaybePromise<void> {
    if (this.#underway !== undefined) return this.#queue(() => this.#readOn());
    const done = this.#readOn();
    return isPromise(done) ? this.#queue(() => done) : done;
  }

  #queue<T>(work: () => MaybePromise<T>): Promise<T> {
    const before = this.#underway;
    const mine = before === undefined ? Promise.resolve(work()) : before.then(work, work);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#underway = settled;
    void settled.then(() => {
      if (this.#underway !== settled) return;
      this.#underway = undefined;
      if (!this.#nudged) return;
      this.#nudged = false;
      this.nudge();
    });
    return mine;
  }

  #append(drafts: readonly Draft[], options: RecordOptions): MaybePromise<readonly Fact[] | undefined> {
    if (options.unless?.(this.#conversation) === true) return undefined;
    this.#appending = true;
    let result: MaybePromise<AppendResult>;
    try {
      result = this.#log.append(this.#lease, this.#conversation.head, drafts, options.row);
    } finally {
      this.#appending = false;
    }
    return isPromise(result)
      ? result.then((late) => this.#appended(late, drafts, options))
      : this.#appended(result, drafts, options);
  }

  #appended(
    result: AppendResult,
    drafts: readonly Draft[],
    options: RecordOptions,
  ): MaybePromise<readonly Fact[] | undefined> {
    if (result.ok) {
      this.#take(result.facts);
      return result.facts;
    }
    if (result.reason === 'fenced') {
      throw new TreadleError('log_fenced', {
        place: this.#conversation.id,
        hint: 'another worker has taken over; nothing was written',
      });
    }
    const caughtUp = this.#readOn();
    const retry = (): MaybePromise<readonly Fact[] | undefined> => this.#append(drafts, options);
    return isPromise(caughtUp) ? caughtUp.then(retry) : retry();
  }

  #readOn(): MaybePromise<void> {
    const page = this.#log.read(this.#conversation.id, this.#conversation.head, PAGE);
    return isPromise(page) ? page.then((late) => this.#tookPage(late)) : this.#tookPage(page);
  }

  #tookPage(page: readonly Fact[]): MaybePromise<void> {
    if (page.length === 0) return;
    this.#take(page);
    for (const listener of this.#onMoved) listener();
    if (page.length === PAGE) return this.#readOn();
  }

  #take(facts: readonly Fact[]): void {
    for (const fact of facts) {
      assert(fact.seq === this.#conversation.head + 1, `fact ${fact.id} after head ${this.#conversation.head}`);
      this.#conversation = apply(this.#conversation, fact);
    }
    for (const fact of facts) this.#bus.deliver(fact);
  }
}

/** A draft in its place: which turn and iteration it belongs to. */
export function draft<T extends FactType>(
  type: T,
  payload: FactPayload<T>,
  place: {
    readonly turnId?: string | undefined;
    readonly iteration?: number | undefined;
    readonly causedBy?: string | undefined;
    readonly source?: string;
  } = {},
): Draft {
  return { type, payload, ...place } as Draft; // type and payload belong together by the signature
}

import { assert } from '../base/assert.ts';
import { TreadleError } from '../base/errors.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { Conversation } from '../domain/conversation.ts';
import { apply } from '../domain/fold.ts';
import { factId } from '../domain/fact-id.ts';
import type { Draft, Fact, FactPayload, FactType } from '../domain/event.ts';
import type { RunStatus } from '../domain/status.ts';
import type { Bus } from '../kernel/bus.ts';
import type { AppendResult, Lease, Log } from '../kernel/log.ts';

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

type Row = NonNullable<RecordOptions['row']>;

/**
 * One worker's pen: the conversation as the worker knows it, and the only way to add to it.
 *
 * Facts are appended, then delivered. What others appended meanwhile comes first, so everybody hears one conversation in
 * the order of its log. An outcome may be kept back until the next intent, so that both are one transaction; whoever is
 * about to wait for something commits first.
 */
export class Recorder {
  readonly #log: Log;
  readonly #bus: Bus;
  readonly #lease: Lease;
  /** The fold of what is in the log. */
  #committed: Conversation;
  /** The same with what is kept. */
  #conversation: Conversation;
  #kept: Draft[] = [];
  #row: Row | undefined;
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
    this.#committed = conversation;
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
   * States facts, with those that were kept: all or none. Undefined when `unless` said no. Rejects with `log_fenced` when
   * the lease was lost, and with the log's own errors.
   */
  record(drafts: readonly Draft[], options: RecordOptions = {}): MaybePromise<readonly Fact[] | undefined> {
    if (this.#underway !== undefined) return this.#queue(() => this.#append(drafts, options));
    const done = this.#append(drafts, options);
    return isPromise(done) ? this.#queue(() => done) : done;
  }

  /**
   * Folds facts in now and states them with the next `record`: for outcomes that nobody waits for. What somebody listens
   * to is stated at once, since a listener may have something to say to it, unless the listener is patient.
   */
  keep(drafts: readonly Draft[], row?: Row): MaybePromise<void> {
    if (this.#underway !== undefined || drafts.some((one) => this.#bus.isAwaited(one.type))) {
      const done = this.record(drafts, row === undefined ? {} : { row });
      return isPromise(done) ? done.then(() => undefined) : undefined;
    }
    this.#kept.push(...drafts);
    if (row !== undefined) this.#row = { ...this.#row, ...row };
    this.#conversation = this.#foresee(this.#conversation, drafts);
  }

  /** States what was kept. To be called before anything is waited for. */
  commit(): MaybePromise<void> {
    if (this.#kept.length === 0 && this.#row === undefined) return;
    const done = this.record([]);
    return isPromise(done) ? done.then(() => undefined) : undefined;
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
    const all = this.#kept.length === 0 ? drafts : [...this.#kept, ...drafts];
    const row = this.#row === undefined ? options.row : { ...this.#row, ...options.row };
    this.#appending = true;
    let result: MaybePromise<AppendResult>;
    try {
      result = this.#log.append(this.#lease, this.#committed.head, all, row);
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
      const foreseen = this.#kept;
      this.#kept = [];
      this.#row = undefined;
      this.#stated(result.facts, foreseen);
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
    const page = this.#log.read(this.#conversation.id, this.#committed.head, PAGE);
    return isPromise(page) ? page.then((late) => this.#tookPage(late)) : this.#tookPage(page);
  }

  #tookPage(page: readonly Fact[]): MaybePromise<void> {
    if (page.length === 0) return;
    this.#take(page);
    for (const listener of this.#onMoved) listener();
    if (page.length === PAGE) return this.#readOn();
  }

  /** The log took the facts where they were foreseen to stand, so what was folded ahead stays, as the objects it is. */
  #stated(facts: readonly Fact[], foreseen: readonly Draft[]): void {
    const at = facts.at(-1)?.at;
    // The time of a turn is the log's to say.
    if (at === undefined || foreseen.some((one) => one.type === 'agent.turn.start')) {
      this.#take(facts);
      return;
    }
    let now: Conversation = { ...this.#conversation, at };
    for (const fact of facts.slice(foreseen.length)) now = apply(now, fact);
    this.#committed = now;
    this.#conversation = now;
    for (const fact of facts) this.#bus.deliver(fact);
  }

  #take(facts: readonly Fact[]): void {
    let now = this.#committed;
    for (const fact of facts) {
      assert(fact.seq === now.head + 1, `fact ${fact.id} after head ${now.head}`);
      now = apply(now, fact);
    }
    this.#committed = now;
    this.#conversation = this.#foresee(now, this.#kept);
    for (const fact of facts) this.#bus.deliver(fact);
  }

  /** The conversation as it will be once the drafts have their places. */
  #foresee(conversation: Conversation, drafts: readonly Draft[]): Conversation {
    let now = conversation;
    const { id: conversationId, agentPath, at } = conversation;
    for (const { type, turnId, iteration, causedBy, source, payload } of drafts) {
      const seq = now.head + 1;
      // The log gives the time and the version; the fold of what has not been stated yet needs neither.
      now = apply(now, {
        seq,
        id: factId(conversationId, seq),
        type,
        v: 1,
        at,
        conversationId,
        agentPath,
        turnId,
        iteration,
        causedBy,
        source,
        payload,
      } as Fact); // a draft pairs type and payload, which the compiler forgets when it takes them apart
    }
    return now;
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
  const { turnId, iteration, causedBy, source } = place;
  return { type, payload, turnId, iteration, causedBy, source } as Draft; // type and payload belong together by the signature
}

import { Stop } from '../../base/stop.ts';
import { isAside } from '../../domain/aside.ts';
import type { Fact, FactOf } from '../../domain/event.ts';
import type { ConversationMeta, Lease, Log } from '../../kernel/log.ts';
import type { Model } from '../../kernel/model.ts';
import type { ToolReturn } from '../../kernel/running-tool.ts';
import { recordedResult } from '../../kernel/tool.ts';
import { next } from '../../loop/next.ts';
import type { LoopPorts } from '../../loop/work.ts';
import { createMemoryLog, type MemoryLog } from '../../adapters/stores/memory.ts';
import { Break } from './break.ts';
import { RecordedClock } from './clock.ts';
import type { RecordedRun } from './recorded-agents.ts';
import { spokenAgain } from './recorded-model.ts';
import { givenAgain } from './recorded-tools.ts';
import { asideKey, callKey, type RecordedAction, type RecordedCall, type Recording } from './recording.ts';
import { callMoment, draftOf, toolMoment, type Stimulus } from './stimuli.ts';

/** A model call of which the log has no answer. */
export interface Beyond {
  readonly turn: string;
  readonly iteration: number;
}

/** Stands for the worker, and for the person where a replay asks what the run did not. */
export const REPLAY = 'replay';
export const FOREVER = Number.MAX_SAFE_INTEGER;
/** Rounds of the event loop in which nothing happens. */
const PATIENCE = 20;
const UNKNOWN = recordedResult({
  observation: { outcome: 'unknown', error: { code: 'not_recorded', message: 'It did not run.' } },
});

/** Where the log has what a tool's run left: its result, what it waits for, or what it asked. */
function statedAt({ places }: RecordedAction, given: ToolReturn | undefined): number | undefined {
  return given === undefined ? undefined : places[given.kind];
}

/** What stands around the loop in a replay, in place of the world. */
export class Stage {
  readonly meta: ConversationMeta;
  readonly memory: MemoryLog;
  readonly clock: RecordedClock;
  readonly stop = new Stop();
  readonly unknown: string[] = [];
  readonly allowed: string[] = [];
  beyond: Beyond | undefined;
  readonly #recording: Recording;
  readonly #upTo: number;
  readonly #asides = new Map<string, number>();
  #answered = 0;
  /** So far this log has the facts of the other, one by one. */
  #isInStep = true;
  #broken = -1;
  #isBroken = false;
  #epoch = 0;
  #head = 0;
  /** Tools that are to end, by the place of what they leave in the log. */
  readonly #running = new Map<number, () => void>();

  constructor(meta: ConversationMeta, recording: Recording, upTo: number) {
    this.meta = meta;
    this.#recording = recording;
    this.#upTo = upTo;
    this.clock = new RecordedClock(recording.facts, (fact) => recording.stimuli.has(fact), this.#isBusy);
    this.memory = createMemoryLog({ clock: this.clock });
    this.memory.create(meta);
  }

  get log(): Log {
    const { memory } = this;
    return {
      ...memory,
      append: (lease, expected, drafts, row) => {
        if (this.#isBroken && lease.epoch === this.#epoch) throw new Break(expected + 1); // the others of that worker
        if (drafts.length > 0 && lease.epoch === this.#epoch) this.#before(expected + 1);
        const appended = memory.append(lease, expected, drafts, row);
        if (appended.ok) this.#follow(appended.facts);
        return this.#isMetBySomething() ? this.#met(appended) : appended;
      },
    };
  }

  take(): Lease {
    const lease = this.memory.take(this.meta.id, REPLAY, FOREVER - this.clock.now());
    if (lease === undefined) throw new Error('Treadle bug: nobody else writes this log');
    this.#epoch = lease.epoch;
    this.#isBroken = false;
    return lease;
  }

  get models(): LoopPorts['models'] {
    const model: Model = { call: () => spokenAgain(this.#answerTo(this.#asked())) };
    // Somebody else may want to work, too.
    return { open: () => new Promise((resolve) => setImmediate(() => resolve(model))) };
  }

  readonly run: RecordedRun = (_, context) => {
    const id = context.actionId;
    const recorded = this.#recording.actions.get(id);
    this.#meanwhile(toolMoment(id));
    const given = recorded === undefined ? undefined : givenAgain(recorded, context);
    if (recorded?.result !== undefined && given?.kind === 'recorded') this.#reached(recorded.result.seq);
    if (recorded?.begun === undefined) this.unknown.push(id);
    else if (given === undefined) this.stop.stop(); // the log ends while it runs
    const seq = recorded === undefined ? undefined : statedAt(recorded, given);
    return seq === undefined ? (given ?? UNKNOWN) : this.#inTurn(seq, given);
  };

  /** The loop is about to state this fact: what came before it comes now, and who died before it dies. */
  #before(seq: number): void {
    const { stimuli, facts, end } = this.#recording;
    if (this.#isInStep && seq > facts.length && next(end).type !== 'rest') throw new Break(undefined);
    if (this.#isInStep && stimuli.isBreak(seq) && this.#broken < seq) {
      this.#broken = seq;
      this.#isBroken = true;
      throw new Break(seq);
    }
    this.enter(stimuli.before(this.#isInStep ? { seq } : { answered: this.#answered }));
  }

  enter(given: readonly Stimulus[]): void {
    for (const { fact, isTime } of given) {
      this.clock.reached(fact.seq);
      if (!isTime) this.#follow([this.memory.post(this.meta.id, draftOf(fact)).fact]);
    }
  }

  #isMetBySomething(): boolean {
    const { stimuli } = this.#recording;
    const following = this.#head + 1;
    return this.#isInStep && stimuli.isBetween(following) && !stimuli.isBreak(following);
  }

  /** What came just after a fact was there before the loop decided what to do next. */
  async #met<T>(appended: T): Promise<T> {
    await Promise.resolve();
    if (this.#isMetBySomething()) this.enter(this.#recording.stimuli.before({ seq: this.#head + 1 }));
    return appended;
  }

  /** A model speaks or a tool runs: whatever came in the middle of that comes now. */
  #meanwhile(what: string): void {
    const { stimuli } = this.#recording;
    const following = this.#head + 1;
    if (!this.#isInStep) this.enter(stimuli.during(what));
    else if (!stimuli.isBreak(following)) this.enter(stimuli.before({ seq: following }));
  }

  #follow(facts: readonly Fact[]): void {
    for (const { seq, type } of facts) {
      this.#isInStep &&= this.#recording.facts[seq - 1]?.type === type;
      this.#head = seq;
    }
    if (this.#isInStep && facts.length > 0) this.clock.reached(this.#head);
    this.#letFinish();
  }

  /** Tools end in the order in which they ended then. */
  #inTurn(seq: number, given: ToolReturn | undefined): ToolReturn | Promise<ToolReturn> {
    if (!this.#isInStep || this.#head + 1 >= seq) return given ?? UNKNOWN;
    return new Promise((resolve) => {
      if (this.#running.size === 0) this.#watch(this.#head, 0);
      this.#running.set(seq, () => resolve(given ?? UNKNOWN));
      queueMicrotask(() => this.#letFinish()); // once those that were begun with it run, too
    });
  }

  /** Where the loop has come to a stand it is on another way than the log's. */
  #watch(head: number, rounds: number): void {
    setImmediate(() => {
      if (this.#running.size === 0) return;
      if (head === this.#head && rounds >= PATIENCE) {
        this.#isInStep = false;
        this.#letFinish();
      } else this.#watch(this.#head, head === this.#head ? rounds + 1 : 0);
    });
  }

  #letFinish(): void {
    const { stimuli } = this.#recording;
    if (this.#running.size === 0) return;
    const following = this.#head + 1;
    if (this.#isInStep && !stimuli.isBreak(following)) {
      const given = stimuli.before({ seq: following });
      if (given.length > 0) {
        this.enter(given);
        return;
      }
      this.#finish([following]);
    } else this.#finish([...this.#running.keys()]);
  }

  #finish(seqs: readonly number[]): void {
    for (const seq of seqs) {
      this.#running.get(seq)?.();
      this.#running.delete(seq);
    }
  }

  /** Whatever waits while a tool runs waits for that tool. */
  readonly #isBusy = (): boolean => this.#running.size > 0;

  #reached(seq: number): void {
    this.#answered = Math.max(this.#answered, seq);
    if (!this.#isInStep) this.clock.reached(seq);
  }

  /** The request that has just been stated: a model is called after that and at no other time. */
  #asked(): FactOf<'llm.request'> {
    const { head } = this.memory.find(this.meta.id) ?? { head: 0 };
    const fact = this.memory.read(this.meta.id, head - 1, 1)[0];
    if (fact?.type !== 'llm.request') throw new Error('Treadle bug: a model call that nobody stated');
    return fact;
  }

  #answerTo(asked: FactOf<'llm.request'>): RecordedCall {
    const found = this.#recorded(asked);
    const isEnd = found?.response === undefined && found?.request.seq === this.#recording.facts.length;
    if (found === undefined || isEnd) {
      if (found === undefined) this.beyond = { turn: asked.turnId ?? '', iteration: asked.iteration ?? 0 };
      this.stop.stop();
      return { request: asked, response: undefined, thoughts: [], n: undefined };
    }
    this.#meanwhile(callMoment(found.request.seq));
    if (found.response !== undefined) this.#reached(found.response.seq);
    if ((found.n ?? 0) >= this.#upTo) this.stop.stop();
    return found;
  }

  #recorded(asked: FactOf<'llm.request'>): RecordedCall | undefined {
    const { purpose } = asked.payload;
    if (!isAside(purpose)) return this.#recording.calls.get(callKey(asked));
    const key = asideKey(asked.turnId, purpose);
    const index = this.#asides.get(key) ?? 0;
    this.#asides.set(key, index + 1);
    return this.#recording.asides.get(key)?.[index];
  }
}

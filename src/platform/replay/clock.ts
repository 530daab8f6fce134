import type { Clock, Instant } from '../../base/clock.ts';
import { isAside } from '../../domain/aside.ts';
import type { Fact } from '../../domain/event.ts';

const MINUTE_MS = 60_000;

/** A clock that shows what it was when the log was written. It waits for nothing. */
export class RecordedClock implements Clock {
  readonly #facts: readonly Fact[];
  readonly #isStimulus: (fact: Fact) => boolean;
  readonly #isBusy: () => boolean;
  #now: Instant;

  constructor(facts: readonly Fact[], isStimulus: (fact: Fact) => boolean, isBusy: () => boolean) {
    this.#isBusy = isBusy;
    this.#facts = facts;
    this.#isStimulus = isStimulus;
    this.#now = facts[0]?.at ?? 0;
  }

  now(): Instant {
    return this.#now;
  }

  /** Nothing here takes time: whatever waits goes on at once, and who sets a limit to a running tool is not called. */
  after(_ms: number, callback: () => void): () => void {
    const isBusy = this.#isBusy;
    let timer = setImmediate(look);
    function look(): void {
      if (isBusy()) timer = setImmediate(look);
      else callback();
    }
    return () => clearImmediate(timer);
  }

  /** So much of the log has come to pass: it is as late as it was when the loop went on from there. */
  reached(seq: number): void {
    const last = this.#facts[seq - 1];
    if (last === undefined) return;
    const following = this.#facts[seq];
    const on = following === undefined || this.#isStimulus(following) ? last : following;
    this.#now = Math.max(this.#now, last.at, on.at);
    const shown = this.#minuteShown(seq);
    // A call is stated a moment after it was made up: it may have been another minute.
    if (shown !== undefined && Math.floor(this.#now / MINUTE_MS) !== shown / MINUTE_MS)
      this.#now = shown + (this.#now > shown ? MINUTE_MS - 1 : 0);
  }

  /** The minute that the next model call told its model, where nothing comes in between. */
  #minuteShown(seq: number): Instant | undefined {
    for (let index = seq; index < this.#facts.length; index++) {
      const fact = this.#facts[index];
      if (fact === undefined) return undefined;
      if (fact.type === 'agent.turn.start') continue; // also of a worker that took the turn up
      if (this.#isStimulus(fact)) return undefined;
      if (fact.type === 'llm.response' || fact.type === 'tool.result') return undefined;
      if (fact.type !== 'llm.request' || isAside(fact.payload.purpose)) continue;
      const said = /^utc: (\d{4}-\d\d-\d\dT\d\d:\d\d)Z$/m.exec(fact.payload.announce ?? '')?.[1];
      return said === undefined ? undefined : Date.parse(`${said}Z`);
    }
    return undefined;
  }
}

import { isAside } from '../../domain/aside.ts';
import { emptyConversation, openRequests, openWaits, type Conversation } from '../../domain/conversation.ts';
import type { Draft, Fact, FactType } from '../../domain/event.ts';
import { apply } from '../../domain/fold.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import { next } from '../../loop/next.ts';

/** When something from outside came, by what the run was doing. */
export type Moment =
  /** In the middle of a model call, or of a tool's run. */
  | { readonly during: string }
  /** Between two things: after this much of the log had been answered. */
  | { readonly after: number }
  | { readonly during: 'rest' };

/** Something that came from outside of the loop: a person, another run, work elsewhere, time. */
export interface Stimulus {
  readonly fact: Fact;
  readonly moment: Moment;
  /** A deadline that passed: nothing was said, and a worker looked at the run then. */
  readonly isTime: boolean;
}

/** The key of a tool's run, among those of model calls. */
export const toolMoment = (action: string): string => `tool ${action}`;
export const callMoment = (seq: number): string => `call ${seq}`;

const FROM_OUTSIDE: ReadonlySet<FactType> = new Set<FactType>([
  ...(['io.input', 'hitl.responded', 'cancel.request', 'cancel.resume', 'computation.ended'] as const),
  ...(['subagent.ended', 'ceiling.set', 'limits.changed', 'allowance.revoked'] as const),
]);

/** What came from outside, in the order in which it came, each handed out once. */
export class Stimuli {
  readonly #all: readonly Stimulus[];
  readonly #facts: ReadonlySet<Fact>;
  readonly #breaks: ReadonlySet<number>;
  #at = 0;

  constructor(meta: ConversationMeta, facts: readonly Fact[], own: (source: string) => boolean) {
    const { found, breaks } = stimuliOf(meta, facts, own);
    this.#all = found;
    this.#breaks = breaks;
    this.#facts = new Set(found.map(({ fact }) => fact));
  }

  /** True of a fact that came from outside, also of one that was handed out. */
  has(fact: Fact): boolean {
    return this.#facts.has(fact);
  }

  /** Whether this is the next one, and came between two things that the loop did. */
  isBetween(seq: number): boolean {
    const one = this.#all[this.#at];
    return one?.fact.seq === seq && !one.isTime && 'after' in one.moment;
  }

  /** Whether a worker left the run before this fact although there was something to do: it died, or had its share. */
  isBreak(seq: number): boolean {
    return this.#breaks.has(seq);
  }

  /** Those that came in the middle of this. */
  during(what: string): readonly Stimulus[] {
    return this.#take(({ moment }) => 'during' in moment && moment.during === what);
  }

  /** Those that came before this fact; or, in a log that has others, once so much of it had been answered. */
  before(place: { readonly seq: number } | { readonly answered: number }): readonly Stimulus[] {
    if ('answered' in place) return this.#take(({ moment }) => 'after' in moment && moment.after <= place.answered);
    let { seq } = place;
    // A worker has seen for itself that a time was over.
    for (let one = this.#all[this.#at]; one?.isTime === true && one.fact.seq < seq; one = this.#all[this.#at])
      this.#at++;
    return this.#take(({ fact }) => fact.seq === seq && seq++ > 0);
  }

  /** Those that came while nobody worked on the run, from this fact on. */
  between(seq: number): readonly Stimulus[] {
    const from = this.#at;
    for (let at = seq; this.#all[this.#at]?.fact.seq === at; at++) this.#at++;
    return this.#all.slice(from, this.#at);
  }

  /** The next one, whenever it came, and those that came with it. */
  atRest(): readonly Stimulus[] {
    const taken: Stimulus[] = [];
    for (let one = this.#all[this.#at]; one !== undefined; one = this.#all[this.#at]) {
      const last = taken.at(-1);
      if (last !== undefined && (last.isTime || one.isTime || one.fact.seq !== last.fact.seq + 1)) break;
      taken.push(one);
      this.#at++;
    }
    return taken;
  }

  #take(fits: (one: Stimulus) => boolean): readonly Stimulus[] {
    const from = this.#at;
    for (let one = this.#all[this.#at]; one !== undefined && !one.isTime && fits(one); one = this.#all[this.#at])
      this.#at++;
    return this.#all.slice(from, this.#at);
  }
}

export function draftOf({ type, payload, turnId, iteration, causedBy, source }: Fact): Draft {
  return { type, payload, turnId, iteration, causedBy, source } as Draft; // of the fact that pairs type and payload
}

function stimuliOf(
  meta: ConversationMeta,
  facts: readonly Fact[],
  own: (source: string) => boolean,
): { readonly found: readonly Stimulus[]; readonly breaks: ReadonlySet<number> } {
  const resultAt = new Map<string, number>();
  for (const fact of facts) if (fact.type === 'tool.result') resultAt.set(fact.payload.action, fact.seq);
  const found: Stimulus[] = [];
  const breaks = new Set<number>();
  let conversation = emptyConversation(meta.id, meta.agentPath);
  /** As the loop last left it. */
  let left = conversation;
  let call: number | undefined;
  let answered = 0;
  const running = new Set<string>();
  for (const fact of facts) {
    const isTime = isPassedDeadline(fact);
    if (isTime || isFromOutside(fact, conversation, facts, own))
      found.push({ fact, isTime, moment: momentOf(conversation, { call, answered, running, resultAt }) });
    else if (fact.type === 'agent.turn.start' && fact.payload.resumed === true && next(left).type !== 'rest')
      breaks.add(left.head + 1);
    const isOfLoop = found.at(-1)?.fact !== fact;
    switch (fact.type) {
      case 'llm.request':
        call = isAside(fact.payload.purpose) ? undefined : fact.seq;
        break;
      case 'llm.response':
        call = undefined;
        answered = fact.seq;
        break;
      case 'agent.turn.start':
        running.clear(); // a worker that takes a turn up runs nothing yet
        break;
      case 'tool.invoke':
        running.add(fact.payload.action);
        break;
      case 'tool.result':
        running.delete(fact.payload.action);
        answered = fact.seq;
        break;
      default:
    }
    conversation = apply(conversation, fact);
    if (isOfLoop) left = conversation;
  }
  return { found, breaks };
}

function isPassedDeadline(fact: Fact): boolean {
  if (fact.type === 'hitl.cancel') return fact.payload.reason === 'expired';
  return fact.type === 'computation.ended' && fact.payload.by === 'clock';
}

function isFromOutside(
  fact: Fact,
  conversation: Conversation,
  facts: readonly Fact[],
  own: (source: string) => boolean,
): boolean {
  // What a plugin has stated is stated again where that plugin is at work.
  if (fact.source !== undefined) return !own(fact.source);
  const { type } = fact;
  // The loop says at the beginning what the run was created with.
  if (type === 'limits.changed' && conversation.turns.length === 0 && conversation.turn === undefined)
    return facts[fact.seq]?.type !== 'agent.turn.start';
  // A service may tell of something at any time; what it is asked for belongs to the turn that asks.
  if (type === 'source.event') return fact.turnId === undefined;
  return FROM_OUTSIDE.has(type);
}

interface Doing {
  readonly call: number | undefined;
  readonly answered: number;
  readonly running: ReadonlySet<string>;
  readonly resultAt: ReadonlyMap<string, number>;
}

function momentOf(conversation: Conversation, { call, answered, running, resultAt }: Doing): Moment {
  if (call !== undefined) return { during: callMoment(call) };
  const { turn } = conversation;
  const waiting = new Set(
    turn === undefined ? [] : [...openRequests(turn), ...openWaits(turn)].map((one) => one.action),
  );
  const [first] = [...running]
    .filter((action) => !waiting.has(action) && resultAt.has(action))
    .sort((left, right) => (resultAt.get(left) ?? 0) - (resultAt.get(right) ?? 0));
  if (first !== undefined) return { during: toolMoment(first) };
  return next(conversation).type === 'rest' ? { during: 'rest' } : { after: answered };
}

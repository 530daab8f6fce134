import type { Clock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { Draft, EventOf, EventType, Fact, FactPayload, TreadleEvent } from '../domain/event.ts';
import { ask, type AskOptions, type Gate } from './ask.ts';
import { createDelivery, type Listener } from './deliver.ts';
import type { Logger } from './logger.ts';
import { EVENT_TYPES } from '../domain/event-types.ts';
import {
  QUESTION_ABOUT,
  type GateContext,
  type Judgement,
  type Questions,
  type QuestionType,
  type Verdict,
} from './verdict.ts';

/** An exact type, a prefix such as `llm.*`, or everything. */
export type Pattern = EventType | `${string}.*` | '*';
export type EventFor<P extends Pattern> = P extends EventType ? EventOf<P> : TreadleEvent;

/** Requests that a plugin may serve, with what it answers. */
export interface Answers {
  'plan.request': FactPayload<'plan.result'>;
  'memory.compact.request': FactPayload<'memory.compacted'>;
}
export type RequestType = keyof Answers;

/** What a plugin that serves a request may ask a model. */
export interface AsidePrompt {
  readonly instructions: string;
  readonly text: string;
}

export type AsideAnswer =
  | { readonly ok: true; readonly text: string }
  /** Why there is no answer, for people: a gate refused, every model failed, the turn is to stop. */
  | { readonly ok: false; readonly error: string };

export interface AnswerContext {
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
  /**
   * A model call beside the decisions of the turn: judged by every gate, on record with its purpose, its usage counted. What
   * the log of this turn has an answer to already is not asked again. Never rejects for what a model or a gate does.
   */
  readonly askModel: (prompt: AsidePrompt) => Promise<AsideAnswer>;
}
export type Answerer<R extends RequestType> = (
  payload: FactPayload<R>,
  context: AnswerContext,
) => MaybePromise<Answers[R]>;

export interface Registration {
  /** Lower goes first; 50 when absent. Orders revisions and listeners, never turns a no into a yes. */
  readonly priority?: number | undefined;
  /** Plugin or adapter id, for the record. */
  readonly source?: string | undefined;
  /**
   * For a listener that has nothing to say to what it hears: a fact may come to it with the next ones, before anything is
   * waited for. A fact that others wait for is a transaction of its own.
   */
  readonly patient?: boolean | undefined;
  /** For a gate of what a model said: it may change thoughts and arguments, too, so that nobody is shown them before. */
  readonly looksDeep?: boolean | undefined;
}

export type Unregister = () => void;

/**
 * The kernel's four verbs: hear a fact, judge a question, serve a request, state a fact.
 *
 * Registering returns the function that unregisters. A handler added while an event is on its way does not see it.
 */
export interface Bus {
  on<P extends Pattern>(
    pattern: P,
    listener: (event: EventFor<P>, signal: AbortSignal) => MaybePromise<void>,
    options?: Registration,
  ): Unregister;
  before<Q extends QuestionType>(
    question: Q,
    judge: (payload: Questions[Q], context: GateContext) => MaybePromise<Verdict<Questions[Q]> | undefined>,
    options?: Registration,
  ): Unregister;
  /** One answerer a request. Throws `plugin_failed` when there is one already. */
  answer<R extends RequestType>(request: R, answerer: Answerer<R>, options?: Registration): Unregister;
  /** Appends the fact to the log, then delivers it. */
  emit(conversationId: string, draft: Draft): MaybePromise<Fact>;

  ask<Q extends QuestionType>(
    question: Q,
    payload: Questions[Q],
    context: AskOptions<Questions[Q]>['context'],
    validate?: (payload: Questions[Q]) => string | undefined,
  ): MaybePromise<Judgement<Questions[Q]>>;
  /** True when any gate judges this question; deeply, when any does that looks deep. */
  isGated(question: QuestionType, how?: 'deeply'): boolean;
  answerer<R extends RequestType>(request: R): Answerer<R> | undefined;
  /** Hands an event to its listeners. Never throws, never waits. */
  deliver(event: TreadleEvent): void;
  /** True when anybody listens to this type: what nobody hears need not be made. */
  isHeard(type: EventType): boolean;
  /** True when somebody hears this type who is not patient: it must be stated at once. */
  isAwaited(type: EventType): boolean;
  /** Resolves when every listener has finished with what was delivered so far. */
  settled(): Promise<void>;
}

/**
 * One bus for several editions of a bundle: what an owner registers counts in the views that name the owner, and what
 * belongs to nobody counts everywhere.
 *
 * Used as it is, it is the view of the edition that counts now.
 */
export interface SharedBus extends Bus {
  /** The bus for whoever registers in the name of this owner, such as a plugin with one configuration. */
  ownedBy(owner: object): Bus;
  /** The bus as it is where these owners count; of equal priority the first one goes first. Throws `plugin_failed`. */
  view(owners: readonly object[]): Bus;
  /** From now on these owners count wherever no view is named. */
  use(owners: readonly object[]): void;
}

export interface BusOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How a fact stated by a plugin reaches the log. */
  readonly record: (conversationId: string, draft: Draft) => MaybePromise<Fact>;
  /** Milliseconds a gate may take before it counts as a deny. */
  readonly gateTimeoutMs?: number;
  /** Milliseconds a listener may take with one event before the next one is given to it. */
  readonly listenerTimeoutMs?: number;
  /** Events kept for a listener that is behind; older ones are dropped and a log line says so. */
  readonly maxQueued?: number;
}

/** A subscription to what does not exist would never be called, and a gate that is never asked refuses nothing. */
function check(what: string, given: string, known: Iterable<string>, source: string): void {
  const names = [...known];
  const isKnown = given.endsWith('.*')
    ? names.some((name) => name.startsWith(given.slice(0, -1)))
    : given === '*' || names.includes(given);
  if (isKnown) return;
  throw new TreadleError('plugin_failed', {
    place: source,
    found: `${what} ${JSON.stringify(given)}`,
    wanted: `one of ${names.join(', ')}`,
  });
}

export const DEFAULT_PRIORITY = 50;
/** Cancelling must be heard before anything that might start new work. */
const CANCEL_PRIORITY = 5;
const CANCEL_EVENTS: ReadonlySet<string> = new Set(['cancel.active', 'cancel.resume']);

/** What was registered, and for whom. */
interface Owned<T> {
  readonly value: T;
  readonly owner: object | undefined;
}

/** What counts in one view, until something is registered or taken back. */
interface Counting {
  readonly version: number;
  readonly gates: Map<QuestionType, readonly Gate<unknown>[]>;
  readonly listeners: Map<string, readonly Listener[]>;
}

export function createBus({
  clock,
  logger,
  record,
  gateTimeoutMs = 10_000,
  listenerTimeoutMs = 30_000,
  maxQueued = 1_000,
}: BusOptions): SharedBus {
  /** Gates of a question were registered with its payload type; the map cannot say so. */
  const gates = new Map<QuestionType, Owned<Gate<unknown>>[]>();
  const answerers: { readonly request: RequestType; readonly source: string; readonly one: Owned<unknown> }[] = [];
  const listeners: Owned<Listener>[] = [];
  const delivery = createDelivery({ clock, logger, timeoutMs: listenerTimeoutMs, maxQueued });
  let current: readonly object[] = [];
  let version = 0;

  function added<T>(list: T[], item: T): Unregister {
    list.push(item);
    version++;
    return () => {
      const index = list.indexOf(item);
      if (index >= 0) list.splice(index, 1);
      version++;
    };
  }

  function ownedBy(owner: object | undefined): Pick<Bus, 'on' | 'before' | 'answer'> {
    return {
      on(pattern, listener, { priority, source = 'listener', patient = false } = {}) {
        check('a subscription to', pattern, EVENT_TYPES, source);
        const value: Listener = {
          pattern,
          source,
          patient,
          priority: priority ?? (CANCEL_EVENTS.has(pattern) ? CANCEL_PRIORITY : DEFAULT_PRIORITY),
          hear: listener as Listener['hear'], // the pattern decides which events arrive
        };
        return added(listeners, { value, owner });
      },
      before(question, judge, { priority = DEFAULT_PRIORITY, source = 'gate', looksDeep = false } = {}) {
        check('a gate of', question, Object.keys(QUESTION_ABOUT), source);
        let known = gates.get(question);
        if (known === undefined) gates.set(question, (known = []));
        return added(known, { value: { source, priority, looksDeep, judge } as unknown as Gate<unknown>, owner }); // see `gates`
      },
      answer(request, answerer, { source = 'plugin' } = {}) {
        const isTaken = answerers.some(
          ({ request: other, one }) =>
            other === request &&
            (one.owner === owner ||
              // Two owners meet in a view, which looks at them then.
              (owner === undefined ? current.some((those) => those === one.owner) : one.owner === undefined)),
        );
        if (isTaken) throw secondAnswerer(request, source);
        return added(answerers, { request, source, one: { value: answerer, owner } });
      },
    };
  }

  function viewOf(owners: () => readonly object[]): Omit<Bus, 'on' | 'before' | 'answer'> {
    let known: Counting | undefined;

    function counting(): Counting {
      if (known?.version !== version) known = { version, gates: new Map(), listeners: new Map() };
      return known;
    }

    function counts<T extends { readonly priority: number }>(registered: readonly Owned<T>[]): readonly T[] {
      const those = owners();
      const places = new Map(those.map((owner, place) => [owner, place]));
      return registered
        .flatMap(({ value, owner }) => {
          const place = owner === undefined ? those.length : places.get(owner);
          return place === undefined ? [] : [{ value, place }];
        })
        .sort((left, right) => left.value.priority - right.value.priority || left.place - right.place) // stable
        .map(({ value }) => value);
    }

    function heardBy(type: string): readonly Listener[] {
      const { listeners: byType } = counting();
      let found = byType.get(type);
      if (found === undefined) {
        found = counts(listeners.filter(({ value }) => matches(value.pattern, type)));
        byType.set(type, found);
      }
      return found;
    }

    function judgesOf(question: QuestionType): readonly Gate<unknown>[] {
      const { gates: byQuestion } = counting();
      let found = byQuestion.get(question);
      if (found === undefined) {
        found = counts(gates.get(question) ?? []);
        byQuestion.set(question, found);
      }
      return found;
    }

    return {
      emit: record,
      ask(question, payload, context, validate) {
        const judges = judgesOf(question) as unknown as readonly Gate<typeof payload>[]; // see `gates`
        return ask(judges, payload, { context, validate, clock, timeoutMs: gateTimeoutMs });
      },
      isGated: (question, how) => judgesOf(question).some(({ looksDeep }) => how === undefined || looksDeep === true),
      answerer<R extends RequestType>(request: R) {
        const those = owners();
        const found = answerers.find(
          (other) => other.request === request && (other.one.owner === undefined || those.includes(other.one.owner)),
        );
        return found?.one.value as Answerer<R> | undefined; // registered under its own type
      },
      deliver: (event) => delivery.deliver(event, heardBy(event.type)),
      isHeard: (type) => heardBy(type).length > 0,
      isAwaited: (type) => heardBy(type).some((one) => !one.patient),
      settled: () => delivery.settled(),
    };
  }

  const now = viewOf(() => current);
  const everybody = ownedBy(undefined);
  return {
    ...everybody,
    ...now,
    ownedBy: (owner) => ({ ...now, ...ownedBy(owner) }),
    view(owners) {
      const seen = new Set<string>();
      for (const { request, source, one } of answerers) {
        if (one.owner !== undefined && !owners.includes(one.owner)) continue;
        if (seen.has(request)) throw secondAnswerer(request, source);
        seen.add(request);
      }
      return { ...everybody, ...viewOf(() => owners) };
    },
    use(owners) {
      current = owners;
      version++;
    },
  };
}

function secondAnswerer(request: RequestType, source: string): TreadleError {
  return new TreadleError('plugin_failed', {
    place: source,
    found: `a second answerer of ${request}`,
    wanted: 'exactly one',
    hint: 'deactivate one of the two plugins',
  });
}

function matches(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true;
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
}

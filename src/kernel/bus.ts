import type { Clock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { Draft, EventOf, EventType, Fact, FactPayload, TreadleEvent } from '../domain/event.ts';
import { ask, type AskOptions, type Gate } from './ask.ts';
import { createDelivery, type Listener } from './deliver.ts';
import type { Logger } from './ports.ts';
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
  /** True when any gate judges this question. */
  isGated(question: QuestionType): boolean;
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

export function createBus({
  clock,
  logger,
  record,
  gateTimeoutMs = 10_000,
  listenerTimeoutMs = 30_000,
  maxQueued = 1_000,
}: BusOptions): Bus {
  /** Gates of a question were registered with its payload type; the map cannot say so. */
  const gates = new Map<QuestionType, readonly Gate<unknown>[]>();
  const answerers = new Map<string, unknown>();
  const listeners: Listener[] = [];
  const byType = new Map<string, readonly Listener[]>();
  const delivery = createDelivery({ clock, logger, timeoutMs: listenerTimeoutMs, maxQueued });

  function heardBy(type: string): readonly Listener[] {
    let found = byType.get(type);
    if (found === undefined) {
      found = inOrder(listeners.filter((one) => matches(one.pattern, type)));
      byType.set(type, found);
    }
    return found;
  }

  return {
    on(pattern, listener, { priority, source = 'listener', patient = false } = {}) {
      check('a subscription to', pattern, EVENT_TYPES, source);
      const added: Listener = {
        pattern,
        source,
        patient,
        priority: priority ?? (CANCEL_EVENTS.has(pattern) ? CANCEL_PRIORITY : DEFAULT_PRIORITY),
        hear: listener as Listener['hear'], // the pattern decides which events arrive
      };
      listeners.push(added);
      byType.clear();
      return () => {
        remove(listeners, added);
        byType.clear();
      };
    },
    before(question, judge, { priority = DEFAULT_PRIORITY, source = 'gate' } = {}) {
      check('a gate of', question, Object.keys(QUESTION_ABOUT), source);
      const added = { source, priority, judge } as unknown as Gate<unknown>; // see `gates`
      gates.set(question, inOrder([...(gates.get(question) ?? []), added]));
      return () => {
        gates.set(
          question,
          (gates.get(question) ?? []).filter((one) => one !== added),
        );
      };
    },
    answer(request, answerer, { source = 'plugin' } = {}) {
      if (answerers.has(request)) {
        throw new TreadleError('plugin_failed', {
          place: source,
          found: `a second answerer of ${request}`,
          wanted: 'exactly one',
          hint: 'deactivate one of the two plugins',
        });
      }
      answerers.set(request, answerer);
      return () => {
        if (answerers.get(request) === answerer) answerers.delete(request);
      };
    },
    emit: record,
    ask(question, payload, context, validate) {
      const judges = (gates.get(question) ?? []) as unknown as readonly Gate<typeof payload>[]; // see `gates`
      return ask(judges, payload, { context, validate, clock, timeoutMs: gateTimeoutMs });
    },
    isGated: (question) => (gates.get(question)?.length ?? 0) > 0,
    answerer: <R extends RequestType>(request: R) => answerers.get(request) as Answerer<R> | undefined, // registered under its own type
    deliver: (event) => delivery.deliver(event, heardBy(event.type)),
    isHeard: (type) => heardBy(type).length > 0,
    isAwaited: (type) => heardBy(type).some((one) => !one.patient),
    settled: () => delivery.settled(),
  };
}

function matches(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true;
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
}

function inOrder<T extends { readonly priority: number }>(registered: readonly T[]): readonly T[] {
  return [...registered].sort((left, right) => left.priority - right.priority); // stable: equal priorities keep their order
}

function remove<T>(list: T[], item: T): void {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
}

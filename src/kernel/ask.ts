import type { Clock } from '../base/clock.ts';
import { LazyAbort } from '../base/lazy-abort.ts';
import { canonicalJson, toJson } from '../base/json.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import { STANDING_SCOPES } from '../domain/allowance.ts';
import type { Deny, GateContext, GivenVerdict, Hold, Judgement, Remember, Verdict } from './verdict.ts';

/** A gate as registered: who, where in line, and the judge itself. */
export interface Gate<P> {
  readonly source: string;
  readonly priority: number;
  readonly looksDeep?: boolean | undefined;
  readonly judge: (payload: P, context: GateContext) => MaybePromise<Verdict<P> | undefined>;
}

export interface AskOptions<P> {
  readonly context: Omit<GateContext, 'signal'>;
  /** What is wrong with a revised payload, or undefined. */
  readonly validate?: ((payload: P) => string | undefined) | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

interface State<P> {
  payload: P;
  holds: readonly (Hold & { readonly gate: string })[];
  verdicts: readonly GivenVerdict[];
  /** A deny that is not for good: the others are asked all the same, since one that is for good beats it. */
  soft: Judgement<P>['denial'];
  revisedBy: string | undefined;
  /** Gates before this place have not seen the payload as it is now. */
  unseen: number;
}

/** What most questions end with: shared, so that a gate with nothing to say costs nothing. */
const NONE: readonly never[] = Object.freeze([]);

/**
 * Ask gates one after another, in order. The first deny ends the asking.
 *
 * Permission fails closed: a gate that throws, hangs or answers with junk denies. A revision is shown to the gates after
 * it and, at the end, once more to those before it, so that every gate has judged what will really happen.
 * Answers without a promise when every gate did.
 */
export function ask<P>(gates: readonly Gate<P>[], payload: P, options: AskOptions<P>): MaybePromise<Judgement<P>> {
  const state: State<P> = { payload, holds: NONE, verdicts: NONE, soft: undefined, revisedBy: undefined, unseen: 0 };
  return round(gates, 0, gates.length, state, options, false);
}

function round<P>(
  gates: readonly Gate<P>[],
  from: number,
  until: number,
  state: State<P>,
  options: AskOptions<P>,
  again: boolean,
): MaybePromise<Judgement<P>> {
  for (let place = from; place < until; place++) {
    const gate = gates[place];
    if (gate === undefined) break;
    // Asked again, a gate speaks of the payload as it is now: what it held of the old one is no longer meant.
    if (again) withdraw(state, gate.source);
    const given = consult(gate, state.payload, options);
    if (isPromise(given)) {
      return given.then(
        (late) =>
          absorb(late, gate, place, state, options, again) ?? round(gates, place + 1, until, state, options, again),
      );
    }
    const ended = absorb(given, gate, place, state, options, again);
    if (ended !== undefined) return ended;
  }
  if (!again && state.unseen > 0) return round(gates, 0, state.unseen, state, options, true);
  if (state.soft !== undefined) return { ...judgement(state, 'deny'), denial: state.soft };
  return judgement(state, state.holds.length > 0 ? 'hold' : 'allow');
}

/** Of several, the one that lasts longest counts, else the first in line. */
function soften<P>(state: State<P>, gate: string, { verdict, ...denial }: Deny): void {
  state.verdicts = [...state.verdicts, { gate, verdict, ...denial }];
  if (state.soft === undefined || (denial.retryAt ?? 0) > (state.soft.retryAt ?? 0)) state.soft = { gate, ...denial };
}

/** What one gate is shown besides the payload. Most never look at the signal, and a controller costs more than they do. */
class Within implements GateContext {
  readonly conversation: GateContext['conversation'];
  readonly agent: GateContext['agent'];
  readonly #abort = new LazyAbort();

  constructor({ conversation, agent }: Omit<GateContext, 'signal'>) {
    this.conversation = conversation;
    this.agent = agent;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  expire(): void {
    this.#abort.abort();
  }
}

/** One gate's verdict, bounded in time; never throws and never rejects. */
function consult<P>(gate: Gate<P>, payload: P, { context, clock, timeoutMs }: AskOptions<P>): MaybePromise<unknown> {
  const within = new Within(context);
  let given: unknown;
  try {
    given = gate.judge(payload, within);
  } catch (error) {
    return failed(error);
  }
  if (!isPromise(given)) return given;
  const late = given;
  return new Promise((resolve) => {
    const release = clock.after(timeoutMs, () => {
      within.expire();
      resolve({ verdict: 'deny', reason: `the gate did not answer within ${timeoutMs} ms`, code: 'gate_timeout' });
    });
    late.then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        resolve(failed(error));
      },
    );
  });
}

/** Takes one verdict into the state. Returns the judgement when it ends the asking. */
function absorb<P>(
  given: unknown,
  gate: Gate<P>,
  place: number,
  state: State<P>,
  options: AskOptions<P>,
  again: boolean,
): Judgement<P> | undefined {
  if (given === undefined || given === null) return undefined;
  const verdict = closedSet<P>(given);
  switch (verdict?.verdict) {
    case 'deny':
      if (verdict.retryAt === undefined && verdict.again === undefined)
        return denied(state, gate.source, verdict.reason, verdict.code);
      soften(state, gate.source, verdict);
      return undefined;
    case 'hold':
      if (state.holds.some((one) => one.gate === gate.source && one.question === verdict.question)) return undefined;
      state.holds = [...state.holds, { ...verdict, gate: gate.source }];
      state.verdicts = [...state.verdicts, { gate: gate.source, verdict: 'hold', reason: verdict.question }];
      return undefined;
    case 'revise': {
      if (same(verdict.payload, state.payload)) return undefined;
      if (again) return denied(state, gate.source, 'gates keep revising each other', 'gate_unsettled');
      const problem = options.validate?.(verdict.payload);
      if (problem !== undefined)
        return denied(state, gate.source, `the gate's revision is not valid: ${problem}`, 'gate_invalid_revision');
      state.payload = verdict.payload;
      state.revisedBy = gate.source;
      state.unseen = place;
      state.verdicts = [...state.verdicts, { gate: gate.source, verdict: 'revise', reason: verdict.reason }];
      return undefined;
    }
    default:
      return denied(state, gate.source, 'the gate answered with something that is not a verdict', 'gate_junk');
  }
}

function withdraw<P>(state: State<P>, gate: string): void {
  state.holds = state.holds.filter((one) => one.gate !== gate);
  const isSoft = (one: GivenVerdict): boolean =>
    one.verdict === 'hold' || one.retryAt !== undefined || one.again !== undefined;
  state.verdicts = state.verdicts.filter((one) => one.gate !== gate || !isSoft(one));
  if (state.soft?.gate === gate) state.soft = undefined;
}

function denied<P>(state: State<P>, gate: string, reason: string, code: string | undefined): Judgement<P> {
  state.verdicts = [...state.verdicts, { gate, verdict: 'deny', reason, code }];
  return { ...judgement(state, 'deny'), denial: { gate, reason, code } };
}

function judgement<P>(
  { payload, holds, verdicts, revisedBy }: State<P>,
  outcome: Judgement<P>['outcome'],
): Judgement<P> {
  return { payload, holds, verdicts, revisedBy, outcome };
}

/** A verdict if it is one, to the letter. */
function closedSet<P>(given: unknown): Verdict<P> | undefined {
  if (typeof given !== 'object' || given === null || !('verdict' in given)) return undefined;
  const verdict = given as Verdict<P>; // its parts are checked before it is believed
  switch (verdict.verdict) {
    case 'deny':
      return typeof verdict.reason === 'string' &&
        isOrAbsent(verdict.retryAt, 'number') &&
        isOrAbsent(verdict.again, 'string')
        ? verdict
        : undefined;
    case 'hold':
      return typeof verdict.question === 'string' && isRemember(verdict.remember) ? verdict : undefined;
    case 'revise':
      return verdict.payload === undefined ? undefined : verdict;
    default:
      return undefined;
  }
}

function isOrAbsent(given: unknown, type: 'number' | 'string'): boolean {
  return given === undefined || (typeof given === type && !Number.isNaN(given));
}

/** What would stand for more than one action is looked at as closely as a verdict. */
function isRemember(given: unknown): boolean {
  if (given === undefined) return true;
  if (typeof given !== 'object' || given === null) return false;
  const { scopes, subject, about } = given as Partial<Remember>; // its parts are checked here
  return (
    Array.isArray(scopes) &&
    scopes.every((scope: unknown) => STANDING_SCOPES.some((one) => one === scope)) &&
    subject !== undefined &&
    typeof about === 'string'
  );
}

function failed(error: unknown): Verdict<never> {
  const message = error instanceof Error ? error.message : String(error);
  return { verdict: 'deny', reason: `the gate failed: ${message}`, code: 'gate_failed' };
}

function same(left: unknown, right: unknown): boolean {
  return left === right || canonicalJson(toJson(left)) === canonicalJson(toJson(right));
}

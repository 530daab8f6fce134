import {
  byClass,
  decisionsUnder,
  policyFor,
  type ChangeDecision,
  type ChangePolicy,
} from '../../assembly/change-policy.ts';
import { consequence, sumOf, type Consequence } from '../../assembly/consequence.ts';
import { clampPatch, menuOf, type Dropped } from '../../assembly/menu.ts';
import { isoTime } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { emptySelection, type CachePolicy, type ChangeClass, type Selection } from '../../domain/selection.ts';
import { mergeSelection, patchOf, type SelectionPatch } from '../../domain/selection-patch.ts';
import {
  applied,
  deferred,
  MOST_PENDING,
  type PendingChange,
  type SelectionRecord,
} from '../../domain/selection-record.ts';
import { Money } from '../../adapters/prices/money.ts';
import { affectedBy } from './cold-turns.ts';
import { agentWith, type Affected, type SelectionPorts, type SelectionState } from './selection-state.ts';

export interface ChangeRequest {
  readonly patch: SelectionPatch;
  /** Absent: the user's own record, which counts wherever a conversation has no copy. */
  readonly conversation?: string | undefined;
  /** What to do about a change that costs. Absent: as the policy says. */
  readonly decision?: ChangeDecision | undefined;
  /** Begin from nothing: what is not named is switched on again. */
  readonly replace?: boolean | undefined;
  /** Forget what waits. */
  readonly dropPending?: boolean | undefined;
}

/** One kind of change, priced. */
export interface ChangePart {
  readonly class: ChangeClass;
  readonly policy: CachePolicy;
  readonly consequence: Consequence;
  readonly done: 'applied' | 'when_cold' | 'next_conversation';
}

interface PlannedPart extends ChangePart {
  /** Nobody has decided yet, and somebody has to. */
  readonly isOpen: boolean;
  /** Warm prompts that it makes cold. */
  readonly coldTurns: number;
}

/** A change as it will be written, with what each part of it costs. */
export interface PlannedChange {
  readonly record: SelectionRecord;
  /** The user's own record, where it changes beside the conversation's copy. */
  readonly own: SelectionRecord | undefined;
  readonly parts: readonly PlannedPart[];
  readonly dropped: readonly Dropped[];
  readonly policy: ChangePolicy;
}

/** Clamps, prices and decides, and writes nothing. */
export async function planned(
  ports: SelectionPorts,
  state: SelectionState,
  request: ChangeRequest,
): Promise<PlannedChange> {
  const { decision } = request;
  const { patch, dropped } = clampPatch(request.patch, menuOf(state.agent.grant));
  const choices = decisionsUnder(state.policy);
  if (decision !== undefined && !choices.includes(decision)) {
    throw new TreadleError('invalid_request', { place: 'decision', found: decision, wanted: choices.join(' or ') });
  }
  const now = ports.clock.now();
  const affected = await affectedBy(ports, state, now);
  let record = request.dropPending === true ? { ...state.record, pending: [] } : state.record;
  if (request.replace === true) record = { ...record, selection: emptySelection, pending: [] };
  let own: SelectionRecord | undefined;
  // A policy is the user's for all conversations.
  if (patch.cache_policy !== undefined) {
    const said: SelectionPatch = { cache_policy: patch.cache_policy };
    if (state.named === undefined) record = applied(record, said);
    else own = applied(state.own.record, said);
  }
  const wanted = request.replace === true ? withoutRest(state.selection, patch) : patch;
  const parts: PlannedPart[] = [];
  let before = state.selection;
  for (const [kind, part] of byClass(wanted)) {
    const after = mergeSelection(before, part);
    const priced = costs(state, affected, before, after, now);
    const coldTurns = priced.filter((one) => one.kind !== 'free').length;
    const whole = sumOf(priced, (amounts) => Money.sum(...amounts).toFixed());
    const policy = policyFor(kind, (own ?? state.own.record).selection, state.policy);
    const does = coldTurns === 0 ? 'accept' : (decision ?? policy);
    const change: PendingChange = { id: ports.newId(), apply: 'when_cold', patch: part, at: now };
    const base = { class: kind, policy, consequence: whole, isOpen: does === 'confirm' };
    switch (does) {
      case 'accept':
      case 'confirm':
        record = applied(record, part);
        before = after;
        parts.push({ ...base, done: 'applied', coldTurns });
        break;
      case 'defer_cold':
        record = deferred(record, change, state.named === undefined ? undefined : new Set(state.promoted));
        parts.push({ ...base, done: 'when_cold', coldTurns: 0 });
        break;
      case 'defer_conversation': {
        const next: PendingChange = { ...change, apply: 'next_conversation' };
        if (state.named === undefined) record = deferred(record, next);
        else own = deferred(own ?? state.own.record, next);
        parts.push({ ...base, done: 'next_conversation', coldTurns: 0 });
        break;
      }
    }
  }
  for (const { pending } of [record, ...(own === undefined ? [] : [own])]) {
    if (pending.length > MOST_PENDING) {
      throw new TreadleError('invalid_request', {
        place: 'decision',
        found: `${pending.length} changes that wait`,
        wanted: `at most ${MOST_PENDING}`,
        hint: 'accept some of them, or drop what waits',
      });
    }
  }
  return { record, own, parts, dropped, policy: state.policy };
}

/** For a selection that begins anew: whatever was switched off before and is not named is switched on. */
function withoutRest(before: Selection, patch: SelectionPatch): SelectionPatch {
  const { disabled = {}, model } = patchOf(before);
  const off = (groups: object | undefined): Record<string, false> =>
    Object.fromEntries(Object.keys(groups ?? {}).map((name) => [name, false]));
  return {
    disabled: {
      tools: { ...off(disabled.tools), ...patch.disabled?.tools },
      mcp: { ...off(disabled.mcp), ...patch.disabled?.mcp },
      named_services: { ...off(disabled.named_services), ...patch.disabled?.named_services },
      skills: patch.disabled?.skills ?? [],
    },
    ...(patch.model === undefined ? (model === undefined ? {} : { model: null }) : { model: patch.model }),
  };
}

/** What a step costs in each conversation, beyond what the steps before it cost there already. */
function costs(
  state: SelectionState,
  affected: readonly Affected[],
  before: Selection,
  after: Selection,
  now: number,
): readonly Consequence[] {
  const [current, next] = [agentWith(state, before), agentWith(state, after)];
  return affected.map(({ conversation }) => {
    // What the provider holds is the prompt of the last turn, not of a choice that no turn has seen.
    const sent = conversation.agent ?? current;
    const already = consequence(sent, current, { conversation, now }, state.price);
    const then = consequence(sent, next, { conversation, now }, state.price);
    return then.tokens > already.tokens ? then : { ...then, kind: 'free', tokens: 0, money: undefined };
  });
}

/** Throws `confirmation_required` where somebody has to decide and nobody has. */
export function refuseUndecided({ parts, policy }: PlannedChange, { conversation }: ChangeRequest): void {
  const open = parts.filter(({ isOpen }) => isOpen);
  if (open.length === 0) return;
  const whole = sumOf(
    open.map((one) => one.consequence),
    (amounts) => Money.sum(...amounts).toFixed(),
  );
  const { tokens, money, assumes } = whole;
  const choices = decisionsUnder(policy);
  const cost = money?.rebuild === undefined ? 'at a price that is not known' : `for about $${inCents(money.rebuild)}`;
  const free =
    assumes.warmUntil === undefined || !choices.includes('defer_cold')
      ? {}
      : { hint: `defer_cold is free: the cache is cold after ${isoTime(assumes.warmUntil)}, unless it is used again` };
  throw new TreadleError('confirmation_required', {
    place: conversation,
    found: `a change that rebuilds ${tokens} cached tokens, ${cost}`,
    wanted: `a decision: ${choices.join(', ')}`,
    ...free,
    data: { parts: open.map((part) => inText(told(part))), choices: decisionsUnder(policy) },
  });
}

/** For people: two places after the point, or so many that the first digit is seen. */
function inCents(amount: string): string {
  const value = new Money(amount);
  return value.toFixed(value.isZero() ? 2 : Math.max(2, -value.e));
}

/** A part without what only we count. */
export function told({ class: kind, policy, consequence: whole, done }: PlannedPart): ChangePart {
  return { class: kind, policy, consequence: whole, done };
}

/** With times as text, for whoever reads it on the other side of a wire. */
function inText({ consequence: whole, ...rest }: ChangePart): object {
  const { warmUntil, prices } = whole.assumes;
  const assumes = { prices, ...(warmUntil === undefined ? {} : { warmUntil: isoTime(warmUntil) }) };
  return { ...rest, consequence: { ...whole, assumes } };
}

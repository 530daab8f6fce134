import { isoTime } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import {
  byClass,
  decisionsUnder,
  policyFor,
  type ChangeDecision,
  type ChangePolicy,
} from '../../assembly/change-policy.ts';
import { consequence, sumOf, type Consequence } from '../../assembly/consequence.ts';
import { clampPatch, menuOf, type Dropped, type Menu } from '../../assembly/menu.ts';
import { emptySelection, type CachePolicy, type ChangeClass, type Selection } from '../../domain/selection.ts';
import { mergeSelection, patchOf, type SelectionPatch } from '../../domain/selection-patch.ts';
import {
  applied,
  deferred,
  MOST_PENDING,
  rowOf,
  type PendingChange,
  type SelectionRecord,
} from '../../domain/selection-record.ts';
import { Money } from '../../adapters/prices/money.ts';
import { toggleConsequences, type ToggleConsequence } from '../grant/capabilities.ts';
import { affectedBy, recordColdTurns } from './cold-turns.ts';
import {
  agentWith,
  ask,
  readState,
  type Affected,
  type Chooser,
  type SelectionPorts,
  type SelectionState,
} from './selection-state.ts';
import { userKey } from './selection-reader.ts';

/** What a user may switch off and pick, and what they have. */
export interface Capabilities extends Menu {
  readonly agent: string;
  readonly bundle: string;
  readonly scope: SelectionScope;
  readonly selection: Selection;
  readonly pending: readonly PendingChange[];
  readonly policy: ChangePolicy & { readonly inForce: Readonly<Record<ChangeClass, CachePolicy>> };
  /** What of the stored record could not be read. */
  readonly ignored: readonly string[];
  /** Of each toggle, where a conversation is named. */
  readonly consequences?: readonly ToggleConsequence[] | undefined;
}

export interface SelectionScope {
  readonly kind: 'user' | 'conversation';
  readonly conversation?: string | undefined;
  /** Counts the writes; 0 while nothing is stored here. */
  readonly revision: number;
}

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

export interface ChangeReply {
  readonly agent: string;
  readonly scope: SelectionScope;
  readonly selection: Selection;
  readonly pending: readonly PendingChange[];
  readonly dropped: readonly Dropped[];
  readonly parts: readonly ChangePart[];
}

/** The two operations on users' choices, and what a change would cost. */
export interface Selections {
  /** Reads and changes nothing. Throws `agent_unknown`, `run_unknown`, `selection_unavailable`. */
  capabilities(
    chooser: Chooser,
    agent: string | undefined,
    options?: { readonly conversation?: string | undefined },
  ): Promise<Capabilities>;
  /**
   * Merges a change into what is stored, clamped against what the agent has now. Throws also `confirmation_required` with
   * the consequence, `cold_turns_exhausted` and `selection_conflict`; nothing is changed then.
   */
  update(chooser: Chooser, agent: string | undefined, request: ChangeRequest): Promise<ChangeReply>;
  /** What `update` would do, without doing it. */
  consequence(
    chooser: Chooser,
    agent: string | undefined,
    request: ChangeRequest,
  ): Promise<Omit<ChangeReply, 'scope'> & { readonly choices: readonly ChangeDecision[] }>;
}

/** Writers at once whom one of them gives way to, so often. */
const MOST_TRIES = 8;

export function createSelections(ports: SelectionPorts): Selections {
  return {
    async capabilities(chooser, agent, { conversation } = {}) {
      const state = await readState(ports, chooser, agent, conversation);
      const { selection, policy, named } = state;
      const inForce = {
        model_switch: policyFor('model_switch', state.own.record.selection, policy),
        capability_toggle: policyFor('capability_toggle', state.own.record.selection, policy),
      };
      const menu = menuOf(state.agent.grant);
      return {
        agent: state.agent.frame.id,
        bundle: state.agent.bundle,
        scope: scopeOf(state),
        ...menu,
        selection,
        pending: waitingOf(state),
        policy: { ...policy, inForce },
        ignored: state.ignored,
        ...(named === undefined ? {} : { consequences: toggleConsequences(state, menu, named, ports.clock.now()) }),
      };
    },
    async update(chooser, agent, request) {
      for (let tries = 1; ; tries++) {
        const state = await readState(ports, chooser, agent, request.conversation);
        const plan = await planned(ports, state, request);
        refuseUndecided(plan, request);
        if (await written(ports, state, plan)) return replyTo(ports, chooser, agent, plan, request);
        if (tries >= MOST_TRIES) throw new TreadleError('selection_conflict', { hint: 'try again' });
      }
    },
    async consequence(chooser, agent, request) {
      const state = await readState(ports, chooser, agent, request.conversation);
      const plan = await planned(ports, state, request);
      const { record, own, parts, dropped } = plan;
      return {
        agent: state.agent.frame.id,
        selection: record.selection,
        pending: [...record.pending, ...(own === undefined || state.named === undefined ? [] : own.pending)],
        dropped,
        parts: parts.map(told),
        choices: decisionsUnder(state.policy),
      };
    },
  };
}

interface PlannedPart extends ChangePart {
  /** Nobody has decided yet, and somebody has to. */
  readonly isOpen: boolean;
  /** Warm prompts that it makes cold. */
  readonly coldTurns: number;
}

interface Plan {
  readonly record: SelectionRecord;
  /** The user's own record, where it changes beside the conversation's copy. */
  readonly own: SelectionRecord | undefined;
  readonly parts: readonly PlannedPart[];
  readonly dropped: readonly Dropped[];
  readonly policy: ChangePolicy;
}

async function planned(ports: SelectionPorts, state: SelectionState, request: ChangeRequest): Promise<Plan> {
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

function refuseUndecided({ parts, policy }: Plan, { conversation }: ChangeRequest): void {
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

async function written(ports: SelectionPorts, state: SelectionState, plan: Plan): Promise<boolean> {
  const { store } = ports;
  const ownKey = userKey(state.key, state.agent);
  const cold = plan.parts.reduce((sum, { coldTurns }) => sum + coldTurns, 0);
  const isUser = state.named === undefined;
  const own = recordColdTurns(
    isUser ? plan.record : (plan.own ?? state.own.record),
    cold,
    state.policy,
    ports.clock.now(),
  );
  // The user's record first: a turn that is counted and does not come about costs nobody anything.
  if (isUser || own !== state.own.record) {
    if (!(await ask(ports, () => store.writeSelection(ownKey, rowOf(own), state.own.revision)))) return false;
  }
  if (isUser || plan.record === state.record) return true;
  return ask(ports, () => store.writeSelection(state.key, rowOf(plan.record), state.revision));
}

async function replyTo(
  ports: SelectionPorts,
  chooser: Chooser,
  agent: string | undefined,
  { parts, dropped }: Plan,
  { conversation }: ChangeRequest,
): Promise<ChangeReply> {
  const state = await readState(ports, chooser, agent, conversation);
  return {
    agent: state.agent.frame.id,
    scope: scopeOf(state),
    selection: state.selection,
    pending: waitingOf(state),
    dropped,
    parts: parts.map(told),
  };
}

function told({ class: kind, policy, consequence: whole, done }: PlannedPart): ChangePart {
  return { class: kind, policy, consequence: whole, done };
}

/** With times as text, for whoever reads it on the other side of a wire. */
function inText({ consequence: whole, ...rest }: ChangePart): object {
  const { warmUntil, prices } = whole.assumes;
  const assumes = { prices, ...(warmUntil === undefined ? {} : { warmUntil: isoTime(warmUntil) }) };
  return { ...rest, consequence: { ...whole, assumes } };
}

function scopeOf({ named, revision }: SelectionState): SelectionScope {
  return named === undefined
    ? { kind: 'user', revision }
    : { kind: 'conversation', conversation: named.row.id, revision };
}

/** What waits here, and beside a conversation what waits for the next one. */
function waitingOf({ record, own, named, promoted }: SelectionState): readonly PendingChange[] {
  const elsewhere = named === undefined ? [] : own.record.pending.filter(({ apply }) => apply === 'next_conversation');
  return [...record.pending, ...elsewhere].filter(({ id }) => !promoted.includes(id));
}

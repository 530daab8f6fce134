import { TreadleError } from '../../base/errors.ts';
import { decisionsUnder, policyFor, type ChangeDecision, type ChangePolicy } from '../../assembly/change-policy.ts';
import { menuOf, type Dropped, type Menu } from '../../assembly/menu.ts';
import type { CachePolicy, ChangeClass, Selection } from '../../domain/selection.ts';
import { rowOf, type PendingChange } from '../../domain/selection-record.ts';
import { toggleConsequences, type ToggleConsequence } from '../grant/capabilities.ts';
import { recordColdTurns } from './cold-turns.ts';
import {
  planned,
  refuseUndecided,
  told,
  type ChangePart,
  type ChangeRequest,
  type PlannedChange,
} from './planned-change.ts';
import { ask, readState, type Chooser, type SelectionPorts, type SelectionState } from './selection-state.ts';
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

async function written(ports: SelectionPorts, state: SelectionState, plan: PlannedChange): Promise<boolean> {
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
  { parts, dropped }: PlannedChange,
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

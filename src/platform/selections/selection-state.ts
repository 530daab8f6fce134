import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import { changePolicyOf, type ChangePolicy } from '../../assembly/change-policy.ts';
import type { HeldClaims } from '../../assembly/claims.ts';
import type { Pricing } from '../../assembly/consequence.ts';
import { effectiveAgentOf } from '../../assembly/effective.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { Selection } from '../../domain/selection.ts';
import { settled, type ReadRecord, type SelectionRecord } from '../../domain/selection-record.ts';
import type { AccountStore, SelectionKey, SelectionStore } from '../../kernel/choices.ts';
import type { ConversationRow, Log } from '../../kernel/log.ts';
import type { LoadedAgent } from '../grant/agent-source.ts';
import { askStore, STORE_TIMEOUT_MS } from '../accounts/ask-store.ts';
import type { ChosenModel } from '../models/auto-model.ts';
import type { LoadedBundle } from '../bundle/load.ts';
import { choiceOf, conversationKey, recordOf, userKey, type Rows } from './selection-reader.ts';

/** Whose choices. */
export interface Chooser {
  readonly userId: string;
  readonly tenant: string;
}

/** An agent whose users can choose, and the bundle that has it. */
export interface ChoosableAgent {
  readonly bundle: Pick<LoadedBundle, 'id' | 'file' | 'bundle' | 'agentNow'>;
  readonly agent: string;
  /** The model that `auto` stands for. */
  readonly model?: ChosenModel | undefined;
  readonly price: Pricing;
}

export interface SelectionPorts {
  /** The default agent when there is no name. Throws `agent_unknown`. */
  readonly agentNamed: (name: string | undefined) => ChoosableAgent;
  /** Whether a run is one of the bundle with this id. */
  readonly isOf: (run: Pick<ConversationRow, 'bundle'>, bundle: string) => boolean;
  readonly log: Pick<Log, 'find' | 'list'>;
  readonly fold: (run: ConversationRow) => MaybePromise<Conversation>;
  readonly store: SelectionStore;
  readonly accounts?: AccountStore | undefined;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** A conversation and what counts in it. */
export interface Affected {
  readonly row: ConversationRow;
  readonly conversation: Conversation;
}

/** What is stored for a chooser, and what it comes to: everything that an operation needs to know, read once. */
export interface SelectionState {
  readonly agent: LoadedAgent;
  readonly policy: ChangePolicy;
  readonly price: Pricing;
  readonly held: HeldClaims;
  /** Where the operation reads and writes: the conversation's copy where one is named, else the user's record. */
  readonly key: SelectionKey;
  readonly record: SelectionRecord;
  /** 0 while there is no row at `key`. */
  readonly revision: number;
  /** The user's own, for what only stands there. */
  readonly own: { readonly record: SelectionRecord; readonly revision: number };
  /** What counts now. */
  readonly selection: Selection;
  readonly promoted: readonly string[];
  readonly named: Affected | undefined;
  readonly ignored: readonly string[];
}

/** Throws `agent_unknown`, `run_unknown` for a conversation that is not this user's with this agent, `selection_unavailable`. */
export async function readState(
  ports: SelectionPorts,
  chooser: Chooser,
  name: string | undefined,
  conversationId: string | undefined,
): Promise<SelectionState> {
  const found = ports.agentNamed(name);
  // What its servers have at the moment, for this user, is what there is to choose from.
  const agent = await found.bundle.agentNow(found.agent, chooser);
  const named = conversationId === undefined ? undefined : await conversationOf(ports, chooser, found, conversationId);
  const rows = await readBoth(ports, chooser, agent, named?.row);
  const user = recordOf({ user: rows.user, conversation: undefined });
  const base = {
    agent,
    policy: changePolicyOf(found.bundle.bundle, agent.frame.id),
    price: found.price,
    held: await claimsOf(ports, chooser, agent),
    own: { record: user, revision: rows.user?.revision ?? 0 },
    named,
  };
  if (named === undefined) {
    const { ignored, ...record } = user;
    const key = userKey(chooser, agent);
    const { selection } = record;
    return { ...base, key, record, revision: base.own.revision, selection, promoted: [], ignored };
  }
  const counting = recordOf(rows, named.conversation.selection?.selection);
  const { selection, promoted } = choiceOf(counting, agent, named.row, named.conversation, ports.clock.now());
  return {
    ...base,
    key: conversationKey(named.row, agent),
    record: copyOf(rows, counting, selection, new Set(promoted)),
    revision: rows.conversation?.revision ?? 0,
    selection,
    promoted,
    ignored: counting.ignored,
  };
}

/** The conversation's copy as it is, or as it would begin: with what counts in it now. */
function copyOf(
  { conversation }: Rows,
  counting: ReadRecord,
  selection: Selection,
  promoted: ReadonlySet<string>,
): SelectionRecord {
  const { pending } = counting;
  if (conversation !== undefined) return settled({ selection: counting.selection, pending }, promoted);
  return { selection, pending: pending.filter(({ id, apply }) => apply === 'when_cold' && !promoted.has(id)) };
}

/** The agent that a selection makes, for this user as the accounts are now. */
export function agentWith(
  { agent, held }: Pick<SelectionState, 'agent' | 'held'>,
  selection: Selection,
): EffectiveAgent {
  return effectiveAgentOf(agent, selection, held).agent;
}

/** Nobody learns whether a run exists that is not theirs. */
async function conversationOf(
  { log, fold, isOf }: SelectionPorts,
  { userId, tenant }: Chooser,
  { bundle, agent }: ChoosableAgent,
  id: string,
): Promise<Affected> {
  const row = await log.find(id);
  const isTheirs = row?.userId === userId && row.tenant === tenant && row.agent === agent && isOf(row, bundle.id);
  if (row === undefined || !isTheirs) {
    throw new TreadleError('run_unknown', { place: 'conversation', found: JSON.stringify(id) });
  }
  return { row, conversation: await fold(row) };
}

async function readBoth(
  ports: SelectionPorts,
  chooser: Chooser,
  agent: LoadedAgent,
  row: ConversationRow | undefined,
): Promise<Rows> {
  const { store } = ports;
  const [user, conversation] = await Promise.all([
    ask(ports, () => store.readSelection(userKey(chooser, agent))),
    row === undefined ? undefined : ask(ports, () => store.readSelection(conversationKey(row, agent))),
  ]);
  return { user, conversation };
}

/** What the store answers in time. Throws `selection_unavailable`. */
export async function ask<T>({ clock }: Pick<SelectionPorts, 'clock'>, question: () => MaybePromise<T>): Promise<T> {
  const asked = askStore(question, clock, STORE_TIMEOUT_MS);
  const answer = isPromise(asked) ? await asked : asked;
  if (answer.ok) return answer.value;
  throw new TreadleError('selection_unavailable', {
    found: `a store that ${answer.why}`,
    hint: 'turns go on with what was last applied; try again',
    cause: answer.cause,
  });
}

/** Rights that cannot be read are no rights. */
async function claimsOf(
  { accounts, clock }: SelectionPorts,
  { userId, tenant }: Chooser,
  agent: LoadedAgent,
): Promise<HeldClaims> {
  if (accounts === undefined || !agent.grant.tools.some(({ needs }) => needs !== undefined)) return {};
  const asked = await askStore(() => accounts.claims({ userId, tenant }), clock, STORE_TIMEOUT_MS);
  return asked.ok ? asked.value : {};
}

import type { Clock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { isCold } from '../../assembly/cache.ts';
import { clampPatch, menuOf } from '../../assembly/menu.ts';
import type { DeclaredAgent } from '../../assembly/effective.ts';
import type { Conversation } from '../../domain/conversation.ts';
import { emptySelection, type Selection } from '../../domain/selection.ts';
import {
  emptyRecord,
  inForce,
  readRecord,
  type ReadRecord,
  type SelectionRecord,
} from '../../domain/selection-record.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { SelectionKey, SelectionStore } from '../../kernel/choices.ts';
import { askStore, STORE_TIMEOUT_MS, type Asked } from '../accounts/ask-store.ts';

/** The selection that a turn is assembled with. */
export interface Chosen {
  readonly selection: Selection;
  /** Deferred changes that count in this conversation from now on. */
  readonly promoted: readonly string[];
  /** Why what is stored was passed over, wholly or in part. */
  readonly ignored: string | undefined;
}

/** Finds out what a user chose. Never rejects and never throws: a selection cannot break a turn. */
export type SelectionReader = (
  meta: ConversationMeta,
  agent: DeclaredAgent,
  conversation: Conversation,
) => MaybePromise<Chosen>;

export interface SelectionReaderOptions {
  readonly store: SelectionStore;
  readonly clock: Clock;
  readonly logger?: Pick<Logger, 'warn'> | undefined;
  readonly timeoutMs?: number;
}

/** Rows of one user and agent, and of one conversation with it. */
export interface Rows {
  readonly user: Row | undefined;
  /** The conversation's own copy: where there is one, the user's row does not count. */
  readonly conversation: Row | undefined;
}

export interface Row {
  readonly value: unknown;
  readonly revision: number;
}

export function userKey(meta: Pick<ConversationMeta, 'userId' | 'tenant'>, agent: DeclaredAgent): SelectionKey {
  return { userId: meta.userId, tenant: meta.tenant, bundle: agent.bundle, agent: agent.frame.id };
}

export function conversationKey(
  meta: Pick<ConversationMeta, 'userId' | 'tenant' | 'id'>,
  agent: DeclaredAgent,
): SelectionKey {
  return { ...userKey(meta, agent), conversation: meta.id };
}

/** Reads both rows. Throws what the store throws, and at what is no row: taken for an empty one it would switch all on again. */
export function readRows(
  store: SelectionStore,
  meta: Pick<ConversationMeta, 'userId' | 'tenant' | 'id'>,
  agent: DeclaredAgent,
): MaybePromise<Rows> {
  const conversation = store.readSelection(conversationKey(meta, agent));
  if (!isPromise(conversation) && conversation !== undefined)
    return { conversation: aRow(conversation), user: undefined };
  const user = store.readSelection(userKey(meta, agent));
  if (!isPromise(conversation) && !isPromise(user)) return { conversation, user: aRow(user) };
  return Promise.all([conversation, user]).then(([copy, own]) => ({ conversation: aRow(copy), user: aRow(own) }));
}

function aRow(answer: Row | undefined): Row | undefined {
  if (answer === undefined || (isObject(answer) && 'value' in answer)) return answer;
  throw new Error('it answered something that is not a row');
}

/**
 * The record that counts in a conversation: its own copy, else its user's. What of it is junk counts as the conversation
 * `last` went by it: what was switched off there does not come back by a fault of the store.
 */
export function recordOf({ user, conversation }: Rows, last?: Selection): ReadRecord {
  const row = conversation ?? user;
  return row === undefined ? { ...emptyRecord, ignored: [] } : readRecord(row.value, last);
}

/** What of a record counts when a turn of the conversation begins now. What was deferred is clamped once more. */
export function choiceOf(
  record: SelectionRecord,
  agent: DeclaredAgent,
  { createdAt }: Pick<ConversationMeta, 'createdAt'>,
  conversation: Conversation,
  now: number,
): { readonly selection: Selection; readonly promoted: readonly string[] } {
  if (record.pending.length === 0) return { selection: record.selection, promoted: [] };
  const menu = menuOf(agent.grant);
  const pending = record.pending.map((one) => ({ ...one, patch: clampPatch(one.patch, menu).patch }));
  const { selection, promoted } = inForce(
    { ...record, pending },
    {
      createdAt,
      promoted: new Set(conversation.selection?.promoted),
      isCold: isCold(conversation, now),
    },
  );
  return { selection, promoted: promoted.map(({ id }) => id) };
}

/** Reads selections from a store, for as long as a turn can wait. */
export function createSelectionReader({
  store,
  clock,
  logger,
  timeoutMs = STORE_TIMEOUT_MS,
}: SelectionReaderOptions): SelectionReader {
  return (meta, agent, conversation) => {
    const use = (asked: Asked<Rows>): Chosen => {
      if (!asked.ok) return lastApplied(conversation, `The store ${forUsers(asked)}`);
      try {
        const last = conversation.selection?.selection;
        const { ignored, ...record } = recordOf(asked.value, last);
        const choice = choiceOf(record, agent, meta, conversation, clock.now());
        if (ignored.length === 0) return { ...choice, ignored: undefined };
        const instead =
          last === undefined ? 'The agent is as configured there.' : 'What this conversation last used counts there.';
        return { ...choice, ignored: [...ignored, instead].join(' ') };
      } catch {
        return lastApplied(conversation, 'The store answered something that is not a row');
      }
    };
    const told = (asked: Asked<Rows>): Chosen => {
      const chosen = use(asked);
      if (chosen.ignored !== undefined) {
        const cause = asked.ok ? {} : { cause: asked.cause };
        logger?.warn("a user's selection could not be read", { conversation: meta.id, why: chosen.ignored, ...cause });
      }
      return chosen;
    };
    const asked = askStore(() => readRows(store, meta, agent), clock, timeoutMs);
    return isPromise(asked) ? asked.then(told) : told(asked);
  };
}

/** Of an error its code, where it has one: its words may name files and machines, and are for the log of the operator. */
function forUsers({ why, cause }: Extract<Asked, { ok: false }>): string {
  if (cause === undefined) return why;
  const code = isObject(cause) ? cause['code'] : undefined;
  return typeof code === 'string' ? `failed (${code})` : 'failed';
}

/** The choices are not known: what the conversation last went by is the best that anybody can say. */
function lastApplied({ selection: before }: Conversation, why: string): Chosen {
  if (before === undefined) {
    return { selection: emptySelection, promoted: [], ignored: `${why}; the agent is as configured.` };
  }
  const { selection, promoted } = before;
  return { selection, promoted, ignored: `${why}; the selection that this conversation last used counts.` };
}

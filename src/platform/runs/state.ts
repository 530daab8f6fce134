import { isoTime } from '../../base/clock.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { openWaits, type Conversation } from '../../domain/conversation.ts';
import type { FactPayload } from '../../domain/event.ts';
import { statusOf } from '../../domain/run.ts';
import { RUN_STATUSES, statusKind, type RunStatus, type StatusKind } from '../../domain/status.ts';
import type { ConversationRow, Log } from '../../kernel/log.ts';
import type { Folds, RunFold } from './folds.ts';
import { openRequestsOf } from './open-requests.ts';
import type { OpenRequest, WaitingOn } from './snapshot.ts';

/** A run and those below it at one moment. */
export interface RunState {
  readonly row: ConversationRow;
  readonly fold: RunFold;
  readonly status: RunStatus;
  /** All below, children of children too, oldest first. Only where this run ever delegated. */
  readonly below: readonly ConversationRow[];
  /** Its own open requests, then those of the runs below. */
  readonly requests: readonly OpenRequest[];
  readonly waitingOn: readonly WaitingOn[];
  /** Of this run and those below together: it grows with every fact of any of them. */
  readonly version: number;
  readonly progressAt: number;
}

export interface StateOptions {
  readonly log: Log;
  readonly folds: Folds;
}

/** More below one run than anybody delegates; what is beyond it is not looked at. */
const MOST_BELOW = 1_000;

/** The state of a run whose fold is at hand. */
export function stateOf({ log, folds }: StateOptions, row: ConversationRow, fold: RunFold): MaybePromise<RunState> {
  if (!hasDelegated(fold)) return joined(row, fold, []);
  return withBelow(log, folds, row, fold);
}

async function withBelow(log: Log, folds: Folds, row: ConversationRow, fold: RunFold): Promise<RunState> {
  const rows = await belowOf(log, row);
  const below: Below[] = [];
  for (const child of rows) {
    // An ended run has nothing to ask and is not read: what it was is in its row.
    const isOver = statusKind(child.status) === 'ended';
    const known = isOver ? undefined : folds.read(child);
    below.push({ row: child, fold: isPromise(known) ? await known : known });
  }
  return joined(row, fold, below);
}

/** Every run below this one, oldest first. */
export async function belowOf(
  log: Pick<Log, 'list'>,
  { id, root }: ConversationRow,
): Promise<readonly ConversationRow[]> {
  const tree = await log.list({ root: root ?? id, limit: MOST_BELOW, archived: 'any' });
  const below = new Set<string>([id]);
  const oldestFirst = [...tree].sort((left, right) => left.createdAt - right.createdAt);
  for (let before = 0; before !== below.size;) {
    before = below.size;
    for (const one of oldestFirst) if (one.parent !== undefined && below.has(one.parent.id)) below.add(one.id);
  }
  return oldestFirst.filter((one) => one.id !== id && below.has(one.id));
}

/** Whom the run waits for: for a person also where one of the runs below it asks. */
export function kindOf({ status, requests }: Pick<RunState, 'status' | 'requests'>): StatusKind {
  const kind = statusKind(status);
  return kind === 'waiting_for_work' && requests.length > 0 ? 'waiting_for_person' : kind;
}

const OF_PERSONS = RUN_STATUSES.filter((one) => statusKind(one) === 'waiting_for_person');

/** The same for a row alone. Only of a run that waits for those below it are they looked at. */
export async function rowKindOf(log: Pick<Log, 'list'>, row: ConversationRow): Promise<StatusKind> {
  const kind = statusKind(row.status);
  if (row.status !== 'waiting_for_subagents') return kind;
  const asking =
    row.parent === undefined
      ? await log.list({ root: row.id, status: OF_PERSONS, limit: 1, archived: 'any' })
      : (await belowOf(log, row)).filter((one) => OF_PERSONS.includes(one.status));
  return asking.length > 0 ? 'waiting_for_person' : kind;
}

interface Below {
  readonly row: ConversationRow;
  readonly fold: RunFold | undefined;
}

function joined(row: ConversationRow, fold: RunFold, below: readonly Below[]): RunState {
  const { conversation, timeline } = fold;
  const requests = [...openRequestsOf(row, fold)];
  const waitingOn: WaitingOn[] = [];
  let version = timeline.head;
  let progressAt = timeline.progressAt === 0 ? row.createdAt : timeline.progressAt;
  for (const child of below) {
    version += child.fold?.timeline.head ?? child.row.head;
    progressAt = Math.max(progressAt, child.fold?.timeline.progressAt ?? child.row.updatedAt);
    if (child.fold === undefined) continue;
    requests.push(...openRequestsOf(child.row, child.fold));
    if (child.row.parent?.id === row.id && statusKind(statusOf(child.fold.conversation)) !== 'ended')
      waitingOn.push({ kind: 'subagent', run: child.row.id, action: child.row.parent.action });
  }
  for (const { kind, id, run } of requests) waitingOn.push({ kind, request: id, run });
  waitingOn.push(...computationsOf(conversation));
  const { gate, retryAt } = conversation.turn?.denied ?? {};
  if (gate !== undefined && retryAt !== undefined) waitingOn.push({ kind: 'gate', gate, until: isoTime(retryAt) });
  return {
    row,
    fold,
    status: statusOf(conversation),
    below: below.map((one) => one.row),
    requests,
    waitingOn,
    version,
    progressAt,
  };
}

/** Work outside that the run's actions wait for. */
function computationsOf({ turn }: Conversation): readonly WaitingOn[] {
  const waits = turn === undefined ? [] : openWaits(turn);
  return waits.flatMap((one): WaitingOn[] => {
    if (one.kind !== 'computation') return [];
    const { ticket, action, deadline } = one;
    return [{ kind: 'computation', ticket, action, ...(deadline !== undefined && { until: isoTime(deadline) }) }];
  });
}

/** Whether the run ever began another one: where it did not, nobody looks for any. */
function hasDelegated({ timeline }: RunFold): boolean {
  return timeline.delegated;
}

/** The one kind of approval that is open, a plan's first. */
export function pendingApproval(requests: readonly OpenRequest[]): { readonly kind: 'plan' | 'action' } | undefined {
  if (requests.some((one) => one.kind === 'plan')) return { kind: 'plan' };
  return requests.some((one) => one.kind === 'action') ? { kind: 'action' } : undefined;
}

export function needsInput({ requests, status }: Pick<RunState, 'requests' | 'status'>): boolean {
  return status === 'awaiting_user_input' || requests.some((one) => one.kind === 'input');
}

/** How the last turn ended; undefined while one is open or about to begin. */
export function lastEnd({ conversation }: RunFold): FactPayload<'agent.turn.end'> | undefined {
  return conversation.turn === undefined && conversation.inbox.length === 0
    ? conversation.turns.at(-1)?.end
    : undefined;
}

import { isoTime } from '../../base/clock.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { RunLimits } from '../../domain/run.ts';
import type { StatusKind } from '../../domain/status.ts';
import type { ConversationRow } from '../../kernel/log.ts';
import { kindOf, lastEnd, type RunState } from './state.ts';
import type { Cost, RunSummary, Snapshot } from './snapshot.ts';

/** Labels that are ours and not the caller's begin with this. */
export const OWN_LABEL = 'treadle.';

export interface SnapshotOptions {
  /** The name that an agent of a bundle has among all that are served. */
  readonly agentName: (row: ConversationRow) => string;
  readonly cost: Cost | undefined;
}

export function snapshotOf(state: RunState, { agentName, cost }: SnapshotOptions): Snapshot {
  const { row, fold, status, requests, waitingOn, version } = state;
  const { conversation } = fold;
  const first = (conversation.turns.at(0) ?? conversation.turn)?.inputs[0] ?? conversation.inbox[0];
  const prompt = first?.text ?? '';
  const kind = kindOf(state);
  const end = lastEnd(fold);
  const answer = kind === 'ended' ? conversation.turns.at(-1)?.output : undefined;
  return {
    id: row.id,
    agent: agentName(row),
    bundle: row.bundle,
    status,
    statusKind: kind,
    terminal: kind === 'ended',
    waitingOn: kind === 'working' ? [] : waitingOn,
    ...(end !== undefined && { stopReason: end.stop }),
    prompt,
    title: row.title === '' ? oneLine(prompt) : row.title,
    turns: conversation.turns.length + (conversation.turn === undefined ? 0 : 1),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
    lastProgressAt: isoTime(state.progressAt),
    version,
    usage: conversation.usage,
    ...(cost !== undefined && { cost }),
    limits: limitsOf(row, conversation),
    metadata: labelsOf(row),
    ...(row.parent !== undefined && { parent: row.parent }),
    children: state.below
      .filter((one) => one.parent?.id === row.id)
      .map((one) => ({
        id: one.id,
        agent: agentName(one),
        status: one.status,
        ...(one.parent !== undefined && { action: one.parent.action }),
      })),
    requests,
    ...(row.archivedAt !== undefined && { archivedAt: isoTime(row.archivedAt) }),
    ...(answer !== undefined && { answer }),
    ...(end?.error !== undefined && { error: end.error }),
  };
}

export function summaryOf(
  row: ConversationRow,
  agentName: (row: ConversationRow) => string,
  kind: StatusKind,
): RunSummary {
  return {
    id: row.id,
    agent: agentName(row),
    bundle: row.bundle,
    userId: row.userId,
    status: row.status,
    statusKind: kind,
    terminal: kind === 'ended',
    title: row.title,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
    metadata: labelsOf(row),
    ...(row.parent !== undefined && { parent: row.parent }),
    ...(row.archivedAt !== undefined && { archivedAt: isoTime(row.archivedAt) }),
  };
}

/** The log says it once a turn has begun; until then it is what the run was created with. */
function limitsOf({ limits = {} }: ConversationRow, { turn, turns, limits: stated }: Conversation): RunLimits {
  const isUnsaid = turn === undefined && turns.length === 0 && Object.keys(stated).length === 0;
  return isUnsaid ? limits : stated;
}

function labelsOf({ metadata = {} }: ConversationRow): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !name.startsWith(OWN_LABEL)));
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 80 ? line : `${line.slice(0, 79).toWellFormed()}…`;
}

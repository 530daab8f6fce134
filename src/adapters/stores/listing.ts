import type { ConversationRow, Log } from '../../kernel/ports.ts';

export type ListQuery = Parameters<Log['list']>[0];

/** Newest first; equal times by id, so that a page always has one place to go on from. */
export function compareRows(
  left: Pick<ConversationRow, 'updatedAt' | 'id'>,
  right: Pick<ConversationRow, 'updatedAt' | 'id'>,
): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  return left.id < right.id ? 1 : left.id > right.id ? -1 : 0;
}

export function isListed(row: ConversationRow, { before, userId, tenant, agent, status }: ListQuery): boolean {
  if (userId !== undefined && row.userId !== userId) return false;
  if (tenant !== undefined && row.tenant !== tenant) return false;
  if (agent !== undefined && row.agent !== agent) return false;
  if (status !== undefined && !status.includes(row.status)) return false;
  return before === undefined || compareRows(before, row) < 0;
}

import type { ConversationRow, ListQuery } from '../../kernel/log.ts';

/** Newest first; equal times by id, so that a page always has one place to go on from. */
export function compareRows(
  left: Pick<ConversationRow, 'updatedAt' | 'id'>,
  right: Pick<ConversationRow, 'updatedAt' | 'id'>,
): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  return left.id < right.id ? 1 : left.id > right.id ? -1 : 0;
}

/** The words of a title as they are compared. */
export function folded(text: string): string {
  return text.toLowerCase();
}

export function isListed(row: ConversationRow, query: ListQuery): boolean {
  const { before, userId, tenant, agent, status, q, archived, parent, root, top, bundles, label } = query;
  if (userId !== undefined && row.userId !== userId) return false;
  if (tenant !== undefined && row.tenant !== tenant) return false;
  if (agent !== undefined && row.agent !== agent) return false;
  if (parent !== undefined && row.parent?.id !== parent) return false;
  if (root !== undefined && row.root !== root) return false;
  if (top === true && row.parent !== undefined) return false;
  if (status !== undefined && !status.includes(row.status)) return false;
  if (bundles !== undefined && !bundles.includes(row.bundle)) return false;
  if (label !== undefined && row.metadata?.[label.name] !== label.value) return false;
  if (archived !== 'any' && (row.archivedAt !== undefined) !== (archived === 'only')) return false;
  if (q !== undefined && !folded(row.title).includes(folded(q))) return false;
  return before === undefined || compareRows(before, row) < 0;
}

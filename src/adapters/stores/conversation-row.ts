import type { Instant } from '../../base/clock.ts';
import { tryParseJson } from '../../base/json.ts';
import type { RunLimits } from '../../domain/run.ts';
import type { ConversationRow } from '../../kernel/log.ts';

// The casts below rest on the types and NOT NULL of the tables: the database itself refuses a column of another type.

export function conversationRow(columns: Readonly<Record<string, unknown>>): ConversationRow {
  const row = {
    id: columns['id'] as string,
    agent: columns['agent'] as string,
    bundle: columns['bundle'] as string,
    userId: columns['user_id'] as string,
    tenant: columns['tenant'] as string,
    agentPath: columns['agent_path'] as string,
    createdAt: columns['created_at'] as number,
    head: columns['head'] as number,
    status: columns['status'] as ConversationRow['status'],
    title: columns['title'] as string,
    updatedAt: columns['updated_at'] as number,
  };
  const parent = columns['parent'] as string | null;
  return {
    ...row,
    ...(parent !== null && { parent: { id: parent, action: columns['parent_action'] as string } }),
    ...(columns['root'] !== null && { root: columns['root'] as string }),
    ...(columns['metadata'] !== null && { metadata: ownJson(columns['metadata']) as Record<string, string> }),
    ...(columns['limits'] !== null && { limits: ownJson(columns['limits']) as RunLimits }),
    ...(columns['archived_at'] !== null && { archivedAt: columns['archived_at'] as number }),
  };
}

/** JSON that the store wrote of a value that its caller had checked. */
function ownJson(text: unknown): unknown {
  const parsed = tryParseJson(String(text));
  return parsed.ok ? parsed.value : undefined;
}

/** A time as the listing's index has it. */
export function minuteOf(at: Instant): number {
  return Math.floor(at / 60_000);
}

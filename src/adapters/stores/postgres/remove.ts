import type { Instant } from '../../../base/clock.ts';
import { busyConversation } from '../fact.ts';
import type { Database } from './database.ts';
import { now } from './sql.ts';
import { storedName } from './text.ts';

/** The conversation is gone, and so are the texts that nobody else has. False where there is none. */
export function removeConversation(database: Database, conversationId: string, at: Instant | null): Promise<boolean> {
  const { schema, place } = database.settings;
  const steps = removal(schema);
  return database.together(async (transaction) => {
    const [row] = await transaction.run<{ key: number; busy: boolean }>(steps.lock, [storedName(conversationId), at]);
    if (row === undefined) return false;
    if (row.busy) throw busyConversation(`${place}: conversation ${conversationId}`);
    const blobs = await transaction.run<{ hash: Buffer }>(steps.blobs, [row.key]);
    for (const step of [steps.facts, steps.grants, steps.row]) await transaction.run(step, [row.key]);
    if (blobs.length > 0) await transaction.run(steps.unused, [blobs.map(({ hash }) => hash)]);
    return true;
  });
}

/** Removing, one statement after another in one transaction. */
const removal = (s: string) => ({
  lock: `SELECT key, owner IS NOT NULL AND until > ${now('$2')} AS busy
    FROM ${s}.conversations WHERE id = $1 FOR UPDATE`,
  blobs: `SELECT hash FROM ${s}.blobs WHERE hash IN (
      SELECT blob FROM ${s}.facts WHERE conversation = $1 AND blob IS NOT NULL
      UNION SELECT hash FROM ${s}.conversation_blobs WHERE conversation = $1
    ) ORDER BY hash FOR UPDATE`,
  facts: `DELETE FROM ${s}.facts WHERE conversation = $1`,
  grants: `DELETE FROM ${s}.conversation_blobs WHERE conversation = $1`,
  row: `DELETE FROM ${s}.conversations WHERE key = $1`,
  // Whoever takes one of them into use waits for our lock, or had it before us and is seen by this statement.
  unused: `DELETE FROM ${s}.blobs b WHERE hash = ANY ($1::bytea[])
    AND NOT EXISTS (SELECT 1 FROM ${s}.facts f WHERE f.blob = b.hash)
    AND NOT EXISTS (SELECT 1 FROM ${s}.conversation_blobs g WHERE g.hash = b.hash)`,
});

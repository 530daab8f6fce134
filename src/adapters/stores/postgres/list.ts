import type { ListQuery } from '../../../kernel/log.ts';
import { minuteOf } from '../conversation-row.ts';
import { folded } from '../listing.ts';
import type { Value } from './database.ts';
import { listing } from './sql.ts';
import { storedName, storedNames } from './text.ts';

/** The statement of a listing. It has no name: there are as many of them as ways to narrow. */
export function listStatement(schema: string, query: ListQuery): { readonly text: string; readonly values: Value[] } {
  const { limit, before, userId, tenant, agent, status, q, archived, parent, root, top, bundles, label } = query;
  const values: Value[] = [];
  const value = (one: Value): string => `$${values.push(one)}`;
  const conditions = ['true'];
  if (before !== undefined) {
    conditions.push(`minute <= ${value(minuteOf(before.updatedAt))}`);
    conditions.push(`(updated_at, id) < (${value(before.updatedAt)}, ${value(storedName(before.id))})`);
  }
  if (userId !== undefined) conditions.push(`user_id = ${value(storedName(userId))}`);
  if (tenant !== undefined) conditions.push(`tenant = ${value(storedName(tenant))}`);
  if (agent !== undefined) conditions.push(`agent = ${value(storedName(agent))}`);
  if (parent !== undefined) conditions.push(`parent = ${value(storedName(parent))}`);
  if (root !== undefined) conditions.push(`root = ${value(storedName(root))}`);
  if (top === true) conditions.push('parent IS NULL');
  if (status !== undefined) conditions.push(`status = ANY (${value(status)}::text[])`);
  if (bundles !== undefined) conditions.push(`bundle = ANY (${value(storedNames(bundles))}::text[])`);
  if (label !== undefined) {
    // As JSON writes a pair, behind what stands before one. No text inside of another can look like that.
    const pair = `${JSON.stringify(label.name)}:${JSON.stringify(label.value)}`;
    const pairs = [`{${pair}`, `,${pair}`].map((one) => `strpos(metadata, ${value(one)}) > 0`);
    conditions.push(`(${pairs.join(' OR ')})`);
  }
  if (archived !== 'any') conditions.push(`archived_at IS ${archived === 'only' ? 'NOT ' : ''}NULL`);
  if (q !== undefined) conditions.push(`strpos(folded_title, ${value(storedName(folded(q)))}) > 0`);
  return { text: listing(schema, conditions, value(Math.max(0, limit))), values };
}

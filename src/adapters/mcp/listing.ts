import { z } from 'zod';
import { isObject } from '../../base/json.ts';
import { readTool, type RefusedTool, type RemoteTool } from './remote-tool.ts';

/** What a server offers, as far as it can be used. */
export interface ListedTools {
  /** In the order of their names, whatever the order of the server. */
  readonly tools: readonly RemoteTool[];
  /** What it offers and nobody gets, with the reason. */
  readonly refused: readonly RefusedTool[];
  /** What is odd about the list, in sentences for the operator. */
  readonly oddities: readonly string[];
}

const MOST_PAGES = 64;
const MOST_TOOLS = 1_000;

/** Only what paging needs: one tool that is malformed must not cost the others. */
export const toolsPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
export type ToolsPage = z.infer<typeof toolsPage>;

/**
 * Follow the pages of a list of tools.
 *
 * Ends at a cursor that came before, at 64 pages and at 1,000 tools, and says so. Of two tools of one name the first counts.
 */
export async function listTools(
  server: string,
  page: (cursor: string | undefined) => Promise<ToolsPage>,
): Promise<ListedTools> {
  const tools = new Map<string, RemoteTool>();
  const refused = new Map<string, RefusedTool>();
  const oddities: string[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; ; pages++) {
    if (pages === MOST_PAGES) {
      oddities.push(`its list has more than ${MOST_PAGES} pages; the rest is left out`);
      break;
    }
    const { tools: raw, nextCursor } = await page(cursor);
    for (const one of raw) {
      const read = readTool(one, server);
      if (!read.ok) refused.set(read.refused.name, read.refused);
      else if (tools.has(read.tool.own)) {
        if (cursors.size === 0) oddities.push(`it lists ${JSON.stringify(read.tool.own)} twice; the first counts`);
      } else tools.set(read.tool.own, read.tool);
    }
    if (tools.size > MOST_TOOLS) {
      oddities.push(`it lists more than ${MOST_TOOLS} tools; the rest is left out`);
      break;
    }
    if (nextCursor === undefined || nextCursor === '') break;
    if (cursors.has(nextCursor)) {
      oddities.push('its list comes to a page that was read before; the list ends there');
      break;
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  const kept = [...tools.values()].slice(0, MOST_TOOLS);
  return {
    tools: kept.sort((left, right) => (left.own < right.own ? -1 : 1)),
    refused: [...refused.values()].sort((left, right) => (left.name < right.name ? -1 : 1)),
    oddities,
  };
}

/** The names of a change, from one list to the next. */
export interface ListDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Described otherwise than before: another description, schema or effect. */
  readonly changed: readonly string[];
}

export function listDiff(before: ListedTools, after: ListedTools): ListDiff {
  const old = new Map(before.tools.map((tool) => [tool.own, tool.digest]));
  const now = new Map(after.tools.map((tool) => [tool.own, tool.digest]));
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    changed: [...now].filter(([name, digest]) => old.has(name) && old.get(name) !== digest).map(([name]) => name),
  };
}

export function isEmptyDiff({ added, removed, changed }: ListDiff): boolean {
  return added.length + removed.length + changed.length === 0;
}

/** True for an answer that says that there is nothing of the kind, such as a server without tools. */
export function isMethodNotFound(error: unknown): boolean {
  return isObject(error) && error['code'] === -32_601;
}

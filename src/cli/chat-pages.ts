import { systemClock } from '../base/clock.ts';
import { entriesOf, emptyTimeline, project } from '../domain/timeline.ts';
import type { ConversationRow, ListQuery } from '../kernel/log.ts';
import type { Conversations } from '../platform/conversations.ts';
import { rowKindOf } from '../platform/runs/state.ts';
import { CHAT_COMMANDS } from './chat-commands.ts';
import { findRun } from './open.ts';
import { runTable } from './run-table.ts';
import { story } from './story.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './text.ts';

type Look = Pick<Terminal, 'colors' | 'columns'>;

const REMARK =
  'What you type while the agent works is read before its next step. A line that ends in \\ goes on in the next one; a ' +
  'paste of several lines is one message.';

export function helpPage({ colors, columns }: Look): string[] {
  const rows = Object.entries(CHAT_COMMANDS).flatMap(([name, about]) => {
    const [first = '', ...rest] = wrap(about, { columns: columns(), first: ' '.repeat(11) });
    return [`  ${colors.cyan(name.padEnd(9))}${first.slice(11)}`, ...rest];
  });
  return [...rows, '', ...wrap(REMARK, { columns: columns(), first: '  ' }).map(colors.dim)];
}

/** The newest runs. */
export async function runsPage(
  conversations: Pick<Conversations, 'list'>,
  { colors, columns }: Look,
): Promise<string[]> {
  const rows = await conversations.list({ limit: 10, top: true });
  if (rows.length === 0) return [colors.dim('  No runs yet.')];
  const below = { list: (query: ListQuery) => conversations.list(query) };
  const told = await Promise.all(rows.map(async (row) => ({ ...row, statusKind: await rowKindOf(below, row) })));
  return runTable(told, { colors, columns: columns() - 2, now: systemClock.now() }).map((line) => `  ${line}`);
}

export async function storyPage(conversations: Conversations, named: string, look: Look): Promise<string[]> {
  const row = await findIn(conversations, named);
  let timeline = emptyTimeline;
  for await (const fact of conversations.facts(row.id)) timeline = project(timeline, fact);
  return story(row, entriesOf(timeline), { colors: look.colors, columns: look.columns() });
}

/** The run that an id, its beginning or `last` stands for. */
export function findIn(conversations: Conversations, named: string): Promise<ConversationRow> {
  return findRun(
    { find: (id) => conversations.find(id).catch(() => undefined), list: (query) => conversations.list(query) },
    named,
  );
}

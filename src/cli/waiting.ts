import { commandName } from './command-name.ts';
import { openRequests, type Conversation } from '../domain/conversation.ts';
import { questionLines, questionOf } from './approval.ts';
import { shortId } from './open.ts';
import type { Colors } from './terminal.ts';
import { harmless } from './text.ts';

/** What a run waits for, and the commands that go on. */
export function waitingLines(
  conversation: Conversation,
  {
    data,
    colors,
    columns,
  }: { readonly data: string | undefined; readonly colors: Colors; readonly columns: () => number },
): string[] {
  const { turn, id } = conversation;
  if (turn === undefined) return [];
  const requests = openRequests(turn);
  const command = `${commandName()} resume ${shortId(id)}${data === undefined ? '' : ` --data ${quoted(data)}`}`;
  const lines = [`Run ${id} waits for a person:`, ''];
  for (const request of requests) lines.push(...questionLines(questionOf(request, turn), { colors, columns }), '');
  lines.push('Go on with');
  for (const { request, kind, choices } of requests) {
    if (kind === 'input')
      lines.push(`  ${command} --reply ${request} ${quoted(harmless(choices?.[0] ?? 'your answer'))}`);
    else lines.push(`  ${command} --allow ${request}`, `  ${command} --reject ${request} --note "why not"`);
  }
  return lines;
}

export function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

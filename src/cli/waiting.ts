import { commandName } from './command-name.ts';
import { openRequests, type Conversation } from '../domain/conversation.ts';
import { questionLines, questionOf } from './approval.ts';
import { shortId } from './open.ts';
import type { Colors } from './terminal.ts';
import { harmless } from './text.ts';

interface WaitingOptions {
  readonly data: string | undefined;
  /** The log is not kept. */
  readonly memory?: boolean | undefined;
  readonly colors: Colors;
  readonly columns: () => number;
}

/** What a run waits for, and the commands that go on. `asking`: it, and the runs below it, as far as they ask a person. */
export function waitingLines(
  { id }: Conversation,
  asking: readonly Conversation[],
  options: WaitingOptions,
): readonly string[] {
  if (options.memory === true && asking.length === 0) return [`Run ${id} waits for work outside. ${FORGOTTEN}`];
  if (asking.length > 0) return asking.flatMap((one) => askingLines(one, options));
  return [`Run ${id} waits for work outside. Once that has ended, go on with`, `  ${resume(id, options)}`];
}

function askingLines({ turn, id }: Conversation, options: WaitingOptions): readonly string[] {
  if (turn === undefined) return [];
  const requests = openRequests(turn);
  const command = resume(id, options);
  const lines = [`Run ${id} waits for a person:`, ''];
  for (const request of requests) lines.push(...questionLines(questionOf(request, turn), options), '');
  if (options.memory === true) return [...lines, FORGOTTEN];
  lines.push('Go on with');
  for (const { request, kind, choices } of requests) {
    if (kind === 'input')
      lines.push(`  ${command} --reply ${request} ${quoted(harmless(choices?.[0] ?? 'your answer'))}`);
    else lines.push(`  ${command} --allow ${request}`, `  ${command} --reject ${request} --note "why not"`);
  }
  return lines;
}

const FORGOTTEN = 'Its log is not kept (--memory), so nobody can go on with it later.';

function resume(id: string, { data }: WaitingOptions): string {
  return `${commandName()} resume ${shortId(id)}${data === undefined ? '' : ` --data ${quoted(data)}`}`;
}

export function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

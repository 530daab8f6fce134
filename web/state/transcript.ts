import type { Json, Snapshot, WireEntry } from '../api/types.ts';
import { dataOf, turnsOf } from './entries.ts';

type Head = Pick<Snapshot, 'id' | 'title' | 'agent' | 'createdAt'>;

/** A conversation as Markdown, for people: what was said, what was done, what came of it. */
export function asMarkdown({ title, agent, createdAt }: Head, entries: readonly WireEntry[]): string {
  const lines = [`# ${title === '' ? 'Untitled' : title}`, '', `${agent}, ${createdAt}`];
  for (const { said, work, answer, end } of turnsOf(entries)) {
    for (const entry of said) lines.push('', '## You', '', entry.text);
    const done = work.flatMap((entry) => workInWords(entry));
    if (done.length > 0) lines.push('', ...done);
    if (answer !== undefined) lines.push('', '## Agent', '', answer.text);
    const ended = end === undefined ? undefined : dataOf(end, 'end');
    if (ended !== undefined && ended.status !== 'completed')
      lines.push(
        '',
        `*${ended.status.replaceAll('_', ' ')}${ended.error === undefined ? '' : `: ${ended.error.message}`}*`,
      );
  }
  return `${lines.join('\n')}\n`;
}

function workInWords(entry: WireEntry): readonly string[] {
  const action = dataOf(entry, 'action');
  if (action !== undefined) {
    const { name, arguments: given, observation } = action;
    return [
      `- \`${name}\` ${JSON.stringify(given)}: ${observation === undefined ? action.state : observation.outcome}`,
      ...(observation?.error === undefined ? [] : [`  ${observation.error.message}`]),
    ];
  }
  const plan = dataOf(entry, 'plan');
  if (plan !== undefined) return ['Plan:', '', ...plan.steps.map((step, index) => `${index + 1}. ${step.title}`)];
  if (entry.role === 'user') return [`> ${entry.text.replaceAll('\n', '\n> ')}`];
  return entry.role === 'assistant' ? [entry.text] : [];
}

/** The same for programs: the run and its entries as the server tells them. */
export function asJson(run: Snapshot, entries: readonly WireEntry[]): string {
  const { requests: _open, ...rest } = run;
  return `${JSON.stringify({ run: rest satisfies Json, entries }, null, 2)}\n`;
}

/** A name for the file: the title, as file systems take it. */
export function fileName({ title, id }: Head, extension: string): string {
  const name = title
    .normalize('NFKD')
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${name === '' ? id : name.toLowerCase()}.${extension}`;
}

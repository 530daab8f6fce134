import { isoTime, type Instant } from '../base/clock.ts';
import { unreachable } from '../base/assert.ts';
import { toJson, type Json } from '../base/json.ts';
import type { Asked, Entry, EntryOf } from '../domain/entry.ts';
import type { Part } from '../domain/content.ts';
import type { Observation } from '../domain/tool.ts';
import { inputTokens, outputTokens } from '../domain/usage-sum.ts';

export const TRANSCRIPT_FORMATS = ['md', 'jsonl'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** What is told of the run itself. */
export interface TranscriptOf {
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly status: string;
  readonly createdAt: Instant;
}

/** A run for people, or for programs: piece by piece, each as soon as it is asked for. */
export function* transcriptOf(
  about: TranscriptOf,
  entries: Iterable<Entry>,
  format: TranscriptFormat,
): Generator<string, void> {
  if (format === 'jsonl') {
    for (const entry of entries) yield `${JSON.stringify(toJson({ ...entry, at: isoTime(entry.at) }))}\n`;
    return;
  }
  const { id, agent, title, status, createdAt } = about;
  yield `# ${inline(title === '' ? id : title)}\n\n${inline(agent)} · ${inline(status)} · ${isoTime(createdAt)} · \`${id}\`\n`;
  let turn: number | undefined;
  for (const entry of entries) {
    if (entry.turn !== undefined && entry.turn !== turn) {
      ({ turn } = entry);
      yield `\n## Turn ${turn}\n`;
    }
    const text = told(entry);
    if (text !== '') yield `\n${text}\n`;
  }
}

function told(entry: Entry): string {
  switch (entry.role) {
    case 'user': {
      const mode = entry.data.mode === 'message' ? '' : `, ${entry.data.mode}`;
      return `**${inline(entry.data.by ?? 'User')}**${mode} · ${timeOf(entry)}\n\n${quoted(entry.text)}`;
    }
    case 'assistant':
      return `**Agent**${entry.data.cut === true ? ', interrupted' : entry.data.final ? '' : ', on the way'}\n\n${quoted(entry.text)}`;
    case 'thinking':
      return `**Thinking**\n\n${quoted(entry.text)}`;
    case 'call':
      return callText(entry);
    case 'action':
      return actionText(entry);
    case 'plan': {
      const steps = entry.data.steps.map(({ title, detail, status, note }, index) => {
        const state = status === undefined ? '' : ` _${status}${note === undefined ? '' : `: ${inline(note)}`}_`;
        return `${index + 1}. ${inline(detail === undefined ? title : `${title}: ${detail}`)}${state}`;
      });
      return [
        `**Plan** by ${inline(entry.data.source)}: ${inline(entry.text)}`,
        steps.join('\n'),
        ...entry.data.requests.map(askedText),
      ].join('\n\n');
    }
    case 'notice':
      return [`_${inline(entry.text)}_`, ...(entry.data.requests ?? []).map(askedText)].join('\n\n');
    case 'end': {
      const { status, iterations, usage, error } = entry.data;
      const why = error === undefined ? '' : `: ${inline(error.message)} (\`${error.code}\`)`;
      return `**${inline(status)}**${why} · ${iterations} model calls · ${tokens(usage)}`;
    }
    default:
      return unreachable(entry);
  }
}

function callText({ data: { iteration, purpose, attempts, usage } }: EntryOf<'call'>): string {
  const last = attempts.at(-1);
  const failures = attempts.flatMap(({ failure }) => (failure === undefined ? [] : [inline(failure.message)]));
  const what = `Model call ${iteration}${purpose === undefined ? '' : ` (${purpose})`}`;
  const model = last === undefined ? '' : `: ${inline(`${last.provider}/${last.model}`)}`;
  const failed = failures.length === 0 ? '' : ` · failed before: ${failures.join('; ')}`;
  return `_${what}${model} · ${tokens(usage)}${failed}_`;
}

function actionText({ id, data }: EntryOf<'action'>): string {
  const { name, arguments: given, askedFor, revisedBy, state, observation, requests, verdicts, ms } = data;
  const outcome = observation === undefined ? state : observation.outcome;
  const took = ms === undefined ? '' : ` · ${ms} ms`;
  const parts = [
    `**Action** \`${name}\` · ${outcome}${took} · \`${id}\``,
    fenced(JSON.stringify(given, null, 2), 'json'),
  ];
  if (askedFor !== undefined)
    parts.push(
      `Asked for otherwise, and changed by ${inline(revisedBy ?? 'somebody')}:`,
      fenced(JSON.stringify(askedFor, null, 2), 'json'),
    );
  for (const { gate, verdict, reason } of verdicts)
    parts.push(`_${inline(gate)}: ${verdict}${reason === undefined ? '' : `, ${inline(reason)}`}_`);
  parts.push(...requests.map(askedText));
  if (observation !== undefined) parts.push(...observed(observation));
  return parts.join('\n\n');
}

function askedText({ question, at, answer, answeredAt, cancelled }: Asked): string {
  const asked = `Asked ${isoTime(at)}:\n\n${quoted(question)}`;
  if (answer !== undefined) {
    const { decision, by, note, text } = answer;
    const when = answeredAt === undefined ? '' : ` ${isoTime(answeredAt)}`;
    const said = [text, note].filter((one) => one !== undefined).map(quoted);
    return [asked, `**${decision}** by ${inline(by)}${when}`, ...said].join('\n\n');
  }
  return `${asked}\n\n${cancelled === undefined ? 'No answer yet.' : `Taken back: ${inline(cancelled)}.`}`;
}

function observed({ value, content, error, ref }: Observation): string[] {
  const parts: string[] = [];
  if (error !== undefined) parts.push(`${inline(error.message)} (\`${error.code}\`)`);
  if (value !== undefined) parts.push(valueText(value));
  for (const part of content ?? []) parts.push(partText(part));
  if (ref !== undefined) parts.push(`_Cut to size; the whole is \`${ref}\` in the log._`);
  return parts;
}

function valueText(value: Json): string {
  return typeof value === 'string' ? fenced(value, '') : fenced(JSON.stringify(value, null, 2), 'json');
}

function partText(part: Part): string {
  return part.type === 'text' ? fenced(part.text, '') : `_A file: ${inline(part.mediaType)}_`;
}

function tokens(usage: EntryOf<'call'>['data']['usage']): string {
  return `${inputTokens(usage)} tokens in, ${outputTokens(usage)} out`;
}

function timeOf({ at }: Entry): string {
  return isoTime(at);
}

/** Code that no line of its own ends: the fence is longer than any in it. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${visible(text)}\n${fence}`;
}

/** What a person or a model said, with its own Markdown, in a quotation that it cannot leave, and without what loads or runs. */
function quoted(text: string): string {
  return harmless(visible(text))
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** Text on one line, in which nothing is Markdown. */
function inline(text: string): string {
  return harmless(visible(text))
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_[\]#|~]/g, '\\$&');
}

/** No HTML, no picture that is fetched when it is looked at, no link but to the web or a mailbox. */
function harmless(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('![', '!\\[')
    .replace(/\]\((?!\s*(?:https?:|mailto:))/gi, ']\\(')
    .replace(/^(\s*\[[^\]]*\]):/gm, '$1\\:');
}

/** Control characters, and marks that turn the direction of what follows, as what they are. */
function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
      return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
    });
}

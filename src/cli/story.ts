import { isoTime } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import type { ActionData, Asked, CallAttempt, Entry, EntryOf } from '../domain/entry.ts';
import type { FactPayload } from '../domain/event.ts';
import { inputTokens, outputTokens } from '../domain/usage-sum.ts';
import type { ConversationRow } from '../kernel/log.ts';
import { inWords, OUTCOME_MARKS, resultInWords } from './action-card.ts';
import { partLines } from './part-lines.ts';
import { planLines } from './plan-lines.ts';
import { prose } from './prose.ts';
import type { Colors } from './terminal.ts';
import { duration, harmless, oneLine, who, widthOf, wrap } from './text.ts';
import { endInWords, endLine } from './turn-end.ts';

/** Lines of a diff or of a program's words. */
const MOST_LINES = 200;

export interface StoryOptions {
  readonly colors: Colors;
  readonly columns: number;
}

/** What is told of the run itself. */
export type StoryOf = Pick<ConversationRow, 'id' | 'agent' | 'bundle' | 'status' | 'createdAt'>;

/** A run from its first word to its last, for reading: who said what, what was done, who allowed it, what it cost. */
export function story(row: StoryOf, entries: readonly Entry[], options: StoryOptions): string[] {
  const lines = storyHead(row, options);
  if (entries.length === 0) return [...lines, '', '  Nothing was said yet.'];
  for (const entry of entries) {
    const told = tellEntry(entry, entries, options);
    // Parts of one model call stand together.
    const isLoose = entry.role !== 'thinking' && entry.role !== 'action' && entry.role !== 'notice';
    if (isLoose) lines.push('');
    lines.push(...told);
  }
  return lines;
}

export function storyHead(
  { id, agent, bundle, status, createdAt }: StoryOf,
  { colors, columns }: StoryOptions,
): string[] {
  const about = `${agent} · ${status} · ${isoTime(createdAt).slice(0, 16).replace('T', ' ')} UTC`;
  return [
    colors.bold(id),
    ...wrap(harmless(about), { columns }),
    ...wrap(harmless(bundle), { columns }).map((line) => colors.dim(line)),
  ];
}

/** One entry, as lines. */
export function tellEntry(entry: Entry, entries: readonly Entry[], options: StoryOptions): string[] {
  const { colors, columns } = options;
  const body = (text: string, dim = false): string[] =>
    wrap(harmless(text), { columns, first: '  ' }).map((line) => (dim ? colors.dim(line) : line));
  switch (entry.role) {
    case 'user': {
      const mode = entry.data.mode === 'message' ? '' : `, ${entry.data.mode}`;
      return [heading(`› ${who(entry.data.by ?? 'local')}${mode}`, clock(entry.at), options), ...body(entry.text)];
    }
    case 'assistant':
      return [
        ...prose(entry.text, { columns, indent: '  ', colors }).split('\n'),
        ...(entry.data.cut === true ? body('… interrupted', true) : []),
      ];
    case 'thinking':
      return wrap(harmless(entry.text), { columns, first: '  ∴ ', rest: '    ' }).map((line) => colors.dim(line));
    case 'call':
      return call(entry, options);
    case 'action':
      return action(entry.data, options);
    case 'plan':
      return [
        heading(`plan by ${entry.data.source}`, clock(entry.at), options),
        ...body(entry.text),
        ...planLines(entry.data.steps, colors, columns),
        ...entry.data.requests.flatMap((one) => asked(one, options)),
      ];
    case 'notice':
      return [
        ...wrap(harmless(entry.text + (entry.data.by === undefined ? '' : ` (${who(entry.data.by)})`)), {
          columns,
          first: '  ! ',
          rest: '    ',
        }).map((line) => colors.yellow(line)),
        ...(entry.data.requests ?? []).flatMap((one) => asked(one, options)),
      ];
    case 'end': {
      const { data } = entry;
      const paint = data.status === 'completed' ? colors.green : colors.red;
      const trouble = endInWords(data, 'command');
      return [
        ...(trouble === undefined ? [] : body(trouble).map(colors.red)),
        ...wrap(`${data.status} · ${endLine(entry, entries)}`, { columns, first: '■ ', rest: '  ' }).map(
          (line, index) => (index === 0 ? paint('■') + colors.dim(line.slice(1)) : colors.dim(line)),
        ),
      ];
    }
  }
}

/** A bold line with something dim at its right end. */
function heading(left: string, right: string, { colors, columns }: StoryOptions): string {
  const shown = oneLine(left, Math.max(1, columns - widthOf(right) - 2));
  const gap = ' '.repeat(Math.max(2, columns - widthOf(shown) - widthOf(right)));
  return `${colors.bold(shown)}${gap}${colors.dim(right)}`;
}

/** The time of day in UTC, like everything that the log says. */
function clock(at: number): string {
  return isoTime(at).slice(11, 19);
}

function call({ data }: EntryOf<'call'>, options: StoryOptions): string[] {
  const { colors, columns } = options;
  const last = data.attempts.at(-1);
  const name = data.served ?? last?.model ?? '';
  const purpose = data.purpose === undefined ? `${data.iteration}` : data.purpose.replace('_', ' ');
  const read = inputTokens(data.usage);
  const cached =
    data.usage.cacheRead === undefined || data.usage.cacheRead === 0
      ? ''
      : `, ${data.usage.cacheRead.toLocaleString('en-US')} cached`;
  const cost =
    read === 0
      ? []
      : [`${read.toLocaleString('en-US')} in${cached}, ${outputTokens(data.usage).toLocaleString('en-US')} out`];
  const time = last?.ms === undefined ? [data.state === 'open' ? 'no answer on record' : ''] : [duration(last.ms)];
  const trouble = data.attempts.filter((one) => one.failure !== undefined).flatMap((one) => failed(one, columns));
  return [
    heading(
      `${purpose} · ${last?.provider ?? ''} ${name}`,
      [...cost, ...time].filter((one) => one !== '').join(' · '),
      options,
    ),
    ...trouble.map((line) => colors.yellow(line)),
  ];
}

function failed({ provider, model, failure, ms }: CallAttempt, columns: number): string[] {
  const after = ms === undefined ? '' : ` after ${duration(ms)}`;
  const text =
    failure?.class === 'aborted'
      ? `interrupted${after}`
      : `${provider} ${model} failed${after}: ${failure?.message ?? ''} (${failure?.class ?? ''})`;
  return wrap(harmless(text), { columns, first: '  ! ', rest: '    ' });
}

function action(data: ActionData, options: StoryOptions): string[] {
  const { colors, columns } = options;
  const { name, observation, ms, askedFor, revisedBy, verdicts, requests } = data;
  const mark = observation === undefined ? '·' : OUTCOME_MARKS[observation.outcome];
  const isFine = observation?.outcome === 'ok';
  const time = ms === undefined ? '' : duration(ms);
  const painted = isFine ? colors.green(mark) : observation === undefined ? mark : colors.red(mark);
  const lines = [`  ${painted} ${heading(name, time, { ...options, columns: columns - 4 })}`.trimEnd()];
  lines.push(
    ...(askedFor === undefined
      ? written(data.arguments, options)
      : [
          ...note(`asked for ${inWords(askedFor)}`, options),
          ...note(`changed by ${who(revisedBy ?? 'a gate')}`, options),
          ...written(data.arguments, options),
        ]),
  );
  for (const verdict of verdicts) lines.push(...note(judged(verdict), options));
  for (const request of requests) lines.push(...asked(request, options));
  if (data.allowedBy !== undefined) lines.push(...note(`allowed before: ${data.allowedBy.join(', ')}`, options));
  const result =
    observation === undefined
      ? data.state === 'waiting'
        ? 'waits for a person'
        : 'no result on record'
      : resultInWords(observation);
  const told = wrap(harmless(result), { columns, first: '    → ', rest: '      ' });
  lines.push(...(isFine || observation === undefined ? told : told.map((line) => colors.red(line))));
  for (const one of data.inner ?? []) {
    const inner = `${one.outcome === undefined ? '·' : OUTCOME_MARKS[one.outcome]} ${one.name} ${inWords(one.arguments)}`;
    lines.push(`      ${oneLine(inner, columns - 6)}`);
  }
  const shown = partLines(observation?.content ?? [], { colors, columns: columns - 6, most: MOST_LINES });
  return [...lines, ...shown.map((line) => `      ${line}`)];
}

/** Arguments on one line where they fit, else one a line. */
function written(value: Json, { columns }: StoryOptions): string[] {
  const line = harmless(inWords(value));
  if (line === '') return [];
  if (widthOf(line) <= columns - 4 && !line.includes('\n')) return [`    ${line}`];
  return JSON.stringify(value, null, 2)
    .split('\n')
    .flatMap((one) => wrap(harmless(one), { columns, first: '    ', rest: '      ' }));
}

function judged({ gate, verdict, reason }: FactPayload<'gate.verdict'>): string {
  const did = { deny: 'refused', hold: 'held', revise: 'changed' }[verdict];
  return `${did} by ${gate}${reason === undefined ? '' : `: ${reason}`}`;
}

function asked({ kind, question, at, answer, answeredAt, cancelled }: Asked, options: StoryOptions): string[] {
  const lines = kind === 'input' ? note(`asked: ${question}`, options) : [];
  if (cancelled !== undefined) return [...lines, ...note(`taken back: ${cancelled}`, options)];
  if (answer === undefined) return [...lines, ...note('waits for an answer', options)];
  const after = answeredAt === undefined ? '' : ` after ${duration(Math.max(0, answeredAt - at))}`;
  const words = answer.text ?? answer.note;
  const said = words === undefined ? '' : `: ${words}`;
  const reach = answer.allow === undefined ? '' : REACH[answer.allow];
  return [...lines, ...note(`${DECIDED[answer.decision]}${reach} by ${who(answer.by)}${after}${said}`, options)];
}

const DECIDED = {
  allow: 'allowed',
  reject: 'rejected',
  edit: 'allowed with other arguments',
  reply: 'answered',
} as const;

const REACH = { once: '', conversation: ' in this conversation', always: ' always' } as const;

function note(text: string, { colors, columns }: StoryOptions): string[] {
  return wrap(harmless(text), { columns, first: '    ', rest: '      ' }).map((line) => colors.dim(line));
}

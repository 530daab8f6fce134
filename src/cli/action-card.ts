import { canonicalJson, isObject, type Json } from '../base/json.ts';
import { plainText } from '../domain/plain-text.ts';
import type { ActionData } from '../domain/entry.ts';
import type { Observation, Outcome } from '../domain/tool.ts';
import type { Colors } from './terminal.ts';
import { isShownAsLines, partLines } from './part-lines.ts';
import { duration, oneLine, who, widthOf } from './text.ts';

export const OUTCOME_MARKS: { readonly [O in Outcome]: string } = {
  ok: '✓',
  failed: '✗',
  invalid: '✗',
  refused: '⊘',
  cancelled: '⊘',
  unknown: '?',
};

/** Lines of a diff or of a program's words on a card. */
const MOST_LINES = 30;

/**
 * What happened to one action: a line with its name and arguments, one with what came of it, and what in that is more than
 * words, such as a diff.
 */
export function actionCard(
  { name, arguments: given, observation, ms, revisedBy, inner = [] }: ActionData,
  colors: Colors,
  columns: number,
): string[] {
  const mark = observation === undefined ? '·' : OUTCOME_MARKS[observation.outcome];
  const painted =
    observation?.outcome === 'ok' ? colors.green(mark) : observation === undefined ? mark : colors.red(mark);
  const time = ms === undefined ? '' : duration(ms);
  const head = `  ${mark} ${name}  `;
  const room = Math.max(10, columns - widthOf(head));
  const by = revisedBy === undefined ? '' : `, changed by ${who(revisedBy)}`;
  const lines = [`  ${painted} ${colors.bold(name)}  ${colors.dim(oneLine(inWords(given) + by, room))}`];
  if (observation === undefined) return lines;
  const result = oneLine(resultInWords(observation), Math.max(10, columns - 6 - widthOf(time) - 2));
  lines.push(
    `    ${colors.dim('→')} ${observation.outcome === 'ok' ? result : colors.red(result)}  ${colors.dim(time)}`.trimEnd(),
  );
  for (const one of inner) {
    const called = `${one.outcome === undefined ? '·' : OUTCOME_MARKS[one.outcome]} ${one.name}  ${inWords(one.arguments)}`;
    lines.push(colors.dim(`      ${oneLine(called, Math.max(10, columns - 6))}`));
  }
  const shown = partLines(observation.content ?? [], { colors, columns: Math.max(10, columns - 6), most: MOST_LINES });
  return [...lines, ...shown.map((line) => `      ${line}`)];
}

/** JSON as people write it down: `amount 8000, to "Bo"`, without the outermost braces. */
export function inWords(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (!isObject(value)) return typeof value === 'string' ? value : canonicalJson(value); // a JSON value, as it came in
  return Object.entries(value)
    .map(([key, item]) => `${key} ${JSON.stringify(item)}`)
    .join(', ');
}

export function resultInWords({ outcome, value, content, error, size }: Observation): string {
  if (error !== undefined) return `${WORDS[outcome]}: ${error.message}`;
  const words = (content ?? []).filter((part) => !isShownAsLines(part));
  const said = [inWords(value), plainText(words)].filter((one) => one !== '').join(' ');
  const cut = size === undefined ? '' : ` (${size} bytes in all)`;
  return (said === '' ? 'done' : said) + cut;
}

const WORDS: { readonly [O in Outcome]: string } = {
  ok: 'ok',
  failed: 'failed',
  invalid: 'not run, its arguments do not fit',
  refused: 'refused',
  cancelled: 'not run',
  unknown: 'nobody knows whether it happened',
};

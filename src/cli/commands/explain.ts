import { existsSync } from 'node:fs';
import { TreadleError } from '../../base/errors.ts';
import type { Explained } from '../../platform/bundle/explain.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { loadForReading } from '../load-bundle.ts';
import { FIRST_BUNDLE } from '../open.ts';
import type { Colors } from '../terminal.ts';
import { harmless, wrap } from '../text.ts';

export interface ExplainOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

/** Prints every setting of an agent with the place that it comes from. Nothing is run. */
export async function explain(
  { terminal, environment }: Context,
  words: readonly string[],
  options: ExplainOptions,
): Promise<Outcome> {
  const { file, name } = namedBy(words, options.agent);
  const bundle = await loadForReading(file, environment);
  try {
    const agent = bundle.agentNamed(name);
    await bundle.agentNow(agent);
    const rows = bundle.explain(agent);
    if (options.json === true) {
      terminal.out.write(
        `${JSON.stringify({ bundle: bundle.id, revision: bundle.revision, agent, settings: rows })}\n`,
      );
      return 'completed';
    }
    const set = rows.filter(({ from }) => !from.startsWith('default'));
    const rest = rows.filter(({ from }) => from.startsWith('default'));
    const look = { colors: terminal.colors, columns: terminal.columns() };
    const lines = [
      `${look.colors.bold(agent)} of ${bundle.id}  ${look.colors.dim(bundle.revision.slice(0, 12))}`,
      ...set.flatMap((row) => settingLines(row, look)),
      ...(rest.length === 0 ? [] : ['', look.colors.dim('By default')]),
      ...rest.flatMap((row) => defaultLines(row, look)),
    ];
    terminal.out.write(lines.map((line) => `${line}\n`).join(''));
    return 'completed';
  } finally {
    await bundle.close();
  }
}

/** The bundle and the agent, in either order: a file is told by being there. Throws `usage`. */
function namedBy(
  words: readonly string[],
  option: string | undefined,
): { readonly file: string; readonly name: string | undefined } {
  const files = words.filter((word) => /\.ya?ml$/i.test(word) || existsSync(word));
  const names = [...words.filter((word) => !files.includes(word)), ...(option === undefined ? [] : [option])];
  if (files.length > 1 || names.length > 1) {
    throw new TreadleError('usage', {
      place: 'explain',
      found: words.join(' '),
      wanted: 'one bundle and one agent of it',
    });
  }
  return { file: files[0] ?? FIRST_BUNDLE, name: names[0] };
}

interface Look {
  readonly colors: Colors;
  readonly columns: number;
}

/** The value where it can be read, and under it the place. */
function settingLines({ key, value, from }: Explained, { colors, columns }: Look): readonly string[] {
  const text = harmless(inText(value));
  return [
    '',
    `  ${colors.bold(key)}`,
    ...wrap(text, { columns, first: '    ' }).slice(0, MOST_LINES),
    ...(wrap(text, { columns, first: '    ' }).length > MOST_LINES ? ['    …'] : []),
    ...wrap(harmless(from), { columns, first: '    ' }).map(colors.dim),
  ];
}

const MOST_LINES = 12;

function defaultLines({ key, value, from }: Explained, { colors, columns }: Look): readonly string[] {
  const text = value === null ? from.replace(/^default: ?/, '') : inText(value);
  return wrap(harmless(`${key}  ${text}`), { columns, first: '  ', rest: '      ' }).map(colors.dim);
}

/** Lists of words as people write them; everything else as JSON. */
function inText(value: Explained['value']): string {
  if (typeof value === 'string') return value.trimEnd();
  if (!Array.isArray(value)) return JSON.stringify(value);
  if (value.length === 0) return 'none';
  return value.every((one) => typeof one === 'string') ? value.join(', ') : JSON.stringify(value);
}

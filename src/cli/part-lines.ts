import type { Part } from '../domain/content.ts';
import type { Colors } from './terminal.ts';
import { fit, harmless } from './text.ts';

interface Look {
  readonly colors: Colors;
  readonly columns: number;
  /** Lines of one part; more are counted. */
  readonly most: number;
}

/** Parts that are more than words, as people read them: a diff in its colours, what a program wrote as it stands. */
export function partLines(parts: readonly Part[], { colors, columns, most }: Look): string[] {
  return parts.flatMap((part) => {
    if (part.type !== 'text' || part.format === undefined || part.text === '') return [];
    const { format, text } = part;
    const all = seen(text)
      .replace(/\n$/, '')
      .split('\n')
      .flatMap((line) => pieces(line.replaceAll('\t', '    '), columns));
    const cut = all.length > most ? [colors.dim(`… and ${all.length - most} more lines`)] : [];
    const lines = all.slice(0, most);
    return [...lines.map((line) => (format === 'diff' ? inDiff(line, colors) : line)), ...cut];
  });
}

/** Whether a part is shown by `partLines`, and so by nothing else. */
export function isShownAsLines(part: Part): boolean {
  return part.type === 'text' && part.format !== undefined;
}

/** A line that is wider than the terminal, as the terminal would break it. */
function pieces(line: string, columns: number): string[] {
  const broken: string[] = [];
  let left = line;
  do {
    const piece = fit(left, columns) || left;
    broken.push(piece);
    left = left.slice(piece.length);
  } while (left !== '');
  return broken;
}

function inDiff(line: string, colors: Colors): string {
  if (line.startsWith('+++') || line.startsWith('---')) return colors.bold(line);
  if (line.startsWith('+')) return colors.green(line);
  if (line.startsWith('-')) return colors.red(line);
  return line.startsWith('@@') || line.startsWith('\\') ? colors.dim(line) : line;
}

/** What an eye would not see is written out: whoever approves has to see what is there. */
function seen(text: string): string {
  return harmless(text).replaceAll(/[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (character) =>
    [...character.split('')].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );
}

import { fit, harmless, widthOf } from './text.ts';
import type { Colors } from './terminal.ts';

export interface ProseOptions {
  /** Columns of a whole line, indentation included. */
  readonly columns: number;
  readonly indent: string;
  readonly colors: Colors;
}

/** Lays out what a model writes, as it comes. */
export interface Prose {
  /** What can be shown of the text so far: whole words. May end in mid-line. */
  write(delta: string): string;
  /** The rest. The line is left unfinished. */
  end(): string;
}

/**
 * Word wrap and the little Markdown that models write, in one pass, so that it works on half a text.
 *
 * Headings, lists, quotes, code blocks, **bold** and `code`. Everything else, tables among it, stays as it was written.
 * Without colours the text keeps its marks: they are all there is to tell bold from plain.
 */
export function createProse({ columns, indent, colors }: ProseOptions): Prose {
  const styled = colors.isColorSupported;
  let out = '';
  /** Columns used of the line in work. */
  let used = 0;
  let word = '';
  let space = '';
  let hang = indent;
  let isLineStart = true;
  let isHeading = false;
  let isBold = false;
  let isCode = false;
  let inFence = false;
  /** A line that is shown as it is, gathered until it is whole. */
  let verbatim: string | undefined;

  function put(text: string, width = widthOf(text)): void {
    out += text;
    used += width;
  }

  function breakLine(): void {
    out += '\n';
    used = 0;
  }

  function dress(piece: string): string {
    const coded = isCode ? colors.cyan(piece) : piece;
    return isBold || isHeading ? colors.bold(coded) : coded;
  }

  /** One word with its marks taken out and its looks put in. */
  function look(text: string): { readonly shown: string; readonly width: number } {
    if (!styled) return { shown: text, width: widthOf(text) };
    let shown = '';
    let width = 0;
    for (const piece of text.split(/(\*\*|`)/)) {
      if (piece === '`') isCode = !isCode;
      else if (piece === '**' && !isCode) isBold = !isBold;
      else if (piece !== '') {
        shown += dress(piece);
        width += widthOf(piece);
      }
    }
    return { shown, width };
  }

  function place(text: string): void {
    const { shown, width } = look(text);
    if (used > 0 && used + widthOf(space) + width > columns) breakLine();
    put(used === 0 ? hang : space);
    if (used + width <= columns) {
      put(shown, width);
      return;
    }
    // A word longer than the line, such as an address: broken where the line ends.
    for (let left = text; left !== '';) {
      const piece = fit(left, columns - used);
      put(piece === '' ? left : piece);
      if (piece === '') return;
      left = left.slice(piece.length);
      if (left === '') return;
      breakLine();
      put(hang);
    }
  }

  /** The first word of a line may say what the line is. True when it was a mark and nothing of the text. */
  function opens(first: string): boolean {
    if (/^([-*+]|\d{1,3}[.)])$/.test(first)) {
      const mark = /^\d/.test(first) || !styled ? first : '•';
      put(indent + space + mark);
      hang = `${indent}${space}${' '.repeat(widthOf(mark) + 1)}`;
      return true;
    }
    if (styled && /^#{1,6}$/.test(first)) {
      isHeading = true;
      return true;
    }
    if (styled && first === '>') {
      hang = `${indent}${colors.dim('│')} `;
      return true;
    }
    hang = indent + space;
    return false;
  }

  function endWord(): void {
    if (word === '') return;
    const text = word;
    word = '';
    if (isLineStart) {
      isLineStart = false;
      if (text.startsWith('```') || text.startsWith('~~~') || text.startsWith('|')) {
        verbatim = space + text;
        return;
      }
      const isMark = opens(text);
      space = '';
      if (isMark) return;
    }
    place(text);
    space = '';
  }

  function gap(): void {
    if (verbatim === undefined) space += ' ';
    else verbatim += ' ';
  }

  function endVerbatim(line: string): void {
    const isFence = /^\s*(```|~~~)/.test(line);
    if (isFence) inFence = !inFence;
    put(indent + (isFence ? colors.dim(line) : inFence ? colors.cyan(line) : line));
  }

  function endLine(): void {
    if (verbatim === undefined) endWord();
    if (verbatim !== undefined) endVerbatim(verbatim);
    breakLine();
    verbatim = inFence ? '' : undefined;
    space = '';
    hang = indent;
    isLineStart = true;
    isHeading = false;
    isBold = false;
    isCode = false;
  }

  function take(): string {
    const ready = out;
    out = '';
    return ready;
  }

  return {
    write(delta) {
      for (const character of harmless(delta).replaceAll('\t', '    ')) {
        if (character === '\n') endLine();
        else if (verbatim !== undefined) verbatim += character;
        else if (character === ' ') {
          endWord();
          gap();
        } else word += character;
      }
      return take();
    },
    end() {
      endWord();
      if (verbatim !== undefined && verbatim !== '') endVerbatim(verbatim);
      return take();
    },
  };
}

/** A whole text at once, without the line break at its end. */
export function prose(text: string, options: ProseOptions): string {
  const flow = createProse(options);
  return flow.write(text.trimEnd()) + flow.end();
}

import fastStringWidth from 'fast-string-width';

/** Columns that text takes in a terminal. Escape codes take none. */
export function widthOf(text: string): number {
  return fastStringWidth(text);
}

/**
 * Text of a model, a tool or a person as it may be written to a terminal: control characters, which could move the
 * cursor, set the clipboard or hide what stands before them, become visible. Newlines and tabs stay.
 */
export function harmless(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code); // the control pictures: ␛ for escape
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** C0 less newline and tab, DEL, C1, and the marks that turn the direction of what follows. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text on one line, at most `columns` wide; what is cut off is marked. */
export function oneLine(text: string, columns: number): string {
  const line = harmless(text).replace(/\s+/g, ' ').trim();
  if (widthOf(line) <= columns) return line;
  return `${fit(line, Math.max(0, columns - 1))}…`;
}

/** The first characters that fit into `columns`; never half a character. */
export function fit(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let used = 0;
  let kept = '';
  for (const character of text) {
    const width = widthOf(character);
    if (used + width > columns) break;
    used += width;
    kept += character;
  }
  return kept;
}

export interface WrapOptions {
  readonly columns: number;
  /** Before the first line, and before each further one. */
  readonly first?: string;
  readonly rest?: string;
}

/** A space at which `wrap` breaks no line; it comes out as a plain one. */
export const UNBROKEN = '\u00a0';

/** Lines of at most `columns`, broken at spaces where there are any; the text's own line breaks stay. */
export function wrap(text: string, { columns, first = '', rest = first }: WrapOptions): string[] {
  const lines: string[] = [];
  let line = first;
  let used = widthOf(first);
  let isEmpty = true;
  const next = (): void => {
    lines.push(line.replaceAll(UNBROKEN, ' ').trimEnd());
    line = rest;
    used = widthOf(rest);
    isEmpty = true;
  };
  for (const [index, paragraph] of text.replaceAll('\t', '    ').split('\n').entries()) {
    if (index > 0) next();
    for (const [, space = '', word = ''] of paragraph.matchAll(/( *)([^ ]*)/g)) {
      let left = word;
      const width = widthOf(space) + widthOf(word);
      if (used + width <= columns || (isEmpty && space !== '' && word === '')) {
        line += space + left;
        used += width;
        if (left !== '') isEmpty = false;
        continue;
      }
      if (!isEmpty) next();
      while (used + widthOf(left) > columns) {
        const piece = fit(left, columns - used);
        if (piece === '') break;
        line += piece;
        left = left.slice(piece.length);
        next();
      }
      line += left;
      used += widthOf(left);
      if (left !== '') isEmpty = false;
    }
  }
  next();
  return lines;
}

/** Milliseconds as a person says them: `12 ms`, `3.4 s`, `2 m 05 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.floor((ms % 60_000) / 1_000);
  if (minutes < 60) return `${minutes} m ${String(seconds).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} m`;
}

/** How long ago: `just now`, `5 m ago`, `3 d ago`. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} m ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} d ago`;
}

/** `1 action`, `3 actions`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Who did it, in words: the one user of a computer is spoken to. */
export function who(by: string): string {
  return by === 'local' ? 'you' : by;
}

export interface Edit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean | undefined;
}

export type Edited =
  | { readonly ok: true; readonly text: string; readonly replaced: number }
  | { readonly ok: false; readonly code: string; readonly problem: string };

/**
 * A text after edits, one after the other: each old text has to stand there exactly once, or wherever it stands is
 * replaced. All of them count or none does.
 */
export function edited(text: string, edits: readonly Edit[]): Edited {
  let now = text;
  let replaced = 0;
  for (const [index, { old_text, new_text, replace_all = false }] of edits.entries()) {
    const which = edits.length === 1 ? '' : ` of edit ${index + 1}`;
    const [from, to] = [inLinesOf(text, old_text), inLinesOf(text, new_text)];
    if (from === to) return { ok: false, code: 'same', problem: `The new text${which} is the old one.` };
    const places = placesOf(now, from);
    if (places.length === 0) {
      return { ok: false, code: 'not_found', problem: `The old text${which} is not in the file.${nearly(now, from)}` };
    }
    if (places.length > 1 && !replace_all) {
      const lines = places.slice(0, 5).map((at) => lineAt(now, at));
      const where = `${lines.join(', ')}${places.length > 5 ? ', …' : ''}`;
      const what = 'give more of what is around it, or set replace_all';
      return {
        ok: false,
        code: 'not_unique',
        problem: `The old text${which} is there ${places.length} times, in lines ${where}: ${what}.`,
      };
    }
    now = now.split(from).join(to);
    replaced += places.length;
  }
  return { ok: true, text: now, replaced };
}

/** What a text was before edits, as far as that can be told: every new text becomes the old one again. */
export function unedited(text: string, edits: readonly Edit[]): string | undefined {
  let now = text;
  for (const { old_text, new_text } of edits.toReversed()) {
    const [from, to] = [inLinesOf(text, new_text), inLinesOf(text, old_text)];
    if (from === '' || !now.includes(from)) return undefined;
    now = now.split(from).join(to);
  }
  return now;
}

/** A file whose lines all end in CR and LF is shown without the CR: what comes back is given it again. */
function inLinesOf(file: string, text: string): string {
  const isWindows = file.includes('\r\n') && !/(^|[^\r])\n/.test(file);
  return isWindows ? text.replaceAll(/\r?\n/g, '\r\n') : text;
}

function placesOf(text: string, part: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** Where the same words stand with other spaces: the usual slip. */
function nearly(text: string, part: string): string {
  const wanted = part.split('\n').map((line) => line.trim());
  const lines = text.split('\n').map((line) => line.trim());
  if (wanted.every((line) => line === '')) return '';
  const at = lines.findIndex((_, index) => wanted.every((line, offset) => lines[index + offset] === line));
  return at < 0
    ? ' Read it again and copy the text exactly.'
    : ` Line ${at + 1} has it with other spaces: copy it exactly.`;
}

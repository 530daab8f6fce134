import { createTwoFilesPatch } from 'diff';

/** Milliseconds after which a difference is only counted: two texts that have nothing in common take long. */
const MOST_MS = 1_000;
const LONGEST = 60_000;

/** What becomes of a text, as a unified diff; undefined where there was none before. */
export function unifiedDiff(path: string, before: string | undefined, after: string): string {
  const from = before === undefined ? '/dev/null' : `a/${path}`;
  const patch = createTwoFilesPatch(from, `b/${path}`, before ?? '', after, undefined, undefined, {
    context: 3,
    timeout: MOST_MS,
  });
  const text =
    patch === undefined
      ? `--- ${from}\n+++ b/${path}\n@@ the whole of it: ${linesIn(before ?? '')} lines become ${linesIn(after)} @@\n`
      : patch.replace(/^=+\n/, '');
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST).toWellFormed()}\n@@ and ${text.length - LONGEST} more characters @@\n`;
}

function linesIn(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

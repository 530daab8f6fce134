/**
 * True when a text is what a pattern describes: `*` stands for any characters, also none, `?` for one, and `\` takes the
 * next character as it is. The whole text counts.
 *
 * Takes time in proportion to both lengths, whatever they hold.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let place = 0;
  /** Where to go on after the last `*`, and what it has stood for so far. */
  let star: { readonly at: number; place: number } | undefined;
  while (place < text.length) {
    const sign = pattern[at];
    if (sign === '*') {
      star = { at: ++at, place };
      continue;
    }
    const literal = sign === '\\' ? pattern[at + 1] : sign;
    if (literal !== undefined && ((sign === '?' && literal === '?') || literal === text[place])) {
      at += sign === '\\' ? 2 : 1;
      place++;
      continue;
    }
    if (star === undefined) return false;
    at = star.at;
    place = ++star.place;
  }
  while (pattern[at] === '*') at++;
  return at >= pattern.length;
}

/** Characters of a pattern that stand for themselves: of two that match, the one that says more comes first. */
export function literalsOf(pattern: string): number {
  return pattern.replace(/\\(.)/g, 'x').replace(/[*?]/g, '').length;
}

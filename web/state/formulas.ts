/** Code, which stays as it is: fenced, or within backticks. What is not closed yet is code to its end. */
const CODE =
  /(^[ \t>]*(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t>]*\2[`~]*[ \t]*$|$(?![\s\S]))|(`+)[^`](?:[\s\S]*?[^`])??\3(?!`))/m;
/** Between single dollars: with nothing but the formula at both ends, and something that a price has not. */
const SINGLE = /(?<![\\$\w])\$(?=[^\s$])([^$\n]*[^\s$\\]|[A-Za-z])\$(?![\w$])/g;
const IS_FORMULA = /[\\^_{}=]|^[A-Za-z]$/;

/**
 * A text in which every formula stands between double dollars, as the parser knows them: models write `\(x\)`, `\[x\]` and `$x$`,
 * too, and a line of nothing but a formula is one that stands alone.
 */
export function withFormulas(text: string): string {
  if (!/\$|\\\(|\\\[/.test(text)) return text;
  return outsideCode(text, (piece) =>
    piece
      .replace(/^([ \t>]*)\\\[([\s\S]+?)\\\][ \t]*$/gm, (_all, before: string, inside: string) => alone(before, inside))
      .replace(/^([ \t>]*)\$\$([^\n$]+)\$\$[ \t]*$/gm, (_all, before: string, inside: string) => alone(before, inside))
      .replace(
        /\\\((.+?)\\\)|\\\[(.+?)\\\]/g,
        (_all, one?: string, other?: string) => `$$${(one ?? other ?? '').trim()}$$`,
      )
      .replace(SINGLE, (all, inside: string) => (IS_FORMULA.test(inside) ? `$$${inside}$$` : all)),
  );
}

function alone(before: string, inside: string): string {
  return [`$$`, ...inside.trim().split('\n'), `$$`].map((line) => before + line.trimStart()).join('\n');
}

function outsideCode(text: string, change: (piece: string) => string): string {
  let left = text;
  let done = '';
  for (;;) {
    const code = CODE.exec(left);
    if (code === null) return done + change(left);
    done += change(left.slice(0, code.index)) + code[0];
    left = left.slice(code.index + code[0].length);
  }
}

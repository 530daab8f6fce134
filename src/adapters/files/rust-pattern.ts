/** What letters behind a backslash stand for in RE2, in words that Rust's engine reads the same: there they are of Unicode. */
const CLASSES: Readonly<Record<string, string>> = {
  d: '0-9',
  w: '0-9A-Za-z_',
  s: '\\t\\n\\x0c\\r ',
};

/** A pattern of RE2 as ripgrep reads the same; undefined where it might read another. */
export function asRust(pattern: string): string | undefined {
  let out = '';
  let isInClass = false;
  for (let index = 0; index < pattern.length; index++) {
    const at = pattern[index] ?? '';
    if (at === '[' && isInClass && pattern[index + 1] !== ':') return undefined; // a class in a class, to Rust
    if (isInClass && /[&~-]/.test(at) && pattern[index + 1] === at) return undefined; // an operation on classes, to Rust
    if (at === '[') isInClass = true;
    else if (at === ']' && isInClass && !/\[\^?$/.test(out)) isInClass = false;
    if (at !== '\\') {
      out += at;
      continue;
    }
    const next = pattern[++index];
    if (next === undefined) return undefined;
    const set = CLASSES[next.toLowerCase()];
    if (set !== undefined) {
      const isNegated = next !== next.toLowerCase();
      if (isInClass && isNegated) return undefined;
      out += isInClass ? set : `[${isNegated ? '^' : ''}${set}]`;
    } else if (/[bB]/.test(next)) {
      if (isInClass) return undefined;
      out += `(?-u:\\${next})`;
    } else if (/[A-Za-z0-9]/.test(next) && !/[nrtfvpPx]/.test(next)) return undefined;
    else out += `\\${next}`;
  }
  return out;
}

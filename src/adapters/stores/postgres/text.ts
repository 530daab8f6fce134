/**
 * Names as PostgreSQL can keep them: it has no NUL in a text. JSON needs none of this, for it says NUL in letters.
 */
export function storedName(name: string): string {
  return /[\0\\]/.test(name) ? name.replace(/[\0\\]/g, (one) => (one === '\\' ? '\\\\' : '\\0')) : name;
}

export function nameOf(stored: string): string {
  return stored.includes('\\') ? stored.replace(/\\(.)/g, (_, one) => (one === '0' ? '\0' : '\\')) : stored;
}

export function storedNames(names: readonly string[] | undefined): readonly string[] | null {
  return names === undefined ? null : names.map(storedName);
}

/** How many of the words it has, or words that begin so. */
export function scoreOf(text: string, words: readonly string[]): number {
  const has = wordsOf(text);
  return words.flatMap(wordsOf).filter((wanted) => has.some((word) => word.startsWith(wanted))).length;
}

/** Words as they are compared. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** Says whether a text has one of some phrases, and which. */
export type PhraseFinder = (text: string) => string | undefined;

/** Scripts that put no spaces between words: where words end there depends on what stands around them. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** What nobody sees between two letters, such as a soft hyphen or a zero-width space. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Finds phrases word for word: whatever stands between the words, in whatever of its Unicode forms each is written, and
 * never as a part of a longer word. A phrase of a script without spaces is found wherever it stands.
 */
export function phraseFinder(phrases: readonly string[], caseSensitive: boolean): PhraseFinder {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  const plain = (text: string): string => {
    const one = text.normalize('NFKC').replace(UNSEEN, '');
    return caseSensitive ? one : one.toLowerCase().normalize('NFKC');
  };
  const wordsOf = (text: string): string => {
    let words = ' ';
    for (const { segment, isWordLike } of segmenter.segment(text)) if (isWordLike === true) words += `${segment} `;
    return words;
  };
  const known = phrases.map((phrase) => {
    const text = plain(phrase);
    const words = wordsOf(text);
    const isLoose = WITHOUT_SPACES.test(text) || words === ' ';
    return { phrase, isLoose, sought: isLoose ? text.trim() : words };
  });
  return (text) => {
    const whole = plain(text);
    let words: string | undefined;
    return known.find(({ isLoose, sought }) =>
      isLoose ? whole.includes(sought) : (words ??= wordsOf(whole)).includes(sought),
    )?.phrase;
  };
}

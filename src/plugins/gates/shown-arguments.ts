import { canonicalJson, type Json } from '../../base/json.ts';
import { head, utf8Length } from '../../base/text.ts';

const LONGEST_BYTES = 2_000;

/** Characters that a terminal or a page would act on or hide: an approver has to see what is really there. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Arguments as one line of a question. What does not fit is counted, and never cut without a word. */
export function shownArguments(given: Json): string {
  const line = canonicalJson(given).replace(UNSEEN, escaped);
  const size = utf8Length(line);
  if (size <= LONGEST_BYTES) return line;
  const shown = head(line, LONGEST_BYTES);
  return `${shown}… and ${size - utf8Length(shown)} more bytes, which the action itself has`;
}

function escaped(character: string): string {
  let text = '';
  for (let index = 0; index < character.length; index++) {
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return text;
}

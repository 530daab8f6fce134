import { z } from 'zod';
import { canonicalJson, type Json } from '../../base/json.ts';
import { head, utf8Length } from '../../base/text.ts';
import { STANDING_SCOPES } from '../../domain/allowance.ts';
import { key } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { hold } from '../../kernel/verdict.ts';

const config = z.strictObject({
  expires_in_ms: key(z.int().min(1_000), 'Milliseconds until no answer becomes a denial.', {
    default: 'the question waits for ever',
  }),
  remember: key(
    z.array(z.enum(STANDING_SCOPES)),
    'How far a yes may reach beyond the one run: `conversation`, `always`. None: a person is asked each time.',
    { otherwise: 'both' },
  ),
});

/**
 * Holds every action of a tool that is declared with `approval: ask` until a person has answered. A yes for more than the
 * one run is a yes to the tool, whatever its arguments.
 */
export const toolApproval = definePlugin({
  id: 'gate.tool_approval',
  about: 'Asks a person before a run of a tool that is declared with `approval: ask`.',
  config,
  setup(host, { expires_in_ms: expiresInMs, remember: scopes = STANDING_SCOPES }) {
    host.before('before:tool.invoke', ({ tool, arguments: given }) => {
      if (tool.approval !== 'ask') return undefined;
      const question = `Allow ${tool.name} ${readable(given)}?`;
      return hold(question, {
        ...(expiresInMs !== undefined && { expiresInMs }),
        ...(scopes.length > 0 && { remember: { scopes, subject: {}, about: `every run of ${tool.name}` } }),
      });
    });
  },
});

const LONGEST_BYTES = 2_000;

/** Characters that a terminal or a page would act on or hide: an approver has to see what is really there. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Arguments as one line. What does not fit is counted, and never cut without a word. */
function readable(given: Json): string {
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

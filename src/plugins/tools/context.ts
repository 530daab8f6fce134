import { z } from 'zod';
import type { MaybePromise } from '../../base/promise.ts';
import { resultText, turnText } from '../../assembly/turn-text.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { ToolContext } from '../../kernel/running-tool.ts';
import { defineTool, toolFailure, type BuiltinGroup } from '../../kernel/tool.ts';
import { pageInput, textPage } from './text-page.ts';

const input = z.strictObject({
  ref: z.string().min(1).max(128).optional().describe('The reference given where a result was cut.'),
  action: z.string().min(1).max(128).optional().describe('The action whose result was cleared, by its id.'),
  turn: z.int().min(1).optional().describe('The number of an earlier turn; the first is 1.'),
  ...pageInput({ standard: 4_000, most: 12_000 }),
});

const contextRead = defineTool({
  name: 'context_read',
  description:
    'Read what is no longer in front of you: the whole of a result that was cut to size (give its ref), a result that was ' +
    'cleared (give its action), or an earlier turn that is left out or told as a summary (give its number). Give exactly ' +
    'one of these. Long texts come in pages: call again with next_offset until it is null.',
  input,
  effect: 'read',
  async run({ ref, action, turn, offset, limit }, { conversation, readBody }) {
    const given = [ref, action, turn].filter((one) => one !== undefined);
    if (given.length !== 1) return toolFailure('invalid', 'Give exactly one of ref, action and turn.');
    if (turn !== undefined && turnText(conversation, turn) === undefined)
      return toolFailure('unknown_turn', `There is no earlier turn ${turn}: ${endedTurns(conversation)}.`);
    const text =
      turn !== undefined ? turnText(conversation, turn) : await bodyOf({ ref, action }, conversation, readBody);
    if (text === undefined) {
      return ref === undefined
        ? toolFailure(
            'unknown_action',
            `There is no result of an action ${action ?? ''}. Copy the id from where it was cleared.`,
          )
        : toolFailure('unknown_ref', `Nothing is kept under ${ref}. Copy the ref from where the result was cut.`);
    }
    return textPage(text, { offset, limit }, { conversation });
  },
});

/** A result that was cut, or one that was cleared: of that, the whole body where it had been cut before. */
function bodyOf(
  { ref, action }: { readonly ref: string | undefined; readonly action: string | undefined },
  conversation: Conversation,
  readBody: ToolContext['readBody'],
): MaybePromise<string | undefined> {
  if (ref !== undefined) return readBody(ref);
  const result = resultText(conversation, action ?? '');
  return result?.ref === undefined ? result?.text : readBody(result.ref);
}

/** Reading back what the prompt no longer holds. */
export const contextGroup: BuiltinGroup = { name: 'context', locked: true, tools: [contextRead] };

function endedTurns({ turns }: Conversation): string {
  return turns.length === 0 ? 'this is the first' : `there are ${turns.length}`;
}

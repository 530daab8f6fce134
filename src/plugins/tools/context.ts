import { z } from 'zod';
import { head, utf8Length } from '../../base/text.ts';
import type { MaybePromise } from '../../base/promise.ts';
import { resultText, turnText } from '../../assembly/turn-text.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { ToolContext } from '../../kernel/ports.ts';
import { defineTool, toolFailure, toolResult, type BuiltinGroup } from '../../kernel/tool.ts';

const DEFAULT_LIMIT = 4_000;
const MAX_LIMIT = 12_000;

const input = z.strictObject({
  ref: z.string().min(1).max(128).optional().describe('The reference given where a result was cut.'),
  action: z.string().min(1).max(128).optional().describe('The action whose result was cleared, by its id.'),
  turn: z.int().min(1).optional().describe('The number of an earlier turn; the first is 1.'),
  offset: z.int().min(0).default(0).describe('Characters to skip: the next_offset of the last reading.'),
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('Characters to read.'),
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
    if (offset > 0 && offset >= text.length) {
      return toolFailure('past_end', `The text ends at ${text.length}; offset ${offset} is past it.`);
    }
    const most = conversation.turn?.agent.limits.maxResultBytes ?? Infinity;
    const page = excerpt(text, offset, limit, most);
    const next = page.start + page.text.length;
    return toolResult({
      value: { offset: page.start, next_offset: next < text.length ? next : null, length: text.length },
      ...(page.text !== '' && { content: [{ type: 'text', text: page.text }] }),
    });
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

/** At most `limit` characters and `bytes` of UTF-8 from `offset`; whole characters only, and at least one. */
export function excerpt(
  text: string,
  offset: number,
  limit: number,
  bytes: number,
): { readonly start: number; readonly text: string } {
  const start = splitsPair(text, offset) ? offset - 1 : offset;
  let end = Math.min(text.length, start + limit);
  if (splitsPair(text, end)) end = end - 1 > start ? end - 1 : end + 1;
  const slice = text.slice(start, end);
  return { start, text: utf8Length(slice) > bytes ? head(slice, bytes) : slice };
}

function splitsPair(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

function endedTurns({ turns }: Conversation): string {
  return turns.length === 0 ? 'this is the first' : `there are ${turns.length}`;
}

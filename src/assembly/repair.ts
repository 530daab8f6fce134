import { isBlank } from '../base/text.ts';
import type { AssistantBlock, Message, ToolMessageResult } from '../domain/model.ts';

/**
 * Any messages as ones that every provider accepts: `repair(repair(x))` is `repair(x)`, and what is valid stays as it is.
 *
 * Each action has exactly one result, right after it and in the order asked; what answers nothing is dropped; what is
 * missing is put in and marked; ids are unique; nothing is empty; a person speaks first. The transcript is valid as it
 * is made; this is for messages that somebody else has touched, such as a gate.
 */
export function repair(messages: readonly Message[]): readonly Message[] {
  const repaired: Message[] = [];
  const ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'user': {
        const content = message.content.filter((part) => part.type !== 'text' || !isBlank(part.text));
        if (content.length > 0)
          repaired.push(content.length === message.content.length ? message : { ...message, content });
        break;
      }
      case 'assistant': {
        const content = message.content.filter((block) => isKept(block, ids));
        if (content.length === 0) break;
        if (repaired.length === 0) repaired.push(opening);
        repaired.push(content.length === message.content.length ? message : { ...message, content });
        const calls = content.filter((block) => block.type === 'action');
        if (calls.length > 0) repaired.push(results(calls, messages[index + 1]));
        break;
      }
      case 'tool':
        break; // taken, as far as it answers something, with the message before it
    }
  }
  return repaired;
}

const opening: Message = {
  role: 'user',
  synthetic: true,
  content: [{ type: 'text', text: '[THE CONVERSATION GOES ON]' }],
};

function isKept(block: AssistantBlock, ids: Set<string>): boolean {
  if (block.type === 'text') return !isBlank(block.text);
  if (block.type === 'thinking') return block.opaque !== undefined || !isBlank(block.text);
  if (block.type !== 'action') return true;
  if (ids.has(block.id)) return false;
  ids.add(block.id);
  return true;
}

function results(calls: readonly Extract<AssistantBlock, { type: 'action' }>[], after: Message | undefined): Message {
  const given = after?.role === 'tool' ? after.results : [];
  const inOrder = calls.map((call) => given.find((one) => one.id === call.id) ?? missing(call));
  return after?.role === 'tool' && same(given, inOrder) ? after : { role: 'tool', results: inOrder };
}

function same(left: readonly ToolMessageResult[], right: readonly ToolMessageResult[]): boolean {
  return left.length === right.length && left.every((one, index) => one === right[index]);
}

function missing({ id, name }: { readonly id: string; readonly name: string }): ToolMessageResult {
  return {
    id,
    name,
    observation: {
      outcome: 'unknown',
      synthetic: true,
      error: { code: 'no_result', message: 'This action has no result: it may or may not have happened.' },
    },
  };
}

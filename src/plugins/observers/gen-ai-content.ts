import type { Part } from '../../domain/content.ts';
import type { Block, Message, ModelRequest } from '../../domain/model.ts';
import type { Observation } from '../../domain/tool.ts';
import { head, utf8Length } from '../../base/text.ts';
import { systemText } from '../../assembly/message-text.ts';

/** Bytes of one content attribute. What does not fit is cut, and then it is no longer JSON. */
const LONGEST_BYTES = 65_536;

/** `gen_ai.input.messages` and `gen_ai.system_instructions`: only where an operator wants to read along. */
export function requestContent(request: ModelRequest): Readonly<Record<string, string>> {
  const { messages, announce } = request;
  const said = messages.map(messageOf);
  const all = announce === undefined ? said : [...said, { role: 'user', parts: [text(announce)] }];
  return {
    'gen_ai.system_instructions': written([text(systemText(request))]),
    'gen_ai.input.messages': written(all),
  };
}

/** `gen_ai.output.messages`. */
export function answerContent(content: readonly Block[], reason: string): string {
  const parts = content.flatMap((block) => {
    switch (block.type) {
      case 'text':
        return [text(block.text)];
      case 'action':
        return [{ type: 'tool_call', id: block.id, name: block.name, arguments: block.input }];
      default:
        return [{ type: block.type }];
    }
  });
  return written([{ role: 'assistant', parts, finish_reason: reason }]);
}

export function written(value: unknown): string {
  const json = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return utf8Length(json) > LONGEST_BYTES ? head(json, LONGEST_BYTES) : json;
}

export function observationContent({ value, content, error }: Observation): string {
  return written(error ?? value ?? content ?? null);
}

function messageOf(message: Message): object {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: message.content.map(partOf) };
    case 'assistant':
      return {
        role: 'assistant',
        parts: message.content.map((block) => {
          if (block.type === 'text') return text(block.text);
          if (block.type === 'thinking') return { type: 'reasoning', content: block.text };
          if (block.type !== 'action') return { type: block.type };
          return { type: 'tool_call', id: block.id, name: block.name, arguments: block.arguments };
        }),
      };
    case 'tool':
      return {
        role: 'tool',
        parts: message.results.map(({ id, observation }) => ({
          type: 'tool_call_response',
          id,
          response: observation.error ?? observation.value ?? observation.content ?? null,
        })),
      };
  }
}

function partOf(part: Part): object {
  return part.type === 'text' ? text(part.text) : { type: 'file', mime_type: part.mediaType };
}

function text(content: string): object {
  return { type: 'text', content };
}

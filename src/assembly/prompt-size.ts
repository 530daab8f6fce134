import { roughTokens } from '../domain/cache-profile.ts';
import type { Part } from '../domain/content.ts';
import type { Message, ModelRequest } from '../domain/model.ts';
import { catalogueText, messageText, systemText } from './message-text.ts';
import { observationText } from './observation.ts';

/** A picture or a file costs tokens by what is in it, which is not looked at: this is the order of magnitude. */
const FILE_TOKENS = 1_500;

/**
 * Tokens of a prompt. `known` is what the provider billed for the last one, input and output: then only what has come
 * since is guessed, and the guess is corrected with the next answer.
 */
export function promptSize(request: ModelRequest, known: number): number {
  const { messages, tools, announce = '' } = request;
  const since = known > 0 ? messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1) : messages;
  const tokens = since.reduce((sum, message) => sum + sizeOf(message), roughTokens(announce.length));
  return known > 0 ? known + tokens : tokens + roughTokens(catalogueText(tools).length + systemText(request).length);
}

const sizes = new WeakMap<Message, number>();

function sizeOf(message: Message): number {
  let size = sizes.get(message);
  if (size === undefined) sizes.set(message, (size = measured(message)));
  return size;
}

function measured(message: Message): number {
  switch (message.role) {
    case 'user':
      return partsSize(message.content);
    case 'assistant':
      return message.content.reduce(
        (sum, block) =>
          sum +
          (block.type === 'file'
            ? partsSize([block.file])
            : roughTokens(messageText({ ...message, content: [block] }).length)),
        0,
      );
    case 'tool':
      return message.results.reduce(
        (sum, { observation, note }) =>
          sum + roughTokens(observationText(observation, note).length) + partsSize(observation.content ?? []),
        0,
      );
  }
}

function partsSize(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + (part.type === 'text' ? roughTokens(part.text.length) : FILE_TOKENS), 0);
}

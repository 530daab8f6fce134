import { utf8Length } from '../../base/text.ts';
import { systemText } from '../../assembly/message-text.ts';
import type { Part } from '../../domain/content.ts';
import type { Message, ModelRequest } from '../../domain/model.ts';
import type { ToolDefinition } from '../../domain/tool.ts';

/** Bytes that make a token, at the least, in what agents read: prose has 4, code 3, digits and names 2. */
const BYTES_PER_TOKEN = 2;
/** An image, as large as providers take it. */
const IMAGE_TOKENS = 5_000;
/** A file whose size is not known here. */
const FILE_TOKENS = 20_000;

const messages = new WeakMap<Message, number>();
const catalogues = new WeakMap<readonly ToolDefinition[], number>();

/**
 * Tokens of a prompt, rather too many than too few.
 *
 * `known` is what the last answer of the conversation was billed with, input and output: about what this prompt begins with.
 * Then only what has come since is guessed.
 */
export function promptTokens(request: ModelRequest, known: number): number {
  const since = known > 0 ? request.messages.slice(lastAnswer(request.messages) + 1) : request.messages;
  let tokens = tokensOf(request.announce ?? '');
  for (const message of since) tokens += tokensOfMessage(message);
  if (known > 0) return known + tokens;
  let catalogue = catalogues.get(request.tools);
  if (catalogue === undefined) {
    catalogue = tokensOf(JSON.stringify(request.tools));
    catalogues.set(request.tools, catalogue);
  }
  return tokens + catalogue + tokensOf(systemText(request));
}

function lastAnswer(all: readonly Message[]): number {
  return all.findLastIndex(({ role }) => role === 'assistant');
}

function tokensOfMessage(message: Message): number {
  let tokens = messages.get(message);
  if (tokens === undefined) messages.set(message, (tokens = 8 + count(message)));
  return tokens;
}

function count(message: Message): number {
  switch (message.role) {
    case 'user':
      return message.content.reduce((sum, part) => sum + tokensOfPart(part), 0);
    case 'assistant':
      return tokensOf(JSON.stringify(message.content));
    case 'tool':
      return message.results.reduce((sum, { observation, note = '', name }) => {
        const { content = [], ...rest } = observation;
        const parts = content.reduce((total, part) => total + tokensOfPart(part), 0);
        return sum + parts + tokensOf(JSON.stringify(rest)) + tokensOf(note) + tokensOf(name);
      }, 0);
  }
}

function tokensOfPart(part: Part): number {
  if (part.type === 'text') return tokensOf(part.text);
  if (part.mediaType.startsWith('image/')) return IMAGE_TOKENS;
  // Base64 is a third longer than what it stands for; text in a file has its usual share.
  return part.data === undefined ? FILE_TOKENS : Math.ceil((part.data.length * 3) / 4 / BYTES_PER_TOKEN);
}

function tokensOf(text: string): number {
  return Math.ceil(utf8Length(text) / BYTES_PER_TOKEN);
}

import { systemText } from '../../assembly/message-text.ts';
import { observationText } from '../../assembly/observation.ts';
import type { Message, ModelRequest } from '../../domain/model.ts';
import type { Part } from '../../domain/content.ts';
import type { ToolDefinition } from '../../domain/tool.ts';

/** Counts over one request's transcript. */
export interface TranscriptCounts {
  /** Answers of the model; what Treadle wrote in its place does not count. */
  readonly replies: number;
  /** Answers of the model since a person last spoke. */
  readonly step: number;
  /** Characters of the instructions, the tools, the messages and the announcement. */
  readonly characters: number;
  /** How many of these, from the start, the same conversation sent before. */
  readonly repeated: number;
}

interface Remembered {
  readonly instructions: string;
  readonly tools: number;
  readonly length: number;
  readonly last: Message | undefined;
  readonly characters: number;
  readonly replies: number;
  readonly step: number;
}

/** Conversations remembered at once. One that is forgotten is counted from its start again. */
const REMEMBERED_MAX = 4096;

/** A picture costs tokens by its size in pixels, which is not looked at: this is the order of magnitude. */
const FILE_CHARACTERS = 4000;

/**
 * Counts transcripts that grow, each message once.
 *
 * A message is known by its identity at its place, so a transcript that was rebuilt or compacted is counted anew.
 */
export class TranscriptMemory {
  readonly #byConversation = new Map<string, Remembered>();
  readonly #toolCharacters = new WeakMap<readonly ToolDefinition[], number>();

  see(conversationId: string, request: ModelRequest): TranscriptCounts {
    const { tools, messages, announce } = request;
    const instructions = systemText(request);
    const before = this.#byConversation.get(conversationId);
    const grew = before !== undefined && before.length > 0 && messages[before.length - 1] === before.last;
    let characters = grew ? before.characters : 0;
    let replies = grew ? before.replies : 0;
    let step = grew ? before.step : 0;
    for (let index = grew ? before.length : 0; index < messages.length; index++) {
      const message = messages[index] as Message; // index is below length
      characters += messageCharacters(message);
      if (message.role === 'tool' || message.synthetic === true) continue;
      replies += message.role === 'assistant' ? 1 : 0;
      step = message.role === 'assistant' ? step + 1 : 0;
    }
    const toolCharacters = this.#countTools(tools);
    const head = instructions.length + toolCharacters;
    const sameHead = before?.instructions === instructions && before.tools === toolCharacters;
    const now = { instructions, tools: toolCharacters, length: messages.length, last: messages.at(-1) };
    this.#byConversation.delete(conversationId); // so that the map stays in the order of use
    this.#byConversation.set(conversationId, { ...now, characters, replies, step });
    if (this.#byConversation.size > REMEMBERED_MAX) {
      const [oldest] = this.#byConversation.keys();
      if (oldest !== undefined) this.#byConversation.delete(oldest);
    }
    return {
      replies,
      step,
      characters: head + characters + (announce?.length ?? 0),
      repeated: sameHead ? head + (grew ? before.characters : 0) : 0,
    };
  }

  #countTools(tools: readonly ToolDefinition[]): number {
    let count = this.#toolCharacters.get(tools);
    if (count === undefined) {
      count = tools.reduce((sum, { name, description, inputSchema }) => {
        return sum + name.length + description.length + JSON.stringify(inputSchema).length;
      }, 0);
      this.#toolCharacters.set(tools, count);
    }
    return count;
  }
}

function messageCharacters(message: Message): number {
  if (message.role === 'user') return partsCharacters(message.content);
  let count = 0;
  if (message.role === 'tool') {
    for (const { observation, note } of message.results) {
      count += observationText(observation, note).length + partsCharacters(observation.content ?? []);
    }
    return count;
  }
  for (const block of message.content) {
    if (block.type === 'action') count += block.name.length + JSON.stringify(block.arguments).length;
    else if (block.type === 'file') count += FILE_CHARACTERS;
    else count += block.type === 'provider' ? JSON.stringify(block.data).length : block.text.length;
  }
  return count;
}

function partsCharacters(parts: readonly Part[]): number {
  let count = 0;
  for (const part of parts) count += part.type === 'text' ? part.text.length : FILE_CHARACTERS;
  return count;
}

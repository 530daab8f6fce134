import { canonicalJson, type Json, type JsonObject } from '../base/json.ts';
import { promptTools } from '../domain/deferred.ts';
import type { Message, ModelRequest } from '../domain/model.ts';
import type { ToolDefinition } from '../domain/tool.ts';
import { observationParts } from './observation.ts';

/**
 * The tool catalogue as the bytes that count for the cache: ordered by name, schemas as canonical JSON. Deferred tools do
 * not count: where the provider is told of them, it keeps them out of the prompt.
 */
export function catalogueText(tools: readonly ToolDefinition[]): string {
  let text = catalogues.get(tools);
  if (text === undefined) {
    const shown: JsonObject[] = promptTools(tools).map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    text = shown.map((tool) => canonicalJson(tool)).join('\n');
    catalogues.set(tools, text);
  }
  return text;
}

/** Written once for a catalogue, which is one list for all requests of many turns. */
const catalogues = new WeakMap<readonly ToolDefinition[], string>();

/** Instructions and gallery, which go out as one text. */
export function systemText({ instructions, gallery }: Pick<ModelRequest, 'instructions' | 'gallery'>): string {
  if (gallery === undefined) return instructions;
  return instructions === '' ? gallery : `${instructions}\n\n${gallery}`;
}

/** One message as one or more lines. */
export function messageText(message: Message): string {
  switch (message.role) {
    case 'user':
      return `user${message.synthetic === true ? ' (synthetic)' : ''}: ${message.content.map((part) => canonicalPart(part)).join(' ')}`;
    case 'assistant':
      return message.content
        .map((block) => `assistant: ${block.type === 'text' ? block.text : canonicalJson(block as unknown as Json)}`)
        .join('\n'); // blocks are JSON by construction
    case 'tool':
      return message.results
        .map(
          ({ id, name, observation, note }) =>
            `tool ${name} ${id}: ${observationParts(observation, note)
              .map((part) => canonicalPart(part))
              .join(' ')}`,
        )
        .join('\n');
  }
}

function canonicalPart(part: { readonly type: string; readonly text?: string | undefined }): string {
  return part.type === 'text' ? (part.text ?? '') : canonicalJson(part as Json); // parts are JSON by construction
}

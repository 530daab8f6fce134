import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { isObject, toJson, type JsonObject } from '../../base/json.ts';
import { systemText } from '../../assembly/message-text.ts';
import { observationParts } from '../../assembly/observation.ts';
import type { FilePart, Part } from '../../domain/content.ts';
import { isBlank } from '../../base/text.ts';
import type { AssistantBlock, Message, ModelRequest, ToolMessageResult } from '../../domain/model.ts';
import type { Dialect } from './dialect.ts';
import { providerPart } from './provider-block.ts';
import { searchedNames, stillSearched } from './tool-search.ts';
import { stillSearching } from './web-search.ts';

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/**
 * A request as an AI SDK prompt: instructions, messages in order, announce last.
 *
 * Total: whatever the transcript holds, nothing empty goes out, signed thinking goes whole to its own provider or not at
 * all, a file the provider cannot read becomes a sentence, and the prompt begins and ends with a user's message.
 */
export function toPrompt(request: ModelRequest, dialect: Dialect): LanguageModelV4Prompt {
  const messages: LanguageModelV4Message[] = [];
  const spoken = stillSearching(request, dialect);
  const last = spoken.length - 1;
  const markers = markersOf(request, dialect);
  const searched = searchedNames(request);
  let goesOn = false;
  for (const [index, message] of spoken.entries()) {
    // The provider stopped in the middle of its own tool's work: it goes on only if that is the end of the prompt.
    if (index === last) goesOn = message.role === 'assistant' && openCalls(message.content).size > 0;
    messages.push(...convert(message, dialect, goesOn, searched));
    const marker = markers.get(index);
    const marked = messages.at(-1);
    // A message that came to nothing leaves its marker to the one before it.
    if (marker !== undefined && marked !== undefined) messages[messages.length - 1] = withMarker(marked, marker);
  }
  const announce = request.announce ?? '';
  if (messages[0]?.role !== 'user') messages.unshift(userText('(The conversation goes on.)'));
  if (!goesOn) {
    if (!isBlank(announce)) messages.push(userText(announce));
    else if (messages.at(-1)?.role === 'assistant') messages.push(userText('(Go on.)'));
  }
  const text = systemText(request);
  if (isBlank(text)) return messages;
  const system: LanguageModelV4Message = { role: 'system', content: text.toWellFormed() };
  const marker = markers.get(-1);
  return [marker === undefined ? system : withMarker(system, marker), ...messages];
}

type Marker = SharedV4ProviderOptions;

const SHORT: Marker = { anthropic: { cacheControl: { type: 'ephemeral' } } };
const LONG: Marker = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } };

/** By the index of the message that a marker stands on; -1 is before all of them. Only Anthropic wants to be told. */
function markersOf({ checkpoints = [] }: ModelRequest, dialect: Dialect): ReadonlyMap<number, Marker> {
  if (dialect.key !== 'anthropic') return NO_MARKERS;
  return new Map(checkpoints.map(({ message = -1, long }) => [message, long ? LONG : SHORT]));
}

const NO_MARKERS: ReadonlyMap<number, Marker> = new Map();

/** The marker of the place before all messages, for the last tool, where there are no instructions that could have it. */
export function toolMarker(request: ModelRequest, dialect: Dialect): Marker | undefined {
  return isBlank(systemText(request)) ? markersOf(request, dialect).get(-1) : undefined;
}

/** The provider's package puts it on the message's last block. */
function withMarker(message: LanguageModelV4Message, marker: Marker): LanguageModelV4Message {
  return { ...message, providerOptions: { ...message.providerOptions, ...marker } };
}

function convert(
  message: Message,
  dialect: Dialect,
  goesOn: boolean,
  searched: ReadonlySet<string>,
): LanguageModelV4Message[] {
  switch (message.role) {
    case 'user': {
      const content = message.content.flatMap((part) => userPart(part, dialect));
      return content.length === 0 ? [] : [{ role: 'user', content }];
    }
    case 'assistant': {
      const content = assistantParts(message.content, dialect, goesOn, searched);
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
    case 'tool':
      return toolMessages(message.results, dialect);
  }
}

function userText(text: string): LanguageModelV4Message {
  return { role: 'user', content: [textPart(text)] };
}

function textPart(text: string): LanguageModelV4TextPart {
  return { type: 'text', text: text.toWellFormed() };
}

function userPart(part: Part, dialect: Dialect): UserPart[] {
  if (part.type === 'text') return isBlank(part.text) ? [] : [textPart(part.text)];
  return [filePart(part, dialect)];
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────────────────────

const READABLE = /^text\/|^application\/(json|xml|yaml|x-yaml|toml|javascript)$|\+(json|xml)$/;

/** The file, or its text, or a sentence that names it: a provider refuses the whole request for one file it cannot read. */
function filePart(file: FilePart, dialect: Dialect): UserPart {
  const { mediaType, name, data, url } = file;
  const label = name === undefined ? mediaType : `${name} (${mediaType})`;
  if (data !== undefined && READABLE.test(mediaType)) {
    return textPart(`[file ${label}]\n${Buffer.from(data, 'base64').toString('utf8')}`);
  }
  const filename = name === undefined ? {} : { filename: name };
  if (dialect.accepts(file)) {
    if (data !== undefined && data !== '')
      return { type: 'file', mediaType, ...filename, data: { type: 'data', data } };
    if (url !== undefined && URL.canParse(url))
      return { type: 'file', mediaType, ...filename, data: { type: 'url', url: new URL(url) } };
  }
  if (url !== undefined) return textPart(`[file ${label}: ${url}]`);
  return textPart(
    file.ref === undefined ? `[file ${label}: this model cannot read it]` : `[file ${label}: kept as ${file.ref}]`,
  );
}

// ── What the model said ──────────────────────────────────────────────────────────────────────────────────────────

function assistantParts(
  content: readonly AssistantBlock[],
  dialect: Dialect,
  goesOn: boolean,
  searched: ReadonlySet<string>,
): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const open = goesOn ? new Set<string>() : openCalls(content);
  const sealed = sealedItems(content, dialect);
  for (const block of content) {
    const part = assistantPart(stillSearched(block, dialect, searched), dialect, open, sealed);
    if (part !== undefined) parts.push(part);
  }
  // A thought with nothing after it is refused: it belongs to an answer that is not there.
  while (dialect.thinking === 'signed' && parts.at(-1)?.type === 'reasoning') parts.pop();
  // Plain thinking alone would be a message without content.
  return parts.every((part) => part.type === 'reasoning') ? [] : parts;
}

function assistantPart(
  block: AssistantBlock | undefined,
  dialect: Dialect,
  open: ReadonlySet<string>,
  sealed: ReadonlySet<string> | undefined,
): AssistantPart | undefined {
  switch (block?.type) {
    case undefined:
      return undefined;
    case 'text':
      return isBlank(block.text) ? undefined : { ...textPart(block.text), ...optionsOf(block.opaque) };
    case 'thinking':
      return reasoning(block, dialect, sealed);
    case 'action': {
      const { name, opaque } = block;
      const input = toJson(block.arguments); // half a character in an argument makes the whole body unreadable
      return { type: 'tool-call', toolCallId: dialect.wireId(block.id), toolName: name, input, ...optionsOf(opaque) };
    }
    case 'file': {
      if (!dialect.returnsFiles || block.file.type === 'text') return undefined;
      const part = filePart(block.file, dialect);
      return part.type === 'file' ? part : undefined;
    }
    case 'provider': {
      if (block.role === 'call' && block.call !== undefined && open.has(block.call)) return undefined;
      const part = providerPart(block, dialect);
      return part === undefined ? undefined : { ...part, ...optionsOf(block.opaque) };
    }
  }
}

function reasoning(
  { text, opaque }: Extract<AssistantBlock, { type: 'thinking' }>,
  dialect: Dialect,
  sealed: ReadonlySet<string> | undefined,
): LanguageModelV4ReasoningPart | undefined {
  const own = opaque?.[dialect.key];
  if (dialect.thinking === 'plain') return isBlank(text) ? undefined : { type: 'reasoning', text: text.toWellFormed() };
  if (!isObject(own)) return undefined;
  const item = own['itemId'];
  if (sealed !== undefined && typeof item === 'string' && !sealed.has(item)) return undefined;
  // Byte for byte: the signature covers the text.
  return { type: 'reasoning', text, ...optionsOf(opaque) };
}

/**
 * OpenAI's reasoning items that came with their content, encrypted. Treadle asks OpenAI to store nothing, so an item
 * without it is a reference to nothing. One item is several thoughts here, and one of them carries the content.
 */
function sealedItems(content: readonly AssistantBlock[], dialect: Dialect): ReadonlySet<string> | undefined {
  if (dialect.key !== 'openai' && dialect.key !== 'azure') return undefined;
  const sealed = new Set<string>();
  for (const block of content) {
    const own = block.type === 'thinking' ? block.opaque?.[dialect.key] : undefined;
    if (isObject(own) && typeof own['itemId'] === 'string' && typeof own['reasoningEncryptedContent'] === 'string') {
      sealed.add(own['itemId']);
    }
  }
  return sealed;
}

/** Calls of the provider's own tools without their result in the same message. */
function openCalls(content: readonly AssistantBlock[]): ReadonlySet<string> {
  const open = new Set<string>();
  for (const block of content) {
    if (block.type !== 'provider' || block.call === undefined) continue;
    if (block.role === 'call') open.add(block.call);
    else if (block.role === 'result') open.delete(block.call);
  }
  return open;
}

function optionsOf(opaque: JsonObject | undefined): { providerOptions?: SharedV4ProviderOptions } {
  if (opaque === undefined) return {};
  const groups = Object.entries(opaque).filter(([, value]) => isObject(value));
  return groups.length === 0 ? {} : { providerOptions: Object.fromEntries(groups) as SharedV4ProviderOptions }; // objects of JSON, just filtered
}

// ── Results ──────────────────────────────────────────────────────────────────────────────────────────────────────

function toolMessages(results: readonly ToolMessageResult[], dialect: Dialect): LanguageModelV4Message[] {
  if (results.length === 0) return [];
  const after: UserPart[] = [];
  const content = results.map((result): LanguageModelV4ToolResultPart => {
    const { id, name, observation, note } = result;
    const parts = observationParts(observation, note).flatMap((part) => userPart(part, dialect));
    const files = parts.filter((part) => part.type === 'file');
    if (files.length > 0 && dialect.resultFiles === 'after')
      after.push(textPart(`[files that ${name} returned]`), ...files);
    return {
      type: 'tool-result',
      toolCallId: dialect.wireId(id),
      toolName: name,
      output: output(parts, observation.outcome !== 'ok', dialect),
    };
  });
  const message: LanguageModelV4Message = { role: 'tool', content };
  return after.length === 0 ? [message] : [message, { role: 'user', content: after }];
}

function output(parts: readonly UserPart[], failed: boolean, dialect: Dialect): LanguageModelV4ToolResultOutput {
  const files = parts.filter((part) => part.type === 'file');
  if (files.length > 0 && dialect.resultFiles === 'inside') return { type: 'content', value: [...parts] };
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (files.length > 0) texts.push('[files: see the next message]');
  const value = texts.join('\n');
  return { type: failed && dialect.failures === 'marked' ? 'error-text' : 'text', value };
}

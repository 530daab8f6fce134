import { canonicalJson, isObject, toJson, tryParseJson, type Json, type JsonObject } from '../../base/json.ts';
import type { FilePart, Part } from '../../domain/content.ts';
import { plainText } from '../../domain/plain-text.ts';
import type { ToolReturn } from '../../kernel/running-tool.ts';
import { toolFailure, toolResult } from '../../kernel/tool.ts';
import { checkOf } from './remote-tool.ts';

/** A result as a server may send it: read with suspicion. */
export interface RemoteResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

/**
 * What a server answered, as a tool returns it: each payload once, in its native form.
 *
 * Servers say structured results a second time as text, and files a second time as base64 inside the structure; both are
 * left out. A result that is not what the tool declares is a failure that shows it.
 */
export function returned(result: RemoteResult, outputSchema: JsonObject | undefined): ToolReturn {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const parts = blocks.flatMap(partsOf);
  if (result.isError === true) {
    const said = plainText(parts).trim();
    const structured = result.structuredContent === undefined ? '' : canonicalJson(toJson(result.structuredContent));
    return toolFailure('remote_error', said || structured || 'the server says that it failed, and not why');
  }
  if (result.structuredContent === undefined) {
    return parts.length === 0 ? toolResult({ value: null }) : toolResult({ content: parts });
  }
  const whole = toJson(result.structuredContent);
  const problems = outputSchema === undefined ? [] : checkOf(outputSchema)(whole);
  if (problems.length > 0) {
    return toolFailure(
      'bad_output',
      `The tool ran and returned something else than it declares: ${problems.join('; ')}`,
    );
  }
  const files = parts.filter((part) => part.type === 'file');
  const value = withoutFiles(whole, files);
  const content = parts.filter((part) => part.type !== 'text' || !says(part.text, whole));
  return toolResult({ value, ...(content.length === 0 ? {} : { content }) });
}

/** True when a text is the same value, written as JSON. */
function says(text: string, value: Json): boolean {
  if (typeof value === 'string' && text === value) return true;
  const parsed = tryParseJson(text);
  return parsed.ok && canonicalJson(parsed.value) === canonicalJson(value);
}

function withoutFiles(value: Json, files: readonly FilePart[]): Json {
  if (files.length === 0) return value;
  if (typeof value === 'string') {
    const file = files.find(({ data }) => data !== undefined && data.length > 64 && value.includes(data));
    return file === undefined ? value : `[the ${file.mediaType} file of this result]`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => withoutFiles(item, files));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutFiles(item, files)]));
}

function partsOf(block: unknown): readonly Part[] {
  if (!isObject(block)) return [];
  const { type, text, data, mimeType } = block;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? [{ type: 'text', text }] : [];
    case 'image':
    case 'audio':
      return [fileOf(data, mimeType, type === 'image' ? 'image/png' : 'audio/wav', undefined)];
    case 'resource':
      return isObject(block['resource']) ? [resourcePart(block['resource'])] : [];
    case 'resource_link':
      return [note(linkText(block))];
    default:
      return [note(`content of type ${JSON.stringify(type)}, which cannot be shown`)];
  }
}

/** The contents of a resource: as text where it is text, whatever way it was sent. */
export function resourcePart({ uri, mimeType, text, blob }: Record<string, unknown>): Part {
  const name = typeof uri === 'string' ? uri : undefined;
  if (typeof text === 'string')
    return { type: 'text', text: name === undefined ? text : `[resource ${name}]\n${text}` };
  const media = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
  if (typeof blob === 'string' && READABLE.test(media)) {
    // As text it falls under the size policy of texts.
    const decoded = Buffer.from(blob, 'base64').toString('utf8');
    return { type: 'text', text: `[resource ${name ?? media}]\n${decoded}` };
  }
  return fileOf(blob, media, media, name);
}

const READABLE = /^text\/|^application\/(json|xml|yaml|x-yaml|toml|javascript)\b|\+(json|xml)\b/;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function fileOf(data: unknown, mimeType: unknown, fallback: string, name: string | undefined): Part {
  const declared = typeof mimeType === 'string' ? MEDIA_TYPE.exec(mimeType)?.[0] : undefined;
  const mediaType = declared ?? fallback;
  const plain = typeof data === 'string' ? data.replace(/\s+/g, '') : '';
  if (!BASE64.test(plain)) return note(`a file of type ${mediaType} that is empty or not base64`);
  return { type: 'file', mediaType, ...(name === undefined ? {} : { name }), data: plain };
}

function linkText({ uri, name, title, description, mimeType }: Record<string, unknown>): string {
  const words = [title ?? name, mimeType, description].filter((one): one is string => typeof one === 'string');
  return `a link to the resource ${typeof uri === 'string' ? uri : '(without a URI)'}${words.length === 0 ? '' : `: ${words.join(', ')}`}`;
}

function note(text: string): Part {
  return { type: 'text', text: `[${text}]` };
}

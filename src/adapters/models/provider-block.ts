import type {
  LanguageModelV4CustomPart,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isObject, toJson, tryParseJson, type Json, type JsonObject } from '../../base/json.ts';
import type { Block } from '../../domain/model.ts';
import type { Dialect } from './dialect.ts';

export type ProviderBlock = Extract<Block, { type: 'provider' }>;

type Foreign = Extract<
  LanguageModelV4StreamPart,
  { type: 'tool-call' | 'tool-result' | 'tool-approval-request' | 'source' | 'custom' | 'reasoning-file' }
>;

/** What only the provider understands, as a block that keeps everything it needs to go back. */
export function providerBlock(part: Foreign, key: string): ProviderBlock {
  const kind = part.type === 'custom' ? part.kind : `${key}.${part.type}`;
  const opaque = opaqueOf(part.providerMetadata);
  const block = { type: 'provider' as const, kind, ...(opaque !== undefined && { opaque }) };
  switch (part.type) {
    case 'tool-call': {
      const parsed = tryParseJson(part.input);
      const input: Json = parsed.ok ? parsed.value : part.input;
      return { ...block, role: 'call', call: part.toolCallId, data: { name: part.toolName, input } };
    }
    case 'tool-result': {
      const data: Json = { name: part.toolName, result: toJson(part.result), failed: part.isError === true };
      return { ...block, role: 'result', call: part.toolCallId, data };
    }
    case 'tool-approval-request':
      return { ...block, role: 'other', call: part.toolCallId, data: { approval: part.approvalId } };
    case 'source':
    case 'reasoning-file': {
      const { type: _, providerMetadata: __, ...data } = part;
      return { ...block, role: 'other', data: toJson(data) };
    }
    case 'custom':
      return { ...block, role: 'other', data: null };
  }
}

/** The block as the provider that made it wants it back; undefined for anybody else, and for what is not said twice. */
export function providerPart(
  { kind, role, call, data, opaque }: ProviderBlock,
  { key }: Dialect,
): LanguageModelV4ToolCallPart | LanguageModelV4ToolResultPart | LanguageModelV4CustomPart | undefined {
  if (!kind.startsWith(`${key}.`)) return undefined;
  const shape = kind.slice(key.length + 1);
  if (shape === 'tool-call' && call !== undefined && isObject(data)) {
    const { name, input } = data;
    if (typeof name !== 'string') return undefined;
    return { type: 'tool-call', toolCallId: call, toolName: name, input, providerExecuted: true };
  }
  if (shape === 'tool-result' && call !== undefined && isObject(data)) {
    const { name, failed } = data;
    if (typeof name !== 'string') return undefined;
    const value = data['result'] as Extract<LanguageModelV4ToolResultPart['output'], { type: 'json' }>['value']; // JSON as it came
    const type = failed === true ? 'error-json' : 'json';
    return { type: 'tool-result', toolCallId: call, toolName: name, output: { type, value } };
  }
  const known = shape === 'source' || shape === 'reasoning-file' || shape === 'tool-approval-request';
  if (role !== 'other' || known || opaque === undefined) return undefined;
  return { type: 'custom', kind: kind as LanguageModelV4CustomPart['kind'] }; // it begins with `key.`
}

/** Metadata that says something, as plain JSON. */
export function opaqueOf(metadata: SharedV4ProviderMetadata | undefined): JsonObject | undefined {
  if (metadata === undefined) return undefined;
  const groups = Object.entries(metadata).filter(([, group]) => Object.keys(group).length > 0);
  return groups.length === 0 ? undefined : (toJson(Object.fromEntries(groups)) as JsonObject); // an object stays one
}

import type { Json, JsonObject } from '../../src/base/json.ts';
import type { Message, ModelPart, ModelRequest, ToolMessageResult } from '../../src/domain/model.ts';
import type { Observation, ToolDefinition } from '../../src/domain/tool.ts';
import type { ModelStream } from '../../src/kernel/model.ts';

/** Every part of a stream, in order. */
export async function collect(stream: ModelStream, parts: ModelPart[] = []): Promise<ModelPart[]> {
  for (;;) {
    const part = await stream.next();
    if (part === undefined) return parts;
    parts.push(part);
  }
}

/** The text of the answer: thinking and arguments are not part of it. */
export function textOf(parts: readonly ModelPart[]): string {
  return deltasOf(parts, 'text');
}

export function thinkingOf(parts: readonly ModelPart[]): string {
  return deltasOf(parts, 'thinking');
}

function deltasOf(parts: readonly ModelPart[], kind: 'text' | 'thinking'): string {
  const wanted = new Set<string>();
  let text = '';
  for (const part of parts) {
    if (part.type === 'start' && part.kind === kind) wanted.add(part.part);
    else if (part.type === 'delta' && wanted.has(part.part)) text += part.delta;
  }
  return text;
}

/** Whole actions, arguments parsed. */
export function actionsOf(parts: readonly ModelPart[]): { name: string; arguments: unknown }[] {
  return parts.flatMap((part) =>
    part.type === 'action'
      ? [{ name: part.name, arguments: part.input === '' ? '' : (JSON.parse(part.input) as unknown) }]
      : [],
  );
}

export function aRequest(changes: Partial<ModelRequest>): ModelRequest {
  return {
    model: { provider: 'scripted', model: 'script' },
    instructions: '',
    tools: [],
    messages: [],
    announce: undefined,
    toolChoice: undefined,
    ...changes,
  };
}

export function aTool(name: string, inputSchema: JsonObject = { type: 'object', properties: {} }): ToolDefinition {
  return { name, description: `The tool ${name}.`, inputSchema, effect: 'read', group: 'test' };
}

export function said(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

export function spoke(text: string): Message {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}

export function ok(value: Json): Observation {
  return { outcome: 'ok', value };
}

export function failed(code: string, message: string): Observation {
  return { outcome: 'failed', error: { code, message } };
}

/** One action and its result. */
export function used(name: string, args: JsonObject, observation: Observation, id = 't1-1-1'): readonly Message[] {
  return [
    { role: 'assistant', content: [{ type: 'action', id, name, arguments: args }] },
    { role: 'tool', results: [{ id, name, observation } satisfies ToolMessageResult] },
  ];
}

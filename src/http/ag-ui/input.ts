import type { ContentPart, Message, RunAgentInput, UserMessage } from '@ag-ui/core';
import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import type { Part } from '../../domain/content.ts';
import { Refusal } from '../refusal.ts';

/** Something the person said, under the id that the page gave it. */
export interface Said {
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly Part[];
}

/** What a page sends. Throws `invalid_request`. */
export function parseInput(body: unknown): RunAgentInput {
  const parsed = RunAgentInputSchema.safeParse(body);
  // Its optional fields may be there and undefined, which the type does not say and nothing here minds.
  if (parsed.success) return parsed.data as RunAgentInput;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw new Refusal('invalid_request', `${field}: ${issue?.message ?? 'does not fit'}`, { field, status: 422 });
}

/** What was said since the agent last spoke: a page sends the whole conversation each time, and we have the rest. */
export function newMessages(messages: readonly Message[]): readonly Said[] {
  const after = messages.findLastIndex((one) => one.role === 'assistant' || one.role === 'tool');
  return messages.slice(after + 1).flatMap((one) => (one.role === 'user' ? [saidIn(one)] : []));
}

/** What a page shows already. Ids are those of entries, where it has them from us. */
export interface Shown {
  readonly messages: readonly string[];
  readonly calls: readonly string[];
  /** Calls whose result it shows. */
  readonly results: readonly string[];
  /** What its person said: the page has ids of its own for that. */
  readonly texts: readonly string[];
}

export function shownBy(messages: readonly Message[]): Shown {
  const of = <R extends Message['role']>(role: R): readonly Extract<Message, { role: R }>[] =>
    messages.filter((one): one is Extract<Message, { role: R }> => one.role === role);
  return {
    messages: messages.map(({ id }) => id),
    calls: of('assistant').flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)),
    results: of('tool').map(({ toolCallId }) => toolCallId),
    texts: of('user').map((one) => saidIn(one).text),
  };
}

function saidIn({ id, content }: UserMessage): Said {
  if (typeof content === 'string') return { id, text: content, attachments: [] };
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  return { id, text, attachments: content.flatMap((part) => attachmentIn(part)) };
}

function attachmentIn(part: ContentPart): Part[] {
  if (part.type === 'text') return [];
  const { source } = part;
  const mediaType = source.mimeType ?? 'application/octet-stream';
  switch (source.type) {
    case 'data':
      return [{ type: 'file', mediaType, data: source.value }];
    case 'url':
      return [{ type: 'file', mediaType, url: source.value }];
    case 'file':
      throw new Refusal('input_invalid', 'A file that lies with a provider cannot be read from here.');
  }
}

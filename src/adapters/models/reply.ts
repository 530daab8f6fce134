import { canonicalJson } from '../../base/json.ts';
import type { ModelFailure, ModelPart } from '../../domain/model.ts';
import type { Usage } from '../../domain/usage.ts';
import type { Fault, Reply } from './script.ts';

/** A reply laid out as the parts of a stream. Immutable: one is shared by all calls that get it. */
export interface CompiledReply {
  /** Everything that arrives before the end, whatever the end is. */
  readonly parts: readonly ModelPart[];
  readonly end: 'finish' | 'cut' | 'hang' | ModelFailure;
  readonly reply: Reply;
  /** Characters of text and arguments, and of thinking, in `parts` as a whole. */
  readonly spoken: number;
  readonly thought: number;
}

/** Lays a reply out: thinking, text, then actions. `chunk` is the size of a piece where the reply does not say. */
export function compileReply(reply: Reply, chunk: number | undefined): CompiledReply {
  const size = typeof reply.chunks === 'number' ? reply.chunks : chunk;
  const parts: ModelPart[] = [];
  const thinking = typeof reply.thinking === 'string' ? reply.thinking : (reply.thinking?.text ?? '');
  if (reply.thinking !== undefined) {
    parts.push({ type: 'start', kind: 'thinking', part: 'thinking' });
    pushDeltas(parts, 'thinking', thinking, size);
    const opaque = typeof reply.thinking === 'object' ? reply.thinking.opaque : undefined;
    parts.push(opaque === undefined ? { type: 'end', part: 'thinking' } : { type: 'end', part: 'thinking', opaque });
  }
  const pieces = Array.isArray(reply.chunks) ? reply.chunks : undefined;
  let spoken = 0;
  if (pieces !== undefined || reply.text !== undefined) {
    const text = pieces?.join('') ?? reply.text ?? '';
    spoken += text.length;
    parts.push({ type: 'start', kind: 'text', part: 'text' });
    if (pieces === undefined) pushDeltas(parts, 'text', text, size);
    else for (const delta of pieces) parts.push({ type: 'delta', part: 'text', delta });
    parts.push({ type: 'end', part: 'text' });
  }
  for (const [index, action] of (reply.actions ?? []).entries()) {
    const part = action.id ?? `call_${index + 1}`;
    const input = action.input ?? canonicalJson(action.arguments ?? {});
    spoken += input.length;
    parts.push({ type: 'start', kind: 'action', part, name: action.name });
    pushDeltas(parts, part, input, size);
    parts.push({ type: 'action', part, name: action.name, input });
  }
  const at = reply.fault === undefined ? undefined : (reply.at ?? (reply.fault === 'cut' ? undefined : 0));
  return {
    parts: at === undefined ? parts : parts.slice(0, at),
    end: endOf(reply),
    reply,
    spoken,
    thought: thinking.length,
  };
}

/** The last part of an answer that is whole. */
export function finishOf({ reply }: CompiledReply, usage: Usage): ModelPart {
  const stop = reply.stop ?? ((reply.actions ?? []).length > 0 ? 'actions' : 'finished');
  return reply.raw === undefined ? { type: 'finish', stop, usage } : { type: 'finish', stop, raw: reply.raw, usage };
}

const FAILURES: Readonly<Partial<Record<Fault, { readonly message: string; readonly status?: number }>>> = {
  garbage: { message: 'The server sent something that is not JSON.' },
  auth: { message: 'The API key is not accepted.', status: 401 },
  bad_request: { message: 'The request is malformed.', status: 400 },
  not_found: { message: 'There is no such model.', status: 404 },
  context_length: { message: 'The prompt is too long.', status: 400 },
  rate_limit: { message: 'Too many requests.', status: 429 },
  overloaded: { message: 'The model is overloaded.', status: 529 },
  server: { message: 'The server failed.', status: 500 },
  network: { message: 'The connection was reset.' },
};

function endOf({ fault, retryAfterMs }: Reply): CompiledReply['end'] {
  if (fault === undefined) return 'finish';
  if (fault === 'cut' || fault === 'hang') return fault;
  const known = FAILURES[fault] ?? { message: `The script says: ${fault}.` };
  return {
    class: fault === 'garbage' ? 'protocol' : fault,
    ...known,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Cuts at `size` UTF-16 units, never inside a surrogate pair. */
function pushDeltas(parts: ModelPart[], part: string, text: string, size = Infinity): void {
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + size);
    const last = text.charCodeAt(to - 1);
    if (last >= 0xd800 && last <= 0xdbff && to < text.length) to += 1;
    parts.push({ type: 'delta', part, delta: text.slice(from, to) });
    from = to;
  }
}

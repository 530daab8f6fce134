import {
  InvalidResponseDataError,
  type LanguageModelV4File,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type LanguageModelV4ToolCall,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isObject, tryParseJson, type Json, type JsonObject } from '../../base/json.ts';
import type { FilePart } from '../../domain/content.ts';
import type { ModelFailure, ModelPart } from '../../domain/model.ts';
import type { StopKind } from '../../domain/status.ts';
import { outputTokens } from '../../domain/usage-sum.ts';
import { billedUsage } from './billed-usage.ts';
import { opaqueOf, providerBlock } from './provider-block.ts';
import { SearchCount } from './web-search.ts';

type WirePart = LanguageModelV4StreamPart;
type Finish = Extract<WirePart, { type: 'finish' }>;

export interface PartsOptions {
  /** The provider's key, before the dot of what only it understands. */
  readonly key: string;
  readonly maxTokens: number | undefined;
  readonly failureOf: (error: unknown) => ModelFailure;
}

/** What is being spoken: a block that was begun and whose end has not come. */
interface Open {
  opaque: JsonObject | undefined;
  /** Half of a surrogate pair whose other half comes with the next piece. */
  half: string;
}

/**
 * Turns the parts of an AI SDK stream into ours, one stream each.
 *
 * Packages close what is open when a connection breaks, so that a call that was cut looks like one that is whole. A call
 * is therefore handed on when something follows that only a living stream says, or when the answer is finished.
 */
export class Parts {
  readonly #options: PartsOptions;
  readonly #open = new Map<string, Open>();
  /** Calls that nothing has vouched for yet. */
  readonly #held: ModelPart[] = [];
  readonly #inputs: string[] = [];
  readonly #searches = new SearchCount();
  #spoke = false;
  #served = '';
  #done = false;

  constructor(options: PartsOptions) {
    this.#options = options;
  }

  /** Nothing more comes of this stream: it is finished, failed or cut. */
  get done(): boolean {
    return this.#done;
  }

  /** Adds what `part` means to `out`. */
  take(part: WirePart, out: ModelPart[]): void {
    if (this.#done) return;
    if (this.#held.length > 0 && VOUCHES.has(part.type)) out.push(...this.#held.splice(0));
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const kind = part.type === 'text-start' ? 'text' : 'thinking';
        this.#open.set(part.id, { opaque: opaqueOf(part.providerMetadata), half: '' });
        out.push({ type: 'start', kind, part: part.id });
        return;
      }
      case 'tool-input-start':
        if (part.providerExecuted === true) return;
        this.#open.set(part.id, { opaque: opaqueOf(part.providerMetadata), half: '' });
        out.push({ type: 'start', kind: 'action', part: part.id, name: part.toolName });
        return;
      case 'text-delta':
      case 'reasoning-delta':
      case 'tool-input-delta':
        this.#delta(part.id, part.delta, part.providerMetadata, out);
        if (part.type === 'text-delta' && part.delta !== '') this.#spoke = true;
        return;
      case 'text-end':
      case 'reasoning-end':
        this.#end(part.id, part.providerMetadata, out);
        return;
      case 'tool-call':
        this.#call(part, out);
        return;
      case 'tool-result':
        if (part.preliminary === true) return;
        if (part.isError !== true) this.#searches.result(part.toolName, part.result);
        out.push({ type: 'block', block: providerBlock(part, this.#options.key) });
        return;
      case 'custom':
        // Anthropic's package repeats what `response-metadata` says.
        if (part.kind === 'anthropic.message_start') return;
        out.push({ type: 'block', block: providerBlock(part, this.#options.key) });
        return;
      case 'tool-approval-request':
      case 'source':
      case 'reasoning-file':
        out.push({ type: 'block', block: providerBlock(part, this.#options.key) });
        return;
      case 'file':
        this.#spoke = true;
        out.push({ type: 'block', block: { type: 'file', file: filePart(part) } });
        return;
      case 'response-metadata':
        this.#serve(part.modelId, part.id, out);
        return;
      case 'finish':
        this.#finish(part, out);
        return;
      case 'error':
        this.#done = true;
        // This is how the Chat Completions package says that the connection broke.
        if (InvalidResponseDataError.isInstance(part.error) && part.error.data === undefined) return;
        out.push({ type: 'failure', failure: this.#options.failureOf(part.error) });
        return;
      case 'stream-start':
      case 'tool-input-end':
      case 'raw':
      case 'ping':
        return;
    }
  }

  #delta(id: string, delta: string, metadata: SharedV4ProviderMetadata | undefined, out: ModelPart[]): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.opaque = merge(open.opaque, opaqueOf(metadata));
    let text = open.half + delta;
    open.half = '';
    if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
      open.half = text.slice(-1);
      text = text.slice(0, -1);
    }
    if (text !== '') out.push({ type: 'delta', part: id, delta: text });
  }

  #end(id: string, metadata: SharedV4ProviderMetadata | undefined, out: ModelPart[]): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    if (open.half !== '') out.push({ type: 'delta', part: id, delta: open.half });
    const opaque = merge(open.opaque, opaqueOf(metadata));
    out.push(opaque === undefined ? { type: 'end', part: id } : { type: 'end', part: id, opaque });
  }

  #call(part: LanguageModelV4ToolCall, out: ModelPart[]): void {
    if (part.providerExecuted === true) {
      out.push(...this.#held.splice(0), { type: 'block', block: providerBlock(part, this.#options.key) });
      return;
    }
    const opaque = merge(this.#open.get(part.toolCallId)?.opaque, opaqueOf(part.providerMetadata));
    this.#open.delete(part.toolCallId);
    this.#inputs.push(part.input);
    const action = { type: 'action' as const, part: part.toolCallId, name: part.toolName, input: part.input };
    this.#held.push(opaque === undefined ? action : { ...action, opaque });
  }

  #serve(model: string | undefined, id: string | undefined, out: ModelPart[]): void {
    const served = `${model ?? ''} ${id ?? ''}`;
    if (served === ' ' || served === this.#served) return;
    this.#served = served;
    out.push({ type: 'served', ...(model !== undefined && { model }), ...(id !== undefined && { id }) });
  }

  #finish({ finishReason, usage: wireUsage, providerMetadata }: Finish, out: ModelPart[]): void {
    this.#done = true;
    const { unified, raw } = finishReason;
    // The package's word for a stream that broke: the provider said nothing, so neither do we.
    if (unified === 'interrupted') return;
    if (unified === 'error') {
      out.push(protocol(`The provider stopped with ${raw ?? 'an error'}.`));
      return;
    }
    this.#searches.grounding(providerMetadata);
    const searches = this.#searches.of(wireUsage);
    const usage = { ...billedUsage(wireUsage), ...(searches !== undefined && { searches }) };
    const stop = this.#stop(finishReason, outputTokens(usage));
    if (stop === undefined) {
      out.push(protocol('The provider said that it calls tools and called none.'));
      return;
    }
    out.push(...this.#held.splice(0));
    const opaque = lean(opaqueOf(providerMetadata));
    out.push({
      type: 'finish',
      stop,
      usage,
      ...(raw !== undefined && { raw }),
      ...(opaque !== undefined && { opaque }),
    });
  }

  /** The finish reason, where the answer does not contradict it. Undefined: it announces something that is not there. */
  #stop(reason: LanguageModelV4FinishReason, spent: number): StopKind | undefined {
    const acts = this.#inputs.length > 0;
    const stop = stopKind(reason);
    if (stop !== 'finished' && stop !== 'actions') return stop;
    // Some servers say “tool calls” or “stop” when they ran out of tokens in the middle of the arguments.
    const { maxTokens } = this.#options;
    if (maxTokens !== undefined && spent >= maxTokens && this.#inputs.some(isUnterminated)) return 'length';
    if (acts) return 'actions';
    if (stop === 'finished') return stop;
    return this.#spoke ? 'unknown' : undefined;
  }
}

function protocol(message: string): ModelPart {
  return { type: 'failure', failure: { class: 'protocol', message } };
}

/** Only a stream that goes on says these; the rest is also said when a package tidies up. */
const VOUCHES: ReadonlySet<WirePart['type']> = new Set([
  'text-start',
  'text-delta',
  'reasoning-start',
  'reasoning-delta',
  'tool-input-start',
  'tool-input-delta',
  'tool-result',
  'custom',
  'file',
  'reasoning-file',
]);

function stopKind({ unified, raw }: LanguageModelV4FinishReason): StopKind {
  // Anthropic asks to be called again: its own tool, or its compaction, is not through.
  if (raw === 'pause_turn' || raw === 'compaction') return 'paused';
  switch (unified) {
    case 'stop':
      return 'finished';
    case 'tool-calls':
      return 'actions';
    case 'length':
      return 'length';
    case 'content-filter':
      // Anthropic says `refusal`. OpenAI ends a refusal like any answer and marks the text, which leaves `stop` or nothing.
      return raw === 'refusal' || raw === 'stop' || raw === undefined ? 'refused' : 'filtered';
    case 'error':
    case 'interrupted':
    case 'other':
      return 'unknown';
  }
}

function isUnterminated(input: string): boolean {
  return input.trim() !== '' && !tryParseJson(input).ok;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function merge(left: JsonObject | undefined, right: JsonObject | undefined): JsonObject | undefined {
  if (left === undefined || right === undefined) return right ?? left;
  const merged: Record<string, Json> = { ...left };
  for (const [key, group] of Object.entries(right)) {
    const known = merged[key];
    merged[key] = isObject(known) && isObject(group) ? { ...known, ...group } : group;
  }
  return merged;
}

/** Figures that usage holds already and the log would keep twice. */
const REPEATED = new Set(['usage', 'usageMetadata', 'iterations', 'logprobs']);

function lean(opaque: JsonObject | undefined): JsonObject | undefined {
  const groups = Object.entries(opaque ?? {}).flatMap(([key, group]): [string, Json][] => {
    if (!isObject(group)) return [];
    const kept = Object.entries(group).filter(([name, value]) => value !== null && !REPEATED.has(name));
    return kept.length === 0 ? [] : [[key, Object.fromEntries(kept)]];
  });
  return groups.length === 0 ? undefined : Object.fromEntries(groups);
}

function filePart({ mediaType, data }: LanguageModelV4File): FilePart {
  if (data.type === 'url') return { type: 'file', mediaType, url: data.url.href };
  const base64 = typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
  return { type: 'file', mediaType, data: base64 };
}

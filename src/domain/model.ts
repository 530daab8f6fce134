import { z } from 'zod';
import type { JsonObject } from '../base/json.ts';
import { json, part } from './content.ts';
import type { ModelRef, ToolChoice } from './agent.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Part } from './content.ts';
import type { StopKind } from './status.ts';
import type { Observation, ToolDefinition } from './tool.ts';
import type { Usage } from './usage.ts';

/**
 * What a provider gave with a block and wants back unchanged, such as a signature. Ours to keep, not to read: it goes
 * out whole, to the same provider and model, or not at all.
 */
export const opaque = z.record(z.string(), json);

/** A block of an answer, in the order the model spoke. */
export const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string(), opaque: opaque.optional() }),
  /** The `step`-th `thinking.step` of this call, counted from 0; the text is stored there and only there. */
  z.strictObject({ type: z.literal('thinking'), step: z.number().int() }),
  z.strictObject({
    type: z.literal('action'),
    /** Ours, unique in the conversation: `t2-3-1` is turn 2, iteration 3, first action. */
    id: z.string(),
    name: z.string(),
    /** The arguments as the model wrote them: text that is meant to be a JSON object. */
    input: z.string(),
    /** What the provider called it. Data: providers repeat ids. */
    providerId: z.string().optional(),
    opaque: opaque.optional(),
  }),
  /** A file that the model made. */
  z.strictObject({ type: z.literal('file'), file: part }),
  /** Something only the provider understands: its own tools' calls and results, sources, compaction. `call` pairs the two halves. */
  z.strictObject({
    type: z.literal('provider'),
    kind: z.string(),
    role: z.enum(['call', 'result', 'other']),
    call: z.string().optional(),
    data: json,
    opaque: opaque.optional(),
  }),
]);
export type Block = z.infer<typeof block>;
export type ActionBlock = Extract<Block, { type: 'action' }>;

/** Why a call failed: decides whether the same call, the next model, or nobody is tried. */
export const FAILURE_CLASSES = [
  'auth',
  'bad_request',
  'not_found',
  'context_length',
  'rate_limit',
  'overloaded',
  'server',
  'network',
  'timeout',
  'incomplete',
  'protocol',
  'aborted',
  'unknown',
] as const;

export const failure = z.strictObject({
  class: z.enum(FAILURE_CLASSES),
  message: z.string(),
  /** HTTP status, where there was one. */
  status: z.number().int().optional(),
  /** What the provider asked us to wait, from its Retry-After. */
  retryAfterMs: z.number().optional(),
});
export type ModelFailure = z.infer<typeof failure>;

/** A piece of an answer as it arrives. A block is complete at its `end`; what is only begun is not part of the answer. */
export type ModelPart =
  | { readonly type: 'start'; readonly kind: 'text' | 'thinking'; readonly part: string }
  | { readonly type: 'start'; readonly kind: 'action'; readonly part: string; readonly name: string }
  | { readonly type: 'delta'; readonly part: string; readonly delta: string }
  | { readonly type: 'end'; readonly part: string; readonly opaque?: JsonObject }
  /** A whole action: `input` replaces what the deltas said. */
  | {
      readonly type: 'action';
      readonly part: string;
      readonly name: string;
      readonly input: string;
      readonly opaque?: JsonObject;
    }
  | { readonly type: 'block'; readonly block: Extract<Block, { type: 'file' | 'provider' }> }
  | { readonly type: 'served'; readonly model?: string; readonly id?: string }
  /** The provider said that it is done. An answer without it is cut. */
  | {
      readonly type: 'finish';
      readonly stop: StopKind;
      readonly raw?: string;
      readonly usage: Usage;
      readonly opaque?: JsonObject;
    }
  /** Always the last part. */
  | { readonly type: 'failure'; readonly failure: ModelFailure };

/** A block of an answer as it goes back to a provider: thinking with its text in place. */
export type AssistantBlock =
  | Exclude<Block, { type: 'thinking' | 'action' }>
  | { readonly type: 'thinking'; readonly text: string; readonly opaque?: JsonObject }
  | {
      readonly type: 'action';
      readonly id: string;
      readonly name: string;
      readonly arguments: JsonObject;
      readonly opaque?: JsonObject;
    };

/** One message of the transcript, in no provider's format. `synthetic`: Treadle wrote it, nobody said it. */
export type Message =
  | { readonly role: 'user'; readonly content: readonly Part[]; readonly synthetic?: true }
  | { readonly role: 'assistant'; readonly content: readonly AssistantBlock[]; readonly synthetic?: true }
  /** Results of the actions of the assistant message before it, each exactly once, in the order asked. */
  | { readonly role: 'tool'; readonly results: readonly ToolMessageResult[] };

export interface ToolMessageResult {
  readonly id: string;
  readonly name: string;
  readonly observation: Observation;
  /** Something the model must know of the action itself, such as that a person changed its arguments. */
  readonly note?: string;
}

/**
 * Everything a model adapter needs for one call.
 *
 * `instructions`, `tools`, `gallery`, then `messages` is the cached order; `announce` comes last, after every cache marker,
 * and is never cached. Ids and tool names are safe for every provider (at most 64 of `A-Za-z0-9_-`).
 */
export interface ModelRequest {
  readonly model: ModelRef;
  readonly instructions: string;
  /** What follows the instructions in the same message: the lists of skills and services, and a plan that is put there. */
  readonly gallery?: string | undefined;
  readonly tools: readonly ToolDefinition[];
  readonly messages: readonly Message[];
  readonly announce: string | undefined;
  readonly toolChoice: ToolChoice | undefined;
  /** Names that may be called in this request; absent means all of `tools`. */
  readonly allowed?: readonly string[];
  /** Where a provider that wants to be told is asked to cache, in the order of the prompt. */
  readonly checkpoints?: readonly Checkpoint[];
  /** The answer must be one JSON object of this schema, where the provider can be told so. */
  readonly responseSchema?: JsonObject;
}

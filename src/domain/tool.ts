import { z } from 'zod';
import { sha256 } from '../base/digest.ts';
import { canonicalJson, type Json, type JsonObject } from '../base/json.ts';
import { json, part } from './content.ts';

/**
 * What happens to the world when a tool runs, and so what a crash in mid-run allows.
 *
 * `read`: nothing changes, run again. `idempotent`: running again with the same key changes nothing more. `once`: never
 * run again by itself; the default for anything that writes.
 */
export const EFFECTS = ['read', 'idempotent', 'once'] as const;
export const effect = z.enum(EFFECTS);
export type Effect = z.infer<typeof effect>;

export const approval = z.enum(['never', 'ask']);

const jsonObject = z.record(z.string(), json) as unknown as z.ZodType<JsonObject>; // zod's record is the same set, mutable

/** What the model is shown of a tool and what dispatch needs to know, as data: no functions, so it can be stored. */
export const toolDefinition = z.strictObject({
  /** At most 64 characters of `A-Za-z0-9_-`: what every provider accepts. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string(),
  /** JSON Schema (2020-12 unless `$schema` says otherwise) of an object. */
  inputSchema: jsonObject,
  effect,
  /** `ask`: a person is asked before every run. */
  approval: approval.optional(),
  /** Milliseconds after which the run is given up. Absent: the agent's limit. Zero: no deadline, for people and subagents. */
  timeoutMs: z.number().int().min(0).optional(),
  /** The tool may be called with the same arguments over and over, such as one that polls: no repeat guard. */
  repeatable: z.boolean().optional(),
  /** Not in the prompt from the start: the model finds it by a search, at the point where it needs it. */
  deferred: z.literal(true).optional(),
  /**
   * The model's provider does it while it answers, where its API has that: it is declared there and never dispatched here.
   * So no gate is asked, and who takes it out of a request has seen to it that it does not happen.
   */
  native: z
    .strictObject({
      kind: z.literal('web_search'),
      /** Most searches of one model call, where the provider can be told. */
      maxUses: z.number().int().min(1),
      sites: z.array(z.string()).optional(),
      notSites: z.array(z.string()).optional(),
    })
    .optional(),
  /** The group of the bundle that grants it. */
  group: z.string(),
  /** The MCP server that does it and what it is called there. Absent: it is done in this process. */
  remote: z.strictObject({ server: z.string(), name: z.string() }).optional(),
});

export type ToolDefinition = z.infer<typeof toolDefinition>;

/** True when a tool is described as it was: whoever allowed the one has allowed the other. */
export function isSameTool(one: ToolDefinition, other: ToolDefinition): boolean {
  return one === other || described(one) === described(other);
}

/** SHA-256 of how a tool is described: what a permission is bound to. */
export function toolDigest(tool: ToolDefinition): string {
  return sha256(described(tool));
}

function described({ name, description, inputSchema, effect, remote }: ToolDefinition): string {
  return canonicalJson({ name, description, inputSchema, effect, remote: (remote ?? null) as Json });
}

/** How an action came out. `unknown`: it was begun and nobody can say whether it happened. */
export const OUTCOMES = ['ok', 'failed', 'refused', 'invalid', 'cancelled', 'unknown'] as const;
export const outcome = z.enum(OUTCOMES);
export type Outcome = z.infer<typeof outcome>;

/**
 * The observation of one action, as stored and as the model is told.
 *
 * `value` is what the tool returned as JSON; `content` is what it returned as parts. `error` is present exactly when the
 * outcome is not `ok`. `ref` names the whole body in the log when what is here was cut to size.
 */
export const observation = z.strictObject({
  outcome,
  value: json.optional(),
  content: z.array(part).optional(),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  /** Bytes of the whole result before it was cut. Absent when nothing was cut. */
  size: z.number().int().optional(),
  ref: z.string().optional(),
  /** Treadle wrote this, not the tool: the action never ran or its result is lost. */
  synthetic: z.boolean().optional(),
});

export type Observation = z.infer<typeof observation>;

import { z } from 'zod';
import { shownSkill } from './skill.ts';
import { toolDefinition } from './tool.ts';

/** One way to reach a model. In a list, the next one is tried when the one before it cannot answer. */
export const modelRef = z.strictObject({
  provider: z.string().min(1),
  model: z.string().min(1),
  maxTokens: z.number().int().positive().optional(),
  temperature: z.number().optional(),
  /** How hard to think, where the provider has such a setting. */
  effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Tokens that fit into one call, input and output. */
  contextWindow: z.number().int().positive().optional(),
  /** Anything else the provider's adapter reads, such as `script` for the scripted model or `baseUrl` for a local one. */
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});
export type ModelRef = z.infer<typeof modelRef>;

export const toolChoiceMode = z.enum(['auto', 'required', 'none', 'tool']);

/** Whether the next call must use a tool. `name` is set exactly when the mode is `tool`. */
export const toolChoice = z.strictObject({ mode: toolChoiceMode, name: z.string().optional() });
export type ToolChoice = z.infer<typeof toolChoice>;

export const limits = z.strictObject({
  /** Model calls a turn; the call that would pass it is not made. */
  maxIterations: z.number().int().min(1),
  /** Actions of one decision that are carried out; the rest are told so. */
  maxActions: z.number().int().min(1),
  /** Actions that run at the same time. 1 is one after another. */
  maxConcurrent: z.number().int().min(1),
  /** Bad decisions, bad arguments and failed tools in a row that are told to the model before the turn ends. */
  maxFaults: z.number().int().min(0),
  /** Attempts at one model call, over all models of the chain. */
  maxAttempts: z.number().int().min(1),
  /** Times in a row that a provider may ask to be called again. */
  maxPauses: z.number().int().min(0),
  /** The same tool, arguments and result, so often in a row, is a loop. 0 switches the guard off. */
  maxRepeats: z.number().int().min(0),
  toolTimeoutMs: z.number().int().min(1),
  /** Milliseconds without a word from the model before the call is given up. */
  modelIdleMs: z.number().int().min(1),
  /** Bytes of one result that the model is shown. */
  maxResultBytes: z.number().int().min(256),
  /** Input tokens at which older turns are compacted. Absent: only when the provider says that it is too much. */
  contextMaxTokens: z.number().int().positive().optional(),
  /** Input tokens from which older turns are compacted when no cache holds the prompt any more. Absent: never for that. */
  contextColdTokens: z.number().int().positive().optional(),
  /** Ended turns that are shown; with one more, older ones are compacted. Absent: any number. */
  contextMaxTurns: z.number().int().min(1).optional(),
  /** Nobody can compact: a turn whose prompt has reached `contextMaxTokens` ends. */
  contextEnds: z.literal(true).optional(),
  /** Tokens of old results at which these are cleared out of the prompt, how many of the latest stay, and from which size on. Absent: none is cleared. */
  resultsMaxTokens: z.number().int().min(0).optional(),
  resultsKept: z.number().int().min(0).optional(),
  resultsLeastBytes: z.number().int().min(0).optional(),
  /** Child runs at work at the same time. Absent: it may not delegate. */
  maxSubagents: z.number().int().min(1).optional(),
});
export type Limits = z.infer<typeof limits>;

/** A tool of the grant that this turn does not have, and why, in a sentence for the model. */
export const inactiveTool = z.strictObject({ name: z.string(), why: z.string() });
export type InactiveTool = z.infer<typeof inactiveTool>;

/**
 * What one turn runs on: the grant less the user's selection less unmet claims.
 *
 * Data only, frozen, and written into the turn's first event, so that a turn cannot change under its user and can be
 * read back years later. The tools that the model may call and the tools that dispatch accepts are `tools`, one value.
 */
export const effectiveAgent = z.strictObject({
  id: z.string(),
  /** Bundle id, such as `workspace@1`. */
  bundle: z.string(),
  /** Digest of the bundle's content. */
  revision: z.string(),
  /** How the model tells its decision: by the provider's tool calls, or as one JSON object. */
  grammar: z.enum(['native', 'json']),
  /** The stable, cacheable text: instructions and additional instructions. */
  instructions: z.string(),
  /** The skills and services that it has, as a list that follows the instructions. None when absent. */
  gallery: z.string().optional(),
  /** What may be called, in the order of their names. */
  tools: z.array(toolDefinition),
  /**
   * What the prompt lists, where that is more: inactive tools that stay listed, so that the cached text stays as it is. A
   * call of one is refused.
   */
  listed: z.array(toolDefinition).optional(),
  inactive: z.array(inactiveTool),
  /** How deferred tools are found: by the provider's own search, or by tools of ours. None is deferred when absent. */
  deferral: z.enum(['provider', 'own']).optional(),
  /** By account, the tools whose claims it did not meet when the turn began. None when absent. */
  unmet: z.array(z.strictObject({ account: z.string(), tools: z.array(z.string()) })).optional(),
  /** Tools of servers that are described otherwise than when the user last let them run, anywhere. None when absent. */
  changed: z.array(z.string()).optional(),
  /** Skills that may be loaded, in the order of their ids. None when absent. */
  skills: z.array(shownSkill).optional(),
  /** Skills of the grant that this turn does not have, by id, and why. */
  hiddenSkills: z.array(inactiveTool).optional(),
  role: z.string(),
  /** The chain of the decision role, first choice first. */
  models: z.array(modelRef).min(1),
  /** The role and the chain for asides, such as a summary, where they are not those of the decision. */
  aside: z.strictObject({ role: z.string(), models: z.array(modelRef).min(1) }).optional(),
  /** What the bundle says about tool choice: one choice, or one for each iteration with the last repeating. */
  toolChoice: z.union([toolChoice, z.array(toolChoice).min(1)]).optional(),
  limits,
  /** At a limit: `end` at once, `error`, or `wrap_up` with one last call without tools. */
  onLimit: z.enum(['end', 'error', 'wrap_up']),
  planning: z
    .strictObject({ approval: z.enum(['never', 'auto', 'always']), placement: z.enum(['announce', 'system']) })
    .optional(),
  renderThinking: z.boolean(),
  /** `long`: cache markers ask for the provider's longer time. */
  cacheTtl: z.literal('long').optional(),
  /** IANA time zone of the user, for announce. */
  timeZone: z.string().optional(),
});

export type EffectiveAgent = z.infer<typeof effectiveAgent>;

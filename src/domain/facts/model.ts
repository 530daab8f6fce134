import { z } from 'zod';
import { modelRef, toolChoice, toolChoiceMode } from '../agent.ts';
import { ASIDE_PURPOSES } from '../aside.ts';
import { block, failure, opaque } from '../model.ts';
import { STOP_KINDS } from '../status.ts';
import { usage } from '../usage.ts';
import { action, count, text, type FactTable } from './field.ts';

const thought = z.strictObject({ text, opaque: opaque.optional() });

const planStep = z.strictObject({ title: text, detail: text.optional() });

/** Facts of calls to models, and of what gates said of them. */
export const modelFacts = {
  'llm.request': {
    v: 1,
    payload: z.strictObject({
      model: modelRef.pick({ provider: true, model: true }),
      role: text,
      /** Counted from 1 within the iteration. */
      attempt: count,
      /** What the call is for; absent for the agent's own decision. */
      purpose: z.enum([...ASIDE_PURPOSES, 'wrap_up']).optional(),
      /** Digest of each section that differs from the request before it in this conversation; of an aside, its `prompt`. */
      sections: z.record(z.string(), text).optional(),
      choice: toolChoice.optional(),
      /** Which rule chose: absent when none did. */
      rule: z.enum(['override', 'sequence', 'static', 'fallback']).optional(),
      /** The uncached tail the model was shown. */
      announce: text.optional(),
      /** The tools that may be called, where a gate masked some. */
      allowed: z.array(text).optional(),
      /** Input tokens that a cache should give: those of the prompt that begins the same and was sent before. */
      expectedRead: count.optional(),
      /** Where cache markers were placed: after these parts of the prompt. */
      markers: z.array(text).optional(),
      /** Places that got none, and why. */
      unmarked: z.array(text).optional(),
      /** Messages a gate added for this call only. */
      notes: z.array(text).optional(),
    }),
    about: 'a model call is made',
  },
  'thinking.step': { v: 1, payload: thought, about: 'a reasoning part is complete' },
  'llm.response': {
    v: 1,
    payload: z.strictObject({
      content: z.array(block),
      stop: z.enum(STOP_KINDS),
      /** The provider's own word for it. */
      raw: text.optional(),
      usage,
      attempt: count,
      /** The model that answered, where the provider says so and it is not the one asked. */
      served: text.optional(),
      providerId: text.optional(),
      failure: failure.optional(),
      opaque: opaque.optional(),
      /** As in the request, for an aside: what it says is no decision. */
      purpose: z.enum(ASIDE_PURPOSES).optional(),
      /** A person stopped it in mid-answer: what it had said by then was shown, and stays with them. */
      kept: z.literal(true).optional(),
    }),
    about: 'a model call is over, also when it was cut',
  },
  'gate.llm.retry': {
    v: 1,
    payload: z.strictObject({ afterMs: count.optional() }),
    about: 'a gate lets a held model call go',
  },
  'gate.verdict': {
    v: 1,
    payload: z.strictObject({
      question: text,
      gate: text,
      verdict: z.enum(['deny', 'hold', 'revise']),
      reason: text.optional(),
      /** A stable word for programs, such as `max_iterations`. */
      code: text.optional(),
      action: action.optional(),
      /** It was said of an aside: the turn goes on without that. */
      purpose: z.enum(ASIDE_PURPOSES).optional(),
      /** Of a model call: it may be asked for again at this time. */
      retryAt: z.number().optional(),
      /** Of an answer: what the model is told, which is asked once more. */
      again: text.optional(),
    }),
    about: 'a gate denied, held or revised',
  },
  'agent.tool_choice': {
    v: 1,
    payload: z.strictObject({
      mode: toolChoiceMode.or(z.literal('any')),
      toolName: text.optional(),
      duration: z.enum(['once', 'sticky']),
    }),
    about: 'the next tool choice is overridden',
  },
  'cache.cold': {
    v: 1,
    payload: z.strictObject({
      /** In words. */
      what: text,
      /** Tokens that an unchanged prompt would have read from the cache, and those that were. */
      predicted: count,
      billed: count.optional(),
      /** `ours`: the prompt is another one. `expired`: it was left alone for too long. `provider`: its own word. */
      cause: z.enum(['ours', 'expired', 'provider', 'unknown']).optional(),
      /** For `ours`: the first part of the prompt that is another one. */
      section: text.optional(),
      /** For `ours`: what changed it. */
      change: z.enum(['model', 'selection', 'bundle', 'compaction', 'clearing', 'gate']).optional(),
    }),
    about: 'a warm prompt was cold',
  },
  'plan.request': { v: 1, payload: z.strictObject({ input: text }), about: 'a plan is wanted' },
  'plan.result': {
    v: 1,
    payload: z.strictObject({
      steps: z.array(planStep),
      summary: text.optional(),
      source: text,
      /** What the planner says of it, for agents with `approval: auto`: whether a person should agree first. */
      asks: z.boolean().optional(),
      error: text.optional(),
    }),
    about: 'a planner answers',
  },
} as const satisfies FactTable;

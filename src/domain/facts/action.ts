import { z } from 'zod';
import { json, part } from '../content.ts';
import { runLimits } from '../run-limits.ts';
import { END_STATUSES } from '../status.ts';
import { effect, observation, toolDefinition } from '../tool.ts';
import { action, by, call, count, text, type FactTable } from './field.ts';

const invocation = z.strictObject({ action, name: text, arguments: json });

/** Facts of actions: what ran, what came of it, and what they wait for. */
export const actionFacts = {
  'tool.invoke': {
    v: 1,
    payload: invocation.extend({
      argumentHash: text,
      effect,
      /** The action that asked for this one while it ran, as a program does that was given tools. */
      parent: action.optional(),
      call: call.optional(),
      /** The action may be run again from its start: it does nothing but call others, and what those gave is on record. */
      replays: z.literal(true).optional(),
      /** A gate or a person changed what the model asked for. */
      revisedBy: by.optional(),
      /** Milliseconds until it is given up, where a gate says so. */
      timeoutMs: count.optional(),
      /** Nobody was asked, because somebody had allowed it before: the ids of the allowances. */
      allowedBy: z.array(text).optional(),
    }),
    about: 'an action is about to run: intent before effect',
  },
  'tool.result': {
    v: 1,
    payload: observation.extend({ action, parent: action.optional(), call: call.optional() }),
    about: 'the one observation of an action',
  },
  'tool.register': {
    v: 1,
    payload: z.strictObject({ tools: z.array(toolDefinition) }),
    about: 'tools announce themselves',
  },
  'tool.loaded': {
    v: 1,
    payload: z.strictObject({ tools: z.array(text) }),
    about: 'deferred tools were found, and may be called from now on',
  },
  'tool.changed': {
    v: 1,
    payload: z.strictObject({
      /** The MCP server. */
      server: text,
      /** Names of tools as the model sees them. */
      added: z.array(text),
      removed: z.array(text),
      /** Described otherwise than in the turn before. */
      changed: z.array(text),
    }),
    about: 'a server has other tools than in the turn before',
  },
  'skill.loaded': {
    v: 1,
    payload: z.strictObject({ name: text, version: text.optional(), text }),
    about: "a skill's text enters the conversation",
  },
  'computation.started': {
    v: 1,
    payload: z.strictObject({
      action,
      /** What names the work outside: whoever hands in its result says it again. */
      ticket: text,
      /** What is worked on, for people. */
      note: text.optional(),
      /** When it counts as failed. */
      deadline: z.number().optional(),
    }),
    about: 'an action waits for work outside',
  },
  'computation.ended': {
    v: 1,
    payload: z.strictObject({
      ticket: text,
      outcome: z.enum(['ok', 'failed']),
      value: json.optional(),
      content: z.array(part).optional(),
      error: z.strictObject({ code: text, message: text }).optional(),
      by,
    }),
    about: 'the work outside has ended, or its time is over',
  },
  'subagent.started': {
    v: 1,
    payload: z.strictObject({
      conversation: text,
      agent: text,
      action: action.optional(),
      /** The part of this run's limits that the child may use up. */
      limits: runLimits.optional(),
    }),
    about: 'a child run begins',
  },
  'subagent.ended': {
    v: 1,
    payload: z.strictObject({
      conversation: text,
      status: z.enum(END_STATUSES),
      answer: text.optional(),
      error: z.strictObject({ code: text, message: text }).optional(),
      /** Of the child and of its own children. */
      tokens: count.optional(),
      actions: count.optional(),
    }),
    about: 'a child run ends',
  },
} as const satisfies FactTable;

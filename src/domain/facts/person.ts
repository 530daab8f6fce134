import { z } from 'zod';
import { inactiveTool } from '../agent.ts';
import { ALLOW_SCOPES, allowanceOffer } from '../allowance.ts';
import { json, part } from '../content.ts';
import { selection } from '../selection.ts';
import { action, by, call, text, type FactTable } from './field.ts';

const request = text;

const held = z.strictObject({
  request,
  kind: z.enum(['action', 'plan', 'input']),
  /** What the person is asked, as one sentence or question. */
  question: text,
  action: action.optional(),
  /** Of an action that a program asked for while it ran: the program's action, and the tool that would run. */
  parent: action.optional(),
  name: text.optional(),
  call: call.optional(),
  /** What would run, after every gate's revision: what the person is to see. */
  arguments: json.optional(),
  /** What the tool shows of what would happen, such as a diff. */
  preview: z.array(part).optional(),
  /** SHA-256 of the canonical arguments the answer is bound to. */
  argumentHash: text.optional(),
  choices: z.array(text).optional(),
  /** A connected account is wanted, with these rights: whoever answers is asked to connect it first. */
  consent: z.strictObject({ account: text, claims: z.array(text) }).optional(),
  /** When the request turns into a denial by itself. */
  deadline: z.number().optional(),
  /** The gate that held it, or the tool that asked. */
  gate: text.optional(),
  /** What may be allowed beyond this one action. Absent: nothing. */
  allowance: allowanceOffer.optional(),
});

/** Facts of people: what they were asked, what they allow, choose and connect. */
export const personFacts = {
  'hitl.requested': { v: 1, payload: held, about: 'a person is asked' },
  'hitl.responded': {
    v: 1,
    payload: z.strictObject({
      request,
      decision: z.enum(['allow', 'reject', 'edit', 'reply']),
      /** The new arguments of an `edit`; of a plan, its new steps. */
      arguments: json.optional(),
      /** The words of a `reply`. */
      text: text.optional(),
      /** A reason, which the model reads. */
      note: text.optional(),
      /** How far an `allow` reaches: absent, to this one action. */
      allow: z.enum(ALLOW_SCOPES).optional(),
      by,
      /** The key that it was sent with, so that a repetition is known as one when the question is long past. */
      key: text.optional(),
    }),
    about: 'a person answers',
  },
  'allowance.revoked': {
    v: 1,
    payload: z.strictObject({ allowance: text, by }),
    about: 'what was allowed for this conversation is asked for again',
  },
  'hitl.cancel': {
    v: 1,
    payload: z.strictObject({ request, reason: text }),
    about: 'a question is taken back or has expired',
  },
  'selection.applied': {
    v: 1,
    payload: z.strictObject({
      digest: text,
      /** The whole of it, where it is not the one of the turn before. */
      selection: selection.optional(),
      /** Ids of deferred changes that count in this conversation from now on. */
      promoted: z.array(text).optional(),
    }),
    about: "the user's selection was used",
  },
  'selection.ignored': {
    v: 1,
    payload: z.strictObject({ why: text }),
    about: "the user's selection could not be read",
  },
  'account.inactive': {
    v: 1,
    payload: z.strictObject({ tools: z.array(inactiveTool), account: text }),
    about: 'claims are unmet for this turn',
  },
  'account.reactivated': {
    v: 1,
    payload: z.strictObject({ tools: z.array(text), account: text }),
    about: 'claims are met again',
  },
} as const satisfies FactTable;

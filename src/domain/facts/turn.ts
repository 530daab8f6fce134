import { z } from 'zod';
import { effectiveAgent } from '../agent.ts';
import { json, part } from '../content.ts';
import { runLimits } from '../run-limits.ts';
import { END_STATUSES, STOP_KINDS } from '../status.ts';
import { usage } from '../usage.ts';
import { by, count, text, type FactTable } from './field.ts';

const input = z.strictObject({
  text,
  attachments: z.array(part).optional(),
  /** `message` starts a turn. `steer` interrupts the running one. `followup` is read before its next model call. */
  mode: z.enum(['message', 'followup', 'steer']),
  userId: text.optional(),
});

/** Facts of a turn: what was said, how it ran, what it may use. */
export const turnFacts = {
  'io.input': { v: 1, payload: input, about: 'a person speaks, also in mid-turn' },
  'agent.turn.start': {
    v: 1,
    payload: z.strictObject({
      /** The whole agent, or only its digest when it is the one of the turn before. */
      agent: effectiveAgent.optional(),
      digest: text,
      resumed: z.boolean().optional(),
      /** Of a turn that goes on: the revision of the bundle that counts for it from here, where it began with another. */
      revision: text.optional(),
    }),
    about: 'a turn begins, or goes on in another process',
  },
  'agent.turn.end': {
    v: 1,
    payload: z.strictObject({
      status: z.enum(END_STATUSES),
      stop: z.enum(STOP_KINDS),
      iterations: count,
      /** Actions that came out `ok`. */
      toolCalls: count,
      usage,
      error: z.strictObject({ code: text, message: text }).optional(),
    }),
    about: 'a turn ends, exactly once',
  },
  'io.output': { v: 1, payload: z.strictObject({ text, value: json.optional() }), about: "the turn's answer" },
  'cancel.request': { v: 1, payload: z.strictObject({ by }), about: 'somebody wants the turn to stop' },
  'cancel.active': { v: 1, payload: z.strictObject({}), about: 'the worker saw it: no new effect starts' },
  'cancel.complete': { v: 1, payload: z.strictObject({}), about: 'every open action has its observation' },
  'cancel.resume': { v: 1, payload: z.strictObject({ by }), about: 'the cancelled turn goes on' },
  'limits.changed': {
    v: 1,
    payload: z.strictObject({ limits: runLimits, by }),
    about: 'what the run may use is set anew, in place of what was said before',
  },
  'ceiling.set': {
    v: 1,
    payload: z.strictObject({
      /** Tools that the run does not have, whatever its agent is granted. */
      denied: z.array(text),
      /** Tools for which a person is asked each time. */
      ask: z.array(text),
      /** The run that delegated to this one. */
      by,
    }),
    about: 'a child run is told what its parent may not do either',
  },
} as const satisfies FactTable;

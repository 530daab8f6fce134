import { z } from 'zod';
import type { Wire } from './shape.ts';

export const replayRun = z
  .strictObject({
    bundle: z.string().min(1).max(1_000_000).optional().meta({
      description: 'YAML, in place of the bundle that the run belongs to: what it names is found in the same folder.',
    }),
    upTo: z.int().min(1).max(1_000_000).optional().meta({ description: 'End after this model call, counted from 1.' }),
  })
  .meta({ id: 'Replay' });

const difference = z.object({
  section: z.string().meta({
    description:
      'Of the prompt: `instructions`, `tools`, `past turns`, `this turn`, `announce`. Also `model`, `tool choice`, `allowed tools`, and `call` where the model would not be called.',
  }),
  what: z.string().meta({ description: 'In a sentence.' }),
  before: z.string().meta({ description: 'What changed, with the lines around it.' }),
  after: z.string(),
});

const turnEnd = z.object({
  status: z.string(),
  stop: z.string(),
  code: z.string().optional(),
  message: z.string().optional(),
  answer: z.string().optional(),
});

export const replayReport = z
  .object({
    run: z.string(),
    rules: z.enum(['recorded', 'bundle']),
    same: z.boolean(),
    calls: z
      .array(
        z.object({
          n: z.int().meta({ description: 'Over the run, from 1, attempts counted.' }),
          turn: z.int(),
          iteration: z.int(),
          attempt: z.int(),
          same: z.boolean(),
          differences: z.array(difference),
        }),
      )
      .meta({ description: 'Every model call of the run.' }),
    actions: z
      .array(
        z.object({
          action: z.string(),
          name: z.string(),
          before: z
            .string()
            .optional()
            .meta({ description: 'What became of it, in words. Absent: it was not asked for.' }),
          after: z.string().optional(),
        }),
      )
      .meta({ description: 'Actions that fare otherwise.' }),
    verdicts: z
      .array(
        z.object({
          turn: z.int(),
          question: z.string(),
          action: z.string().optional(),
          before: z.string().optional().meta({ description: 'What gates said, in words. Absent: nobody objected.' }),
          after: z.string().optional(),
        }),
      )
      .meta({ description: 'Questions about which gates say something else.' }),
    ended: z
      .array(
        z.object({
          turn: z.int(),
          same: z.boolean(),
          before: turnEnd.optional().meta({ description: 'Absent while the turn has not ended.' }),
          after: turnEnd.optional(),
        }),
      )
      .meta({ description: 'Every turn of the run.' }),
    beyond: z
      .object({ turn: z.int(), iteration: z.int() })
      .optional()
      .meta({ description: 'A model call that the run had not made: here the replay ended.' }),
    notes: z.array(z.string()).meta({ description: 'What was left out or taken for granted.' }),
  })
  .meta({ id: 'ReplayReport', description: 'Where a replay asked for something else than the run had.' });
export type WireReplay = Wire<typeof replayReport>;

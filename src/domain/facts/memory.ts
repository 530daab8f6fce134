import { z } from 'zod';
import { action, count, text, type FactTable } from './field.ts';

/** Facts of what a conversation is shown of before, and of what it hears from elsewhere. */
export const memoryFacts = {
  'source.event': {
    v: 1,
    payload: z.strictObject({
      /** The service that it comes from, by its namespace. */
      source: text,
      /** As the source names it: one of that name is heard once. */
      id: text,
      text,
      /** When it happened, where the source says so. */
      at: z.number().optional(),
    }),
    about: 'something happened in a service that the agent listens to',
  },
  'source.pulled': {
    v: 1,
    payload: z.strictObject({
      source: text,
      /** Where the next reading goes on. */
      cursor: text.optional(),
      /** There was more than was taken; the next turn reads on. */
      isCut: z.literal(true).optional(),
      error: text.optional(),
    }),
    about: 'a service was asked for events when a turn began, and said where it goes on, or failed',
  },
  'memory.compact.request': {
    v: 1,
    payload: z.strictObject({
      /** `turns`: there are more than are shown. `window`: a gate found that the prompt does not fit. */
      why: z.enum(['size', 'cold', 'asked', 'turns', 'window']),
    }),
    about: 'compaction is wanted',
  },
  'memory.compacted': {
    v: 1,
    payload: z.strictObject({
      /** The last turn, by number, that the summary stands for. */ through: count,
      summary: text,
      error: text.optional(),
    }),
    about: 'older turns are replaced by a summary in what the model sees',
  },
  'memory.cleared': {
    v: 1,
    payload: z.strictObject({ /** Actions whose results the model is no longer shown. */ actions: z.array(action) }),
    about: 'old results leave what the model sees, and can be read back',
  },
  'memory.recalled': {
    v: 1,
    payload: z.strictObject({
      /** The hot ones, each on one line. The rest can be searched. */
      notes: z.array(z.strictObject({ id: text, text })),
      /** How many the user has. */
      total: z.number().int().min(0),
      /** Why none could be read. */
      problem: text.optional(),
    }),
    about: 'what the turn knows of earlier conversations',
  },
} as const satisfies FactTable;

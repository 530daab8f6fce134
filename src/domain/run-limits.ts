import { z } from 'zod';

/**
 * What one run may use. Each narrows what the agent declares and never widens it; absent is no limit of the run's own.
 *
 * Reaching one ends the turn with a code that says which: `max_iterations`, `max_actions`, `max_tokens`, `max_money`,
 * `max_wall_ms`. Raising it and resuming goes on with that turn.
 */
export const runLimits = z.strictObject({
  /** Model calls a turn: the smaller of this and the agent's own counts. */
  maxIterations: z.number().int().min(1).optional(),
  /** Actions that are carried out, over all turns of the run. */
  maxActions: z.number().int().min(0).optional(),
  /** Input and output tokens, over all turns of the run. */
  maxTokens: z.number().int().min(1).optional(),
  /** US dollars as a decimal such as `0.25`, over all turns of the run. */
  maxMoney: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,12})?$/)
    .optional(),
  /** Milliseconds that a turn is at work. Waiting for people, other runs and outside work does not count. */
  wallMs: z.number().int().min(1).optional(),
});
export type RunLimits = z.infer<typeof runLimits>;

import { z } from 'zod';
import { definePlugin } from '../../kernel/plugin.ts';

const step = z.union([
  z
    .string()
    .min(1)
    .transform((title) => ({ title })),
  z.strictObject({ title: z.string().min(1), detail: z.string().min(1).optional() }),
]);

const config = z.strictObject({
  /** Each a title, or a title with a detail. */
  steps: z.array(step).min(1).max(50),
  summary: z.string().min(1).optional(),
});

/** Answers every request for a plan with the steps that the bundle lists. */
export const staticPlanner = definePlugin({
  id: 'planner.static',
  about: 'Plans every turn with the same steps, which stand in the bundle.',
  config,
  setup(host, { steps, summary }) {
    host.answer('plan.request', () => ({
      steps,
      source: 'planner.static',
      ...(summary === undefined ? {} : { summary }),
    }));
  },
});

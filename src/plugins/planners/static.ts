import { z } from 'zod';
import { key, requiredKey } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';

const step = z.union([
  z
    .string()
    .min(1)
    .transform((title) => ({ title })),
  z.strictObject({ title: z.string().min(1), detail: z.string().min(1).optional() }),
]);

const config = z.strictObject({
  steps: requiredKey(z.array(step).min(1).max(50), 'The steps in order, each a title or `{title, detail}`.'),
  summary: key(z.string().min(1), 'What the plan is for, in a sentence.', { default: 'nothing' }),
});

/** Answers every request for a plan with the steps that the bundle lists. */
export const staticPlanner = definePlugin({
  id: 'planner.static',
  about: 'Plans every turn with the same steps, which stand in the bundle.',
  config,
  setup(host, { steps, summary }) {
    host.answer('plan.request', (_, { conversation: { turn } }) => ({
      steps,
      source: 'planner.static',
      // Who wrote the bundle wrote the steps.
      ...(turn?.agent.planning?.approval === 'auto' && { asks: false }),
      ...(summary === undefined ? {} : { summary }),
    }));
  },
});

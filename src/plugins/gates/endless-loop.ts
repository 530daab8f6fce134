import { z } from 'zod';
import { key } from '../../domain/bundle-key.ts';
import { nextIteration } from '../../domain/conversation.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { deny } from '../../kernel/verdict.ts';

const config = z.strictObject({
  max_iterations: key(z.int().min(1).max(1_000), "Model calls a turn. The agent's own limit holds in any case.", {
    default: "the agent's own limit",
  }),
  warning_at: key(z.int().min(1).max(1_000), 'The iteration from which on the model is told how many are left.', {
    default: 'the last one, where `max_iterations` is set',
  }),
});

/**
 * Refuses the model call that would pass the cap. The cap is of model calls made: with 4, the fifth is refused.
 *
 * It counts what the log says of this turn, so a restart does not start the count over. Calls that are not the agent's
 * own decision, such as a planner's, are not counted and not refused; nor is the one call that an agent with
 * `on_limit: wrap_up` has left at its limit.
 */
export const endlessLoop = definePlugin({
  id: 'gate.endless_loop',
  about: 'Ends a turn after so many model calls.',
  config,
  example: { max_iterations: 8, warning_at: 6 },
  setup(host, { max_iterations, warning_at }) {
    host.before('before:llm.request', ({ iteration, purpose }, { agent }) => {
      if (purpose !== undefined) return undefined;
      const cap = max_iterations ?? agent?.limits.maxIterations;
      if (cap === undefined || iteration - 1 < cap) return undefined;
      return deny(`the limit of ${cap} model calls a turn is reached`, 'max_iterations');
    });
    if (max_iterations === undefined && warning_at === undefined) return;
    host.announce('ITERATION LIMIT', (turn) => {
      const { agent } = turn;
      const cap = Math.min(max_iterations ?? Infinity, agent.limits.maxIterations);
      const iteration = nextIteration(turn);
      if (iteration < (warning_at ?? cap)) return undefined;
      const left = Math.max(0, cap - iteration);
      const rest = left === 0 ? 'this is the last one' : `${left} left after this one`;
      return `iteration ${iteration} of ${cap}, ${rest}: finish, or say what is missing`;
    });
  },
});

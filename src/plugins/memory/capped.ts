import { z } from 'zod';
import { key } from '../../domain/bundle-key.ts';
import type { Limits } from '../../domain/agent.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { failed, olderTurns, readsBack } from './older-turns.ts';

const MAX_TURNS = 40;
const KEPT_TURNS = 20;

const config = z
  .strictObject({
    max_turns: key(z.int().min(1).max(100_000), 'Turns that are shown. One more, and older ones are left out.', {
      default: MAX_TURNS,
    }),
    keep_turns: key(z.int().min(0).max(100_000), 'Latest turns that are left then. Fewer than `max_turns`.', {
      default: KEPT_TURNS,
    }),
    max_tokens: key(z.int().min(1_000).max(100_000_000), 'Tokens of a prompt at which the same happens.', {
      otherwise: '`context_max_tokens` of the agent, where it says so',
    }),
  })
  .refine(({ max_turns = MAX_TURNS, keep_turns = KEPT_TURNS }) => keep_turns < max_turns, {
    error: 'keep_turns below max_turns',
    path: ['keep_turns'],
  });
/**
 * A window over the latest turns, without any model call. Turns go whole, and never the one in work.
 *
 * It moves by many turns at a time: a window that moved with every turn would make every prompt begin with something else,
 * and no cache would ever be read.
 */
export const capped = definePlugin({
  id: 'memory.capped',
  about: 'Shows the latest turns and leaves older ones out, from a number of turns or tokens on.',
  config,
  setup(host, { keep_turns = KEPT_TURNS }) {
    host.answer('memory.compact.request', ({ why }, { conversation }) => {
      const older = olderTurns(conversation, keep_turns, why);
      if (typeof older === 'string') return failed(older);
      const { through } = older;
      const which = through === 1 ? 'Turn 1 is' : `Turns 1 to ${through} are`;
      const reads = readsBack(conversation) ? ' context_read with the number of a turn gives its words.' : '';
      return { through, summary: `(${which} left out here.${reads})` };
    });
  },
});

/** When the loop is to ask: it decides from the log, where an agent's limits are. */
export function cappedLimits(given: unknown): Partial<Limits> {
  const read = config.safeParse(given ?? {});
  if (!read.success) return {}; // which is told where plugins are checked
  const { max_turns = MAX_TURNS, max_tokens } = read.data;
  return { contextMaxTurns: max_turns, ...(max_tokens === undefined ? {} : { contextMaxTokens: max_tokens }) };
}

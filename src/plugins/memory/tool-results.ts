import { z } from 'zod';
import { key } from '../../domain/bundle-key.ts';
import type { Limits } from '../../domain/agent.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { readsBack } from './older-turns.ts';

const ABOVE_TOKENS = 20_000;
const KEPT = 6;
const LEAST_BYTES = 1_000;

const config = z.strictObject({
  above_tokens: key(
    z.int().min(0).max(10_000_000),
    'Tokens that old results have together before they are cleared. Fewer are not worth writing the prompt to the cache again, unless no cache holds it anyway.',
    { default: ABOVE_TOKENS },
  ),
  keep: key(z.int().min(0).max(1_000), 'Latest results that stay.', { default: KEPT }),
  least_bytes: key(z.int().min(0).max(10_000_000), 'Smaller results stay.', { default: LEAST_BYTES }),
});

/**
 * Old results of tools are no longer shown, only that they were there and how to read them.
 *
 * What is cleared is a fact, so it stays cleared and its bytes stay the same. Which results go is in
 * `assembly/clearing.ts`: none of the last requests of a turn while a cache holds them, and never one that failed.
 */
export const toolResults = definePlugin({
  id: 'memory.tool_results',
  about: 'Clears old results of tools out of the prompt, all at once, where that is worth it.',
  config,
  setup(host) {
    host.announce('CLEARED RESULTS', (_turn, conversation) => {
      const count = conversation.cleared.size;
      if (count === 0) return undefined;
      const reads = readsBack(conversation) ? '; context_read with the id of an action gives one back' : '';
      return `${count === 1 ? '1 old result is' : `${count} old results are`} not shown any more${reads}`;
    });
  },
});

/** When the loop is to clear: it decides from the log, where an agent's limits are. */
export function toolResultsLimits(given: unknown): Partial<Limits> {
  const read = config.safeParse(given ?? {});
  if (!read.success) return {}; // which is told where plugins are checked
  const { above_tokens, keep, least_bytes } = read.data;
  return {
    resultsMaxTokens: above_tokens ?? ABOVE_TOKENS,
    resultsKept: keep ?? KEPT,
    resultsLeastBytes: least_bytes ?? LEAST_BYTES,
  };
}

import { z } from 'zod';
import { promptSize } from '../../assembly/prompt-size.ts';
import { key } from '../../domain/bundle-key.ts';
import { WINDOW_CODE } from '../../domain/limits.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { deny } from '../../kernel/verdict.ts';

const RESERVED = 4_096;

const config = z.strictObject({
  max_tokens: key(z.int().min(100).max(100_000_000), 'Tokens that a prompt may have.', {
    otherwise: "the model's `context_window` less what is kept for the answer; without one, any number",
  }),
  reserve_tokens: key(z.int().min(0).max(10_000_000), "Tokens of the model's window that are kept for the answer.", {
    otherwise: "the model's `max_tokens`, else 4096",
  }),
});

/**
 * Refuses a model call whose prompt does not fit, before the provider would.
 *
 * It counts by what the provider billed for the last prompt and guesses only what has come since. The loop then has older
 * turns compacted, once, and asks again; if the prompt still does not fit, or nothing can be compacted, the turn ends with
 * the code `context_window`. Every call is judged, also one for a summary: that one is given up, and the turn goes on.
 */
export const contextWindow = definePlugin({
  id: 'gate.context_window',
  about: "Has older turns compacted before a prompt is longer than the model's window.",
  config,
  example: { max_tokens: 100_000 },
  setup(host, { max_tokens, reserve_tokens }) {
    host.before('before:llm.request', ({ request, purpose }, { conversation }) => {
      const { contextWindow: window, maxTokens = RESERVED } = request.model;
      const fits = max_tokens ?? (window === undefined ? undefined : window - (reserve_tokens ?? maxTokens));
      if (fits === undefined) return undefined;
      // What was billed was billed for the prompts of decisions.
      const known = purpose === undefined ? conversation.contextTokens : 0;
      const tokens = promptSize(request, known);
      if (tokens <= fits) return undefined;
      return deny(`the prompt has about ${tokens} tokens, and ${fits} fit`, WINDOW_CODE);
    });
  },
});

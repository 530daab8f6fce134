import { z } from 'zod';

/**
 * What one model call used: tokens in parts that never overlap, as the provider billed them.
 *
 * A part that the provider did not report is absent, which is not zero. Totals are derived, never stored.
 */
export const usage = z.strictObject({
  /** Input tokens read at full price: neither from nor into a cache. */
  input: z.number().optional(),
  cacheRead: z.number().optional(),
  /** Written into a cache with the provider's short lifetime (Anthropic: 5 minutes). */
  cacheWrite: z.number().optional(),
  /** Written into a cache with a long lifetime (Anthropic: 1 hour). */
  cacheWriteLong: z.number().optional(),
  /** Output tokens that are text or action input. */
  output: z.number().optional(),
  /** Output tokens spent on thinking. */
  reasoning: z.number().optional(),
  /** Not tokens: searches of the web that the provider made by itself while it answered. */
  searches: z.number().optional(),
});

export type Usage = z.infer<typeof usage>;

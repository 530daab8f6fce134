import { z } from 'zod';
import { key, requiredKey } from './bundle-key.ts';

/** US dollars per million tokens, as decimal text: a binary fraction would round it. */
const rate = z.union([z.number().min(0).max(1_000_000), z.string().regex(/^\d{1,7}(\.\d{1,12})?$/)]);

const rates = {
  input: requiredKey(rate, 'US dollars per million input tokens that no cache has to do with.'),
  output: requiredKey(rate, 'US dollars per million output tokens, thinking included.'),
  cache_read: key(rate, 'The same for input tokens read from a cache.', { otherwise: 'as `input`' }),
  cache_write: key(rate, 'The same for input tokens written into a cache.', { otherwise: 'as `input`' }),
  cache_write_long: key(rate, 'The same for input tokens written into a cache with a long lifetime.', {
    otherwise: 'unknown, and with it the price of such a call',
  }),
};

/** What a model costs, as a bundle writes it. */
export const declaredPrice = z
  .strictObject({
    ...rates,
    search: key(rate, 'US dollars per thousand searches of the web that the provider makes by itself.', {
      otherwise: "the provider's list price; else unknown, and with it the price of such a call",
    }),
    long: key(
      z.strictObject({
        above: requiredKey(z.int().min(1), 'Input tokens of one call, cached ones included.'),
        ...rates,
      }),
      'What the whole call costs when its input is larger.',
    ),
  })
  .meta({ id: 'price' });
export type DeclaredPrice = z.infer<typeof declaredPrice>;

/** By `provider/model`, or `provider/*` for all of a provider. */
export const prices = z.record(z.string().regex(/^[^/\s]+\/\S+$/), declaredPrice);
export type DeclaredPrices = z.infer<typeof prices>;

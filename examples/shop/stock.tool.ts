import { z } from 'zod';
import { defineTool, toolFailure } from '../../src/index.ts';

const stock = new Map([['candles', 3]]);

/** Changes nothing: after a crash it simply runs again. */
export const look_up = defineTool({
  name: 'look_up',
  description: 'How many boxes of an article are left.',
  input: z.strictObject({ article: z.string().describe('The name, in the plural.') }),
  effect: 'read',
  run({ article }) {
    const boxes = stock.get(article);
    return boxes === undefined ? toolFailure('unknown_article', `There is no article ${article}.`) : { article, boxes };
  },
});

/** Acts once: begun and cut off by a crash, it is not run again by itself. */
export const order = defineTool({
  name: 'order',
  description: 'Order boxes of an article from the supplier.',
  input: z.strictObject({ article: z.string(), boxes: z.int().min(1).max(100) }),
  effect: 'once',
  run: ({ boxes }, { actionId }) => ({ boxes, number: `S-${actionId}` }),
});

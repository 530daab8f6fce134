import { z } from 'zod';
import { defineOperation, defineService } from '../../../src/index.ts';

export const service = defineService({
  operations: {
    'object.send': defineOperation({
      description: 'Sends a mail.',
      input: z.object({ to: z.string(), text: z.string() }),
      run: () => 'sent',
    }),
  },
});

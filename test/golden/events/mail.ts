import { z } from 'zod';
import { defineOperation, defineService } from '../../../src/index.ts';

export const service = defineService({
  operations: {
    'mail.news': defineOperation({
      description: 'New mail.',
      effect: 'read',
      input: z.object({ cursor: z.string().optional(), limit: z.int() }),
      run: () => Promise.reject(new Error('the mail server is down')),
    }),
  },
});

import { z } from 'zod';
import { defineOperation, defineService } from '../../../src/index.ts';

const tasks = [{ id: 't1', title: 'Paint the fence', done: false }];

export const service = defineService({
  label: 'Board',
  description: 'Tasks of the house.',
  operations: {
    'object.search': defineOperation({
      description: 'Finds tasks by words of their titles.',
      input: z.object({ words: z.string() }),
      run: ({ words }) => tasks.filter(({ title }) => title.toLowerCase().includes(words.toLowerCase())),
    }),
    'object.get': defineOperation({
      description: 'Reads a task.',
      input: z.object({ id: z.string() }),
      run: ({ id }) => tasks.find((one) => one.id === id) ?? null,
    }),
    'object.update': defineOperation({
      description: 'Changes a task.',
      effect: 'idempotent',
      input: z.object({ id: z.string(), done: z.boolean() }),
      run: ({ id, done }) => ({ id, done }),
    }),
    'object.delete': defineOperation({ description: 'Removes a task.', input: z.object({ id: z.string() }), run: () => null }),
  },
});

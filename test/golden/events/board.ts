import { z } from 'zod';
import { defineOperation, defineService } from '../../../src/index.ts';

const happened = [
  { id: 'e1', text: 'Bo painted the fence.', at: '2026-01-05T08:00:00Z' },
  { id: 'e2', text: 'Cy opened the task "Oil the gate".' },
  { id: 'e3', text: 'Bo closed the task "Paint the fence".' },
];

export const service = defineService({
  label: 'Board',
  operations: {
    'object.get': defineOperation({ description: 'Reads a task.', input: z.object({ id: z.string() }), run: () => null }),
    'event.list': defineOperation({
      description: 'What happened on the board since.',
      input: z.object({ cursor: z.string().optional(), limit: z.int() }),
      run({ cursor = '0', limit }) {
        const events = happened.slice(Number(cursor), Number(cursor) + limit);
        return { events, cursor: String(Number(cursor) + events.length) };
      },
    }),
  },
});

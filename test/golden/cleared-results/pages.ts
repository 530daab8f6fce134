import { z } from 'zod';
import { defineTool } from '../../../src/index.ts';

export const tools = [
  defineTool({
    name: 'page',
    description: 'Reads a page.',
    input: z.object({ number: z.int() }),
    effect: 'read',
    run: ({ number }) => `Page ${number}. ${'All of it is here. '.repeat(8)}`,
  }),
];

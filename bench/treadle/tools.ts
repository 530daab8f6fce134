import { z } from 'zod';
import { defineTool } from '../../src/index.ts';
import { exposure, toolDescription, toolNames } from '../script.ts';
import { running } from './running.ts';

export const tools = toolNames(100).map((name) =>
  defineTool({
    name,
    description: toolDescription,
    input: z.object({ price: z.number(), quantity: z.number() }),
    effect: 'read',
    run(args) {
      running.onTool();
      return exposure(args);
    },
  }),
);

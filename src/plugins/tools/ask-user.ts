import { z } from 'zod';
import { askPerson, defineTool, type BuiltinGroup } from '../../kernel/tool.ts';

const input = z.strictObject({
  question: z.string().min(1).max(2_000).describe('One question, complete in itself.'),
  choices: z
    .array(z.string().min(1).max(200))
    .min(2)
    .max(10)
    .optional()
    .describe('Answers to choose from. Leave this out when any text will do.'),
});

const askUser = defineTool({
  name: 'ask_user',
  description:
    'Ask the person you work for one question and wait for the answer, which may take days. Use it when you cannot go ' +
    'on without knowing what they want; never for what a tool or the conversation can tell you. Offer choices when ' +
    'there are only a few sensible answers.',
  input,
  effect: 'read',
  timeoutMs: 0,
  run({ question, choices }, { reply }) {
    return reply === undefined ? askPerson(question, choices) : { answer: reply };
  },
});

/** Asking the person. */
export const askUserGroup: BuiltinGroup = { name: 'ask_user', locked: false, tools: [askUser] };

import type { ScriptFunction } from '../../../src/adapters/models/script.ts';

/** Lacks a line at first. */
export const script: ScriptFunction = ({ request }) => {
  const isAskedAgain = JSON.stringify(request.messages).includes('had no line for');
  return { text: isAskedAgain ? 'Beans in May, by the wall.\ndecisions: none' : 'Beans in May.' };
};

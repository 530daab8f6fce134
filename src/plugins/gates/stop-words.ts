import { z } from 'zod';
import { key, requiredKey } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { askAgain, deny } from '../../kernel/verdict.ts';
import { mayTryAgain } from './second-chance.ts';
import { phraseFinder } from './phrases.ts';

const config = z.strictObject({
  phrases: requiredKey(z.array(z.string().trim().min(1)).min(1), 'Words and phrases, matched word for word.'),
  on: key(z.array(z.enum(['input', 'output'])).min(1), 'Where they are refused.', { otherwise: 'both' }),
  case_sensitive: key(z.boolean(), 'Whether capitals have to be the same.', { default: false }),
  retries: key(
    z.int().min(0).max(10),
    'How often in a turn the model is asked for another answer before the turn ends.',
    { default: 0 },
  ),
});

/**
 * Refuses messages and answers that have a stop word. It looks at what is new and never at history: a conversation goes on
 * after a refusal. What was refused is shown to nobody, and the reason does not repeat it.
 */
export const stopWords = definePlugin({
  id: 'gate.stop_words',
  about: 'Refuses messages and answers that have one of some words or phrases.',
  config,
  example: { phrases: ['project nightjar', 'Zugangscode'], on: ['output'], retries: 1 },
  setup(host, { phrases, on = ['input', 'output'], case_sensitive = false, retries = 0 }) {
    const find = phraseFinder(phrases, case_sensitive);
    if (on.includes('input'))
      host.before('before:io.input', ({ text, attachments = [] }) => {
        const texts = [text, ...attachments.flatMap((one) => (one.type === 'text' ? [one.text] : []))];
        return texts.some((one) => find(one) !== undefined)
          ? deny('the message has a word or phrase that is not allowed here', 'stop_words')
          : undefined;
      });
    if (!on.includes('output')) return;
    // Words beside actions are no answer, and are shown all the same.
    host.before('before:llm.response', ({ texts, isAnswer, purpose }) =>
      (!isAnswer || purpose !== undefined) && texts.some((one) => find(one) !== undefined)
        ? deny('it has a word or phrase that is not allowed here', 'stop_words')
        : undefined,
    );
    host.before('before:io.output', ({ text }, { conversation: { turn } }) => {
      if (find(text) === undefined) return undefined;
      const why = 'the answer has a word or phrase that is not allowed here';
      return mayTryAgain(turn, { gate: ID, retries, text })
        ? askAgain(why, 'It has a word or phrase that must not be used here. Answer again without it.', 'stop_words')
        : deny(why, 'stop_words');
    });
  },
});

const ID = 'gate.stop_words';

import { z } from 'zod';
import { key, requiredKey } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { askAgain, deny, revise } from '../../kernel/verdict.ts';
import { mayTryAgain } from './second-chance.ts';

const config = z.strictObject({
  max_chars: requiredKey(z.int().min(1), 'The most characters of an answer, as people count them.'),
  on_exceed: key(
    z.enum(['ask_again', 'truncate', 'deny']),
    '`ask_again`: the model is asked for a shorter one; where that does not help, the answer is cut.',
    { default: 'ask_again' },
  ),
  retries: key(z.int().min(1).max(10), 'How often in a turn the model is asked.', { default: 2 }),
});

const CUT = '…';

/** Holds answers to a length. Characters are those that people see: an emoji of five code points is one. */
export const outputLength = definePlugin({
  id: 'gate.output_length',
  about: 'Holds answers to a length: cuts them, has them written again or refuses them.',
  config,
  example: { max_chars: 2_000, on_exceed: 'ask_again', retries: 1 },
  setup(host, { max_chars: most, on_exceed = 'ask_again', retries = 2 }) {
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

    /** The end of the last character that fits, and how many there are. */
    const measure = (text: string): { readonly end: number; readonly length: number } => {
      let length = 0;
      let end = 0;
      for (const { index, segment } of segmenter.segment(text)) if (++length < most) end = index + segment.length;
      return { end, length };
    };

    host.before('before:io.output', (output, { conversation: { turn } }) => {
      const { text } = output;
      if (text.length <= most) return undefined;
      const { end, length } = measure(text);
      if (length <= most) return undefined;
      const why = `the answer has ${length} characters, and ${most} are allowed`;
      if (on_exceed === 'deny') return deny(why, 'output_length');
      return on_exceed === 'ask_again' && mayTryAgain(turn, { gate: ID, retries, text })
        ? askAgain(why, `It has ${length} characters. Answer again in at most ${most}.`, 'output_length')
        : revise({ ...output, text: `${text.slice(0, end).trimEnd()}${CUT}` }, `${why}: it was cut`);
    });
  },
});

const ID = 'gate.output_length';

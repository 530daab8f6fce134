import { z } from 'zod';
import { key } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { failed, olderTurns, readsBack, turnsInWords } from './older-turns.ts';
import { INSTRUCTIONS, PIECE_TOKENS, summarise } from './summarise.ts';

const KEPT_TURNS = 2;

const config = z.strictObject({
  keep_turns: key(
    z.int().min(0).max(100),
    'Latest turns that stay as they are. Where even these do not fit, fewer of them.',
    { default: KEPT_TURNS },
  ),
  role: key(z.string().min(1), 'The role whose model summarises.', {
    otherwise: '`quick` where the bundle has it, else the role that decides',
  }),
  instructions: key(z.string().min(1), 'What that model is told, in place of what it is told by default.', {
    otherwise: 'to keep what the work needs, in at most 600 words',
  }),
  piece_tokens: key(
    z.int().min(500).max(1_000_000),
    'Tokens of older turns that one call is given; more are summarised in several calls, one on top of the other.',
    { default: PIECE_TOKENS },
  ),
});

/**
 * Summarises older turns by a model call when the loop asks for it.
 *
 * All or nothing: a call that fails, or a summary that is empty or no shorter than what it would stand for, changes
 * nothing. Turns are summarised whole, so nothing comes between an action and its observation or into a signed block. The
 * log keeps what the prompt no longer holds.
 */
export const compaction = definePlugin({
  id: 'memory.compaction',
  about: 'Puts a summary in the place of older turns when the prompt gets too large, or is large and in no cache.',
  config,
  setup(host, { keep_turns = KEPT_TURNS, instructions = INSTRUCTIONS, piece_tokens = PIECE_TOKENS }) {
    host.answer('memory.compact.request', ({ why }, { conversation, askModel }) => {
      const older = olderTurns(conversation, keep_turns, why);
      if (typeof older === 'string') return failed(older);
      return summarise(conversation, older, { instructions, pieceTokens: piece_tokens }, askModel);
    });
    host.announce('SUMMARISED TURNS', (_turn, conversation) => {
      const { summary } = conversation;
      if (summary === undefined) return undefined;
      const reads = readsBack(conversation) ? '; context_read with the number of a turn gives its words' : '';
      return `${turnsInWords(summary.through)} told above as a summary${reads}`;
    });
  },
});

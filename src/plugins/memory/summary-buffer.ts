import { z } from 'zod';
import { key } from '../../domain/bundle-key.ts';
import type { Limits } from '../../domain/agent.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { failed, olderTurns, readsBack, turnsInWords } from './older-turns.ts';
import { INSTRUCTIONS, PIECE_TOKENS, summarise } from './summarise.ts';

const MAX_TURNS = 12;
const KEPT_TURNS = 4;

const config = z
  .strictObject({
    max_turns: key(
      z.int().min(1).max(10_000),
      'Turns that are shown as they were. One more, and older ones are summed up.',
      {
        default: MAX_TURNS,
      },
    ),
    keep_turns: key(z.int().min(0).max(10_000), 'Latest turns that stay as they are then. Fewer than `max_turns`.', {
      default: KEPT_TURNS,
    }),
    max_tokens: key(z.int().min(1_000).max(100_000_000), 'Tokens of a prompt at which the same happens.', {
      otherwise: '`context_max_tokens` of the agent, where it says so',
    }),
    must_keep: key(
      z.array(z.string().min(1).max(60)).max(10),
      'What every summary has to have a line of, such as `decisions`. One that lacks some is asked for once more.',
      { otherwise: '`decisions` and `open points`' },
    ),
    role: key(z.string().min(1), 'The role whose model sums up.', {
      otherwise: '`quick` where the bundle has it, else the role that decides',
    }),
    instructions: key(z.string().min(1), 'What that model is told, in place of what it is told by default.', {
      otherwise: 'to keep what the work needs, in at most 600 words',
    }),
  })
  .refine(({ max_turns = MAX_TURNS, keep_turns = KEPT_TURNS }) => keep_turns < max_turns, {
    error: 'keep_turns below max_turns',
    path: ['keep_turns'],
  });
/**
 * A running summary with the latest turns after it, word for word.
 *
 * The summary is made anew every `max_turns` − `keep_turns` turns and not with every one: each time, the prompt begins with
 * something else, and all of it has to be written to the provider's cache again.
 */
export const summaryBuffer = definePlugin({
  id: 'memory.summary_buffer',
  about: 'Keeps a running summary and the latest turns after it, from a number of turns on.',
  config,
  setup(host, { keep_turns = KEPT_TURNS, must_keep = MUST_KEEP, instructions = INSTRUCTIONS }) {
    const asked = must_keep.length === 0 ? instructions : `${instructions}\n\n${linesWanted(must_keep)}`;
    const lacks = (summary: string): string | undefined => missing(summary, must_keep);
    host.answer('memory.compact.request', ({ why }, { conversation, askModel }) => {
      const older = olderTurns(conversation, keep_turns, why);
      if (typeof older === 'string') return failed(older);
      return summarise(conversation, older, { instructions: asked, pieceTokens: PIECE_TOKENS, lacks }, askModel);
    });
    host.announce('SUMMARISED TURNS', (_turn, conversation) => {
      const { summary } = conversation;
      if (summary === undefined) return undefined;
      const reads = readsBack(conversation) ? '; context_read with the number of a turn gives its words' : '';
      return `${turnsInWords(summary.through)} told above as a summary${reads}`;
    });
  },
});

/** When the loop is to ask for a summary: it decides from the log, where an agent's limits are. */
export function summaryBufferLimits(given: unknown): Partial<Limits> {
  const read = config.safeParse(given ?? {});
  if (!read.success) return {}; // which is told where plugins are checked
  const { max_turns = MAX_TURNS, max_tokens } = read.data;
  return { contextMaxTurns: max_turns, ...(max_tokens === undefined ? {} : { contextMaxTokens: max_tokens }) };
}

const MUST_KEEP: readonly string[] = ['decisions', 'open points'];

function linesWanted(kinds: readonly string[]): string {
  const lines = kinds.map((kind) => `${kind}: …`).join('\n');
  return `End with these lines, each filled in, or with "none" where there is nothing:\n${lines}`;
}

function missing(summary: string, kinds: readonly string[]): string | undefined {
  const lines = summary.split('\n').map((line) => line.toLowerCase().replace(/^[\s*#-]+/, ''));
  const gone = kinds.filter((kind) => !lines.some((line) => line.startsWith(`${kind.toLowerCase()}:`)));
  return gone.length === 0
    ? undefined
    : `Your last summary had no line for: ${gone.join(', ')}. Write it again with all lines.`;
}

import { turnText } from '../../assembly/turn-text.ts';
import { roughTokens } from '../../domain/cache-profile.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { FactPayload } from '../../domain/event.ts';

export type Why = FactPayload<'memory.compact.request'>['why'];

/** What a plugin answers when it changes nothing. */
export function failed(error: string): { readonly through: 0; readonly summary: ''; readonly error: string } {
  return { through: 0, summary: '', error };
}

/** The turns that go: after `before`, up to and including `through`. In words where none does. */
export function olderTurns(
  conversation: Conversation,
  keepTurns: number,
  why: Why,
): { readonly before: number; readonly through: number } | string {
  const { summary, turns } = conversation;
  const before = summary?.through ?? 0;
  if (turns.length <= before) return 'there is no earlier turn';
  const through = turns.length - kept(conversation, keepTurns, why === 'size' || why === 'window');
  return through <= before ? `there is nothing before the last ${keepTurns} turns` : { before, through };
}

/**
 * How many of the latest turns stay as they are. Where the prompt must become smaller, so many of them as take half of what
 * fits, and at least one turn goes.
 */
function kept(conversation: Conversation, most: number, mustShrink: boolean): number {
  const { turns, turn, summary, contextTokens } = conversation;
  const known = turns.length - (summary?.through ?? 0);
  if (!mustShrink) return Math.min(most, known);
  const { limits, models = [] } = turn?.agent ?? {};
  const fits = limits?.contextMaxTokens ?? models[0]?.contextWindow ?? contextTokens;
  let count = 0;
  for (let tokens = 0; count < Math.min(most, known - 1); count++) {
    tokens += roughTokens(turnText(conversation, turns.length - count)?.length ?? 0);
    if (tokens > fits / 2) break;
  }
  return count;
}

/** Whether the model of this turn can read back what it is no longer shown. */
export function readsBack({ turn }: Conversation): boolean {
  return turn?.agent.tools.some(({ name }) => name === 'context_read') === true;
}

/** `turn 1 is`, `turns 1 to 4 are`. */
export function turnsInWords(through: number): string {
  return through === 1 ? 'turn 1 is' : `turns 1 to ${through} are`;
}

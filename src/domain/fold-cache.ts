import { cacheProfile, roughTokens } from './cache-profile.ts';
import type { CacheMark, Conversation } from './conversation.ts';
import type { FactPayload } from './event.ts';
import { inputTokens } from './usage-sum.ts';

/** Models of a conversation whose caches are remembered: more than anybody switches between. */
const MOST_MARKS = 8;

/**
 * What is known to be cached after an answer. A failed call warms nothing, and neither does one whose provider says that
 * it neither read nor wrote.
 */
export function cachedBy(
  conversation: Conversation,
  { usage, failure }: FactPayload<'llm.response'>,
): Conversation['cached'] {
  const { cached } = conversation;
  const attempt = conversation.turn?.current?.attempts.at(-1);
  if (failure !== undefined || attempt === undefined || conversation.turn === undefined) return cached;
  const { request, at } = attempt;
  const { provider, model } = request.model;
  const profile = cacheProfile({ provider, model });
  if (profile.kind === 'unknown') return cached;
  const { cacheRead = 0, cacheWrite = 0, cacheWriteLong = 0 } = usage;
  const billed = cacheRead + cacheWrite + cacheWriteLong;
  const sent = inputTokens(usage) - roughTokens(request.announce?.length ?? 0);
  const tokens = profile.kind === 'explicit' ? billed : Math.floor(sent / profile.block) * profile.block;
  // What is billed as read or written is there, whatever is said of short prompts.
  const least = profile.kind === 'explicit' ? 1 : Math.max(1, profile.leastTokens);
  const last = cached.at(-1);
  const isAnother = last !== undefined && (last.provider !== provider || last.model !== model);
  // Of another model it is known that it holds nothing: what the one before held is no measure for its next call.
  if (tokens < least && !isAnother) return cached;
  const mark: CacheMark = {
    provider,
    model,
    at,
    livesMs:
      cacheWriteLong > 0
        ? (profile.longMs ?? profile.shortMs)
        : livesMs(conversation, provider, model, profile.shortMs),
    tokens: tokens < least ? 0 : tokens,
    sections: conversation.sections,
    turn: conversation.turn.number,
    revision: conversation.turn.agent.revision,
    selection: conversation.selection?.digest,
    cleared: conversation.cleared.size,
  };
  const others = cached.filter((one) => one.provider !== provider || one.model !== model);
  return [...others.slice(1 - MOST_MARKS), mark];
}

/** Reading alone does not say for how long: as long as before. */
function livesMs({ cached }: Conversation, provider: string, model: string, otherwise: number): number {
  return cached.find((one) => one.provider === provider && one.model === model)?.livesMs ?? otherwise;
}

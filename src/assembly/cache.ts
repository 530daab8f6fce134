import type { Instant } from '../base/clock.ts';
import type { CacheMark, Conversation } from '../domain/conversation.ts';

/** What a provider still holds of a conversation's prompt, as far as the log can tell: of the model that answered last. */
export function warmth({ cached }: Conversation, now: Instant): CacheMark | undefined {
  const mark = cached.at(-1);
  return mark !== undefined && isAlive(mark, now) ? mark : undefined;
}

/** True when nothing of a conversation's prompt would be read from a provider's cache now. */
export function isCold(conversation: Conversation, now: Instant): boolean {
  return warmth(conversation, now) === undefined;
}

/** A clock that was put back makes a mark younger than it is, never older: nobody pays for a mistake of a clock unasked. */
export function isAlive({ at, livesMs }: CacheMark, now: Instant): boolean {
  return now - at <= livesMs;
}

import type { Instant } from '../base/clock.ts';
import type { Conversation, Turn } from '../domain/conversation.ts';

/** How long a section's bytes stay the same, longest first. */
export type Lifetime = 'process' | 'bundle' | 'selection' | 'conversation' | 'turn' | 'iteration';

export interface Section<L extends Lifetime> {
  readonly name: string;
  readonly lifetime: L;
  readonly text: string;
}

/**
 * A prompt, section by section. The tuple is the rule: a shorter-lived section ahead of a longer-lived one does not
 * compile, because whatever changes makes everything after it cold.
 */
export type Sections = readonly [
  protocol: Section<'process'>,
  instructions: Section<'bundle'>,
  tools: Section<'selection'>,
  gallery: Section<'selection'>,
  past: Section<'conversation'>,
  present: Section<'turn'>,
  announce: Section<'iteration'>,
];

/** Blocks that plugins add to announce, by title. */
export type AnnounceBlockSource = Iterable<
  readonly [title: string, block: (turn: Turn, conversation: Conversation, now: Instant) => string | undefined]
>;

/** What a model may be asked for beside the agent's own decisions: a plan, or a summary of older turns. */
export const ASIDE_PURPOSES = ['plan', 'compact'] as const;
export type AsidePurpose = (typeof ASIDE_PURPOSES)[number];

/** A model call beside the decisions of a turn. It is on record and paid for, and leaves the transcript as it was. */
export interface Aside {
  /** Digest of what was asked: the same question of the same turn is answered from the log. */
  readonly prompt: string;
  /** What was answered, where the answer is whole. */
  readonly text: string | undefined;
}

export function isAside(purpose: string | undefined): purpose is AsidePurpose {
  return purpose === 'plan' || purpose === 'compact';
}

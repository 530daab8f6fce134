import { actionId } from './decision.ts';

// Ids of what a model is still saying: known before it has said it, so that pieces on their way and the entry that they
// become have one name. An action's entry has the action's own id.

/**
 * `t2-i3-text`: what the model says in turn 2, iteration 3, be it on the way or the answer. `t2-i3-text-2`: what it says
 * there after a person has cut it short once.
 */
export function spokenId(turnId: string, iteration: number, cuts = 0): string {
  const id = `${turnId}-i${iteration}-text`;
  return cuts === 0 ? id : `${id}-${cuts + 1}`;
}

/** `t2-i3-thinking-1`: the first of its thoughts there. */
export function thoughtId(turnId: string, iteration: number, ordinal: number): string {
  return `${turnId}-i${iteration}-thinking-${ordinal}`;
}

/** `t2-i3-provider-1`: the first thing that the provider did there by itself. */
export function providerId(turnId: string, iteration: number, ordinal: number): string {
  return `${turnId}-i${iteration}-provider-${ordinal}`;
}

/** The entry that a piece of the stream belongs to: the `ordinal`th block of its kind in that iteration, from 1. */
export function streamedId(
  kind: 'text' | 'thinking' | 'action',
  turnId: string,
  iteration: number,
  ordinal: number,
  cuts = 0,
): string {
  switch (kind) {
    case 'text':
      return spokenId(turnId, iteration, cuts);
    case 'thinking':
      return thoughtId(turnId, iteration, ordinal);
    case 'action':
      return actionId(turnId, iteration, ordinal);
  }
}

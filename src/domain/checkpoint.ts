/** A place in a prompt up to which a provider is asked to keep it. */
export interface Checkpoint {
  /**
   * `instructions`: after tools and instructions. `past`: after the turns that have ended. `pre_tail`: some iterations
   * back. `last_tail`: where the request before this one ended. `tail`: after the last message.
   */
  readonly place: CheckpointPlace;
  /** The message after which it stands, by its index; absent for the one before all messages. */
  readonly message?: number;
  /** For the provider's longer time. */
  readonly long: boolean;
}

export const CHECKPOINT_PLACES = ['instructions', 'past', 'pre_tail', 'last_tail', 'tail'] as const;
export type CheckpointPlace = (typeof CHECKPOINT_PLACES)[number];

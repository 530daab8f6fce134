export interface Ended {
  readonly status: string;
  readonly stop: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface EndingInWords {
  readonly words: string;
  /** What was said of it where it happened. */
  readonly detail?: string | undefined;
  /** It goes on from here, once nothing holds it any more. */
  readonly goesOn: boolean;
  /** The same message again may do better. */
  readonly repeats: boolean;
}

/** Why there is no answer, for the person who waited for one. `told`: what the agent itself was told last, of an action. */
export function endingInWords({ status, stop, error }: Ended, told: string | undefined): EndingInWords {
  const detail = error?.message;
  if (status === 'stopped') return { words: 'Stopped.', goesOn: true, repeats: false };
  if (status === 'plan_rejected')
    return { words: 'The plan was rejected, so nothing was done.', goesOn: false, repeats: false };
  if (status === 'max_iterations_reached')
    return {
      words: 'The limit of model calls was reached before there was an answer. Say “go on” for another turn.',
      goesOn: false,
      repeats: false,
    };
  if (stop === 'limit') return { words: 'A limit was reached.', detail, goesOn: true, repeats: false };
  if (stop === 'gate') return { words: 'A gate refused.', detail, goesOn: false, repeats: true };
  if (stop === 'length' || stop === 'refused' || stop === 'filtered')
    return { words: 'There is no whole answer.', detail, goesOn: false, repeats: true };
  if (detail !== undefined && detail === told)
    return {
      words: 'The agent got no further: too many of its actions in a row did not work, so it was stopped.',
      detail: `It was told last: “${detail}”`,
      goesOn: false,
      repeats: true,
    };
  return { words: 'This went wrong.', detail, goesOn: false, repeats: true };
}

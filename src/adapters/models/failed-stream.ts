import type { ModelFailure, ModelPart } from '../../domain/model.ts';
import type { ModelStream } from '../../kernel/model.ts';

/** The stream of a call that failed before anything arrived. */
export function failedStream(failure: ModelFailure): ModelStream {
  let part: ModelPart | undefined = { type: 'failure', failure };
  return {
    next() {
      const now = part;
      part = undefined;
      return now;
    },
    close() {
      part = undefined;
    },
  };
}

import type { ModelRef } from '../domain/agent.ts';
import type { ActionState } from '../domain/conversation.ts';
import type { FactPayload } from '../domain/event.ts';
import type { EndStatus, StopKind } from '../domain/status.ts';

/** What a worker is to do next. `rest`: nothing, until somebody else states a fact. */
export type Command =
  | { readonly type: 'start_turn' }
  | { readonly type: 'plan' }
  /** These results leave the prompt. */
  | { readonly type: 'clear'; readonly actions: readonly string[] }
  | { readonly type: 'compact'; readonly why: FactPayload<'memory.compact.request'>['why'] }
  /** Attempt `attempt` (from 1) at the next model call, or at the current one when it failed or was lost. */
  | {
      readonly type: 'call_model';
      readonly attempt: number;
      readonly model: ModelRef;
      readonly backoff?: Backoff;
      readonly wrapUp: boolean;
    }
  /** These actions have no observation and wait for nobody. */
  | { readonly type: 'act'; readonly actions: readonly ActionState[] }
  /** Every open action gets an observation without being run. */
  | { readonly type: 'settle'; readonly why: 'cancelled' | 'steered' | 'ended' | 'crashed' }
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'end'; readonly status: EndStatus; readonly stop: StopKind; readonly error?: TurnError }
  | { readonly type: 'rest' };

export interface TurnError {
  readonly code: string;
  readonly message: string;
}

/** How long to wait before an attempt: what the provider asked for, or `step` doublings of a second, with jitter. */
export interface Backoff {
  readonly step: number;
  readonly retryAfterMs: number | undefined;
}

/** The turn ends at a limit, and goes on here once that is raised. */
export function limited(status: EndStatus, code: string, message: string): Command {
  return { type: 'end', status, stop: 'limit', error: { code, message } };
}

/** The turn ends because what it goes by does not do its part. */
export function broken(code: string, message: string): Command {
  return { type: 'end', status: 'error', stop: 'protocol', error: { code, message } };
}

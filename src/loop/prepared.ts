import type { Json } from '../base/json.ts';
import { openRequests, type ActionState, type Turn } from '../domain/conversation.ts';
import type { Draft } from '../domain/event.ts';
import type { Observation } from '../domain/tool.ts';
import type { Tool } from '../kernel/running-tool.ts';
import { inTurn } from './work.ts';

/** An action that may run: allowed, valid, and refused by nobody. */
export interface Ready {
  readonly type: 'ready';
  readonly state: ActionState;
  readonly tool: Tool;
  readonly args: Json;
  readonly argumentHash: string;
  /** Who changed what the model asked for. */
  readonly revisedBy: string | undefined;
  /** Milliseconds until it is given up, where a gate says otherwise than the tool. */
  readonly timeoutMs?: number | undefined;
  /** The allowances that stood for a person's answer, where nobody had to be asked. */
  readonly allowedBy?: readonly string[] | undefined;
  readonly verdicts: readonly Draft[];
  /** Its intent is on record already. */
  readonly begun: boolean;
  /** The words of the person that the tool asked on its first run. */
  readonly reply: string | undefined;
  /** A crash came between intent and result, and the tool can say whether it happened. */
  readonly probe: boolean;
  /** What came of the work outside or of the child run that the action has waited for. */
  readonly delivered?: Observation;
}

/** An action that will not run now: it has its observation, or waits for a person. */
export interface Settled {
  readonly type: 'settled';
  readonly drafts: readonly Draft[];
}

/** What the model is told instead of a result. Nobody is asked about that action any more. */
export function observed(
  turn: Turn,
  state: ActionState,
  outcome: Observation['outcome'],
  code: string,
  message: string,
): Settled {
  const drafts: Draft[] = [
    inTurn(turn, 'tool.result', { action: state.action.id, ...observation(outcome, code, message) }),
  ];
  for (const open of openRequests(turn))
    if (open.action === state.action.id)
      drafts.unshift(inTurn(turn, 'hitl.cancel', { request: open.request, reason: code }));
  return { type: 'settled', drafts };
}

export function observation(outcome: Observation['outcome'], code: string, message: string): Observation {
  return { outcome, synthetic: true, error: { code, message } };
}

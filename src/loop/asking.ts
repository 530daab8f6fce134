import type { Turn } from '../domain/conversation.ts';
import type { Draft } from '../domain/event.ts';
import type { Ran } from './run-tool.ts';
import { inTurn } from './work.ts';

/** A tool asks a person, whose words it is run again with. */
export function asking(turn: Turn, action: string, gate: string, asked: Extract<Ran, { type: 'ask' }>): Draft {
  const { question, choices, consent } = asked;
  return inTurn(turn, 'hitl.requested', {
    request: `${action}-q${turn.requests.filter((one) => one.action === action).length + 1}`,
    kind: 'input',
    action,
    question,
    ...(choices === undefined ? {} : { choices: [...choices] }),
    ...(consent === undefined ? {} : { consent: { account: consent.account, claims: [...consent.claims] } }),
    gate,
  });
}

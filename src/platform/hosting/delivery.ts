import { TreadleError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Part } from '../../domain/content.ts';
import { openActions, openWaits, type Conversation, type Wait } from '../../domain/conversation.ts';
import type { Draft, FactPayload } from '../../domain/event.ts';

/** What came of work outside, as whoever did it hands it in. */
export interface Delivery {
  readonly ticket: string;
  readonly outcome: 'ok' | 'failed';
  readonly value?: Json | undefined;
  readonly content?: readonly Part[] | undefined;
  /** For a failure: why. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/**
 * A delivery as it will be on record, once a ticket. Throws `ticket_unknown` for one that nothing waits or has waited for.
 *
 * Who works may be faster than the record of the wait: while an action runs, any ticket may be its.
 */
export function checkedDelivery(conversation: Conversation, delivery: Delivery, by: string): Draft {
  const { ticket, outcome, value, content, error } = delivery;
  if (!isExpected(conversation, ticket)) {
    const open = conversation.turn === undefined ? [] : openWaits(conversation.turn);
    const tickets = open.flatMap((one) => (one.kind === 'computation' ? [one.ticket] : []));
    throw new TreadleError('ticket_unknown', {
      place: conversation.id,
      found: JSON.stringify(ticket),
      wanted: tickets.length === 0 ? 'a ticket that is waited for; none is' : tickets.join(' or '),
    });
  }
  const payload: FactPayload<'computation.ended'> = {
    ticket,
    outcome,
    ...(value !== undefined && { value }),
    ...(content !== undefined && { content: [...content] }),
    ...(error !== undefined && outcome === 'failed' && { error: { ...error } }),
    by,
  };
  return { type: 'computation.ended', payload, key: ticket, turnId: conversation.turn?.id };
}

function isExpected({ turn, turns }: Conversation, ticket: string): boolean {
  const is = (one: Wait): boolean => one.kind === 'computation' && one.ticket === ticket;
  if (turn !== undefined && openWaits(turn).some(is)) return true;
  // What is on record already is the answer to a repetition.
  const isOver = (one: Wait): boolean => is(one) && one.ended !== undefined;
  for (const { waits } of turns) if (waits.some(isOver)) return true;
  if (turn === undefined) return false;
  if (turn.waits.some(isOver) || turn.early.some((one) => one.ticket === ticket)) return true;
  const waiting = new Set(turn.waits.map((one) => one.action));
  return openActions(turn).some(({ action, begun }) => begun !== undefined && !waiting.has(action.id));
}

import type { Turn, Wait } from './conversation.ts';
import type { FactPayload } from './event.ts';

/** An action waits for work outside. The result may be here already: who works is not told to wait for our disk. */
export function awaitResult(turn: Turn, payload: FactPayload<'computation.started'>): Turn {
  const wait: Wait = { kind: 'computation', ...payload };
  const ended = turn.early.find((one) => one.ticket === payload.ticket);
  if (ended === undefined) return { ...turn, waits: [...turn.waits, wait] };
  return { ...turn, waits: [...turn.waits, { ...wait, ended }], early: turn.early.filter((one) => one !== ended) };
}

/** The first result of a ticket counts. */
export function deliver(turn: Turn, payload: FactPayload<'computation.ended'>): Turn {
  const known = turn.waits.some((one) => one.kind === 'computation' && one.ticket === payload.ticket);
  if (!known) return { ...turn, early: [...turn.early, payload] };
  const waits = turn.waits.map((one) =>
    one.kind === 'computation' && one.ticket === payload.ticket && one.ended === undefined
      ? { ...one, ended: payload }
      : one,
  );
  return { ...turn, waits };
}

export function awaitChild(turn: Turn, { action, ...payload }: FactPayload<'subagent.started'>): Turn {
  if (action === undefined) return turn; // nothing waits for it
  return { ...turn, waits: [...turn.waits, { kind: 'subagent', action, ...payload }] };
}

export function childDone(turn: Turn, payload: FactPayload<'subagent.ended'>): Turn {
  const waits = turn.waits.map((one) =>
    one.kind === 'subagent' && one.conversation === payload.conversation && one.ended === undefined
      ? { ...one, ended: payload }
      : one,
  );
  return { ...turn, waits };
}

import type { ActionData, Waited } from './entry.ts';
import type { FactOf } from './event.ts';
import { inAction } from './timeline-action.ts';
import { revise, type Timeline } from './timeline-edit.ts';
import { notice } from './timeline-notice.ts';

/** An action waits for work outside, or for a child run: told on its card. */
export function awaitOther(
  timeline: Timeline,
  fact: FactOf<'computation.started'> | FactOf<'subagent.started'>,
): Timeline {
  const { action } = fact.payload;
  const told =
    action === undefined
      ? undefined
      : inAction(timeline, fact, action, (data) => ({ ...data, state: 'waiting', waits: waited(fact) }));
  if (told !== undefined || fact.type === 'computation.started') return told ?? timeline;
  return notice(timeline, fact, 'subagent', `${fact.payload.agent} began to work on ${fact.payload.conversation}.`);
}

/** What was waited for is over. The action's result follows. */
export function otherDone(timeline: Timeline, fact: FactOf<'computation.ended'> | FactOf<'subagent.ended'>): Timeline {
  const told = revise(timeline, fact, (entry) => {
    if (entry.role !== 'action' || entry.data.state === 'done') return undefined;
    const waits = ended(entry.data, fact);
    return waits === undefined ? undefined : { ...entry, data: { ...entry.data, state: 'running', waits } };
  });
  if (told !== undefined || fact.type === 'computation.ended') return told ?? timeline;
  return notice(timeline, fact, 'subagent', `${fact.payload.conversation} ended: ${fact.payload.status}.`);
}

function waited(fact: FactOf<'computation.started'> | FactOf<'subagent.started'>): Waited {
  if (fact.type === 'subagent.started')
    return { kind: 'subagent', run: fact.payload.conversation, agent: fact.payload.agent };
  const { ticket, note, deadline } = fact.payload;
  return {
    kind: 'computation',
    ticket,
    ...(note !== undefined && { note }),
    ...(deadline !== undefined && { deadline }),
  };
}

function ended(
  { waits }: ActionData,
  fact: FactOf<'computation.ended'> | FactOf<'subagent.ended'>,
): Waited | undefined {
  if (waits?.kind === 'computation' && fact.type === 'computation.ended')
    return waits.ticket === fact.payload.ticket && waits.outcome === undefined
      ? { ...waits, outcome: fact.payload.outcome }
      : undefined;
  if (waits?.kind === 'subagent' && fact.type === 'subagent.ended')
    return waits.run === fact.payload.conversation && waits.status === undefined
      ? { ...waits, status: fact.payload.status }
      : undefined;
  return undefined;
}

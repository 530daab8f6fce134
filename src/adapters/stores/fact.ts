import type { Instant } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Draft, Fact } from '../../domain/event.ts';
import { FACT_VERSIONS } from '../../domain/event-types.ts';
import { factId } from '../../domain/fact-id.ts';
import type { ConversationMeta } from '../../kernel/log.ts';

/** A draft at its place in the log. Every fact has the same keys in the same order, absent ones as undefined. */
export function placed(conversationId: string, agentPath: string, seq: number, at: Instant, draft: Draft): Fact {
  return {
    seq,
    id: factId(conversationId, seq),
    type: draft.type,
    v: FACT_VERSIONS[draft.type],
    at,
    conversationId,
    agentPath,
    turnId: draft.turnId,
    iteration: draft.iteration,
    causedBy: draft.causedBy,
    source: draft.source,
    payload: draft.payload,
  } as Fact; // a draft pairs type and payload, which the compiler forgets when it takes them apart
}

/** The same fact in another conversation, as a fork has it. */
export function copied(fact: Fact, { id, agentPath }: Pick<ConversationMeta, 'id' | 'agentPath'>): Fact {
  const near = `${fact.conversationId}:`;
  const causedBy = fact.causedBy?.startsWith(near) ? `${id}:${fact.causedBy.slice(near.length)}` : fact.causedBy;
  return { ...fact, id: factId(id, fact.seq), conversationId: id, agentPath, causedBy };
}

export function busyConversation(place: string): TreadleError {
  return new TreadleError('conversation_busy', { place, hint: 'stop the run first, or wait until it rests' });
}

export function unknownConversation(place: string): TreadleError {
  return new TreadleError('conversation_unknown', { place, hint: 'create it first, or check the id' });
}

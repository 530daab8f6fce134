import { shortDigest } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import { toJson } from '../../base/json.ts';
import { utf8Length } from '../../base/text.ts';
import { promptSections, render } from '../../assembly/render.ts';
import { sectionReads } from '../../assembly/section-reads.ts';
import { emptyConversation, type Conversation } from '../../domain/conversation.ts';
import { isAside } from '../../domain/aside.ts';
import type { Fact, FactOf } from '../../domain/event.ts';
import { apply } from '../../domain/fold.ts';
import type { Caller } from './caller.ts';
import { runOf, type RunsPorts } from './ports.ts';
import type { Prompt, PromptQuery } from './prompt.ts';

/** A model call and the conversation as it was when the call was made. */
interface Call {
  readonly request: FactOf<'llm.request'>;
  readonly conversation: Conversation;
  answer: FactOf<'llm.response'> | undefined;
  cold: FactOf<'cache.cold'> | undefined;
}

const PAGE = 1_000;

/** What the model saw: rendered by the very function that rendered it then, from the log up to the call. */
export async function prompt(ports: RunsPorts, caller: Caller, id: string, query: PromptQuery): Promise<Prompt> {
  const row = await runOf(ports, caller, 'read', id);
  let conversation = emptyConversation(row.id, row.agentPath);
  let call: Call | undefined;
  for (;;) {
    const page = await ports.log.read(id, conversation.head, PAGE);
    for (const fact of page) {
      if (isAsked(fact, conversation, query))
        call = { request: fact, conversation, answer: undefined, cold: undefined };
      else if (call !== undefined && isAnswerTo(fact, call)) call.answer = fact;
      else if (fact.type === 'cache.cold' && call !== undefined && fact.causedBy === call.request.id) call.cold = fact;
      conversation = apply(conversation, fact);
    }
    if (page.length < PAGE) break;
  }
  if (call === undefined)
    throw new TreadleError('prompt_unknown', {
      place: id,
      found: `iteration ${query.iteration}${query.turn === undefined ? '' : ` of turn ${query.turn}`}`,
    });
  return promptOf(id, call);
}

function isAsked(
  fact: Fact,
  { turn }: Conversation,
  { iteration, turn: number }: PromptQuery,
): fact is FactOf<'llm.request'> {
  if (fact.type !== 'llm.request' || fact.iteration !== iteration || turn === undefined) return false;
  const { purpose } = fact.payload;
  if (isAside(purpose)) return false;
  return number === undefined || number === turn.number;
}

function isAnswerTo(fact: Fact, { request }: Call): fact is FactOf<'llm.response'> {
  return (
    fact.type === 'llm.response' &&
    fact.turnId === request.turnId &&
    fact.iteration === request.iteration &&
    fact.payload.attempt === request.payload.attempt &&
    !isAside(fact.payload.purpose)
  );
}

function promptOf(id: string, { request: { iteration = 0, payload }, conversation, answer, cold }: Call): Prompt {
  const { turn } = conversation;
  if (turn === undefined) throw new Error('Treadle bug: a model call outside of a turn');
  const model = turn.agent.models.find(
    (one) => one.provider === payload.model.provider && one.model === payload.model.model,
  );
  const request = render(conversation, turn, {
    model: model ?? payload.model,
    announce: payload.announce,
    toolChoice: payload.choice,
  });
  const sections = promptSections(request, conversation).map(({ name, lifetime, text }) => ({
    name,
    lifetime,
    digest: shortDigest(text),
    bytes: utf8Length(text),
    cached: lifetime !== 'iteration',
    text,
  }));
  const reads = sectionReads(sections, answer?.payload.usage);
  const { expectedRead, markers, unmarked } = payload;
  return {
    run: id,
    turn: turn.number,
    iteration,
    attempt: payload.attempt,
    model: payload.model,
    role: payload.role,
    ...(payload.purpose !== undefined && { purpose: payload.purpose }),
    sections: sections.map((section) => {
      const read = reads.get(section.name);
      return read === undefined ? section : { ...section, read };
    }),
    messages: toJson(request.messages),
    ...(request.toolChoice !== undefined && { toolChoice: toJson(request.toolChoice) }),
    ...(payload.allowed !== undefined && { allowed: payload.allowed }),
    ...(answer !== undefined && { usage: answer.payload.usage, stop: answer.payload.stop }),
    cache: {
      ...(expectedRead !== undefined && { expectedRead }),
      ...(markers !== undefined && { markers }),
      ...(unmarked !== undefined && { unmarked }),
      ...(cold !== undefined && { cold: cold.payload }),
    },
  };
}

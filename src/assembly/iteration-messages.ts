import { isoTime } from '../base/clock.ts';
import { deepFreeze } from '../base/freeze.ts';
import { isObject, type JsonObject } from '../base/json.ts';
import { isBlank } from '../base/text.ts';
import type { ModelRef } from '../domain/agent.ts';
import type { Part } from '../domain/content.ts';
import {
  iterationsOf,
  type ActionState,
  type Conversation,
  type Input,
  type Iteration,
  type SourceEvent,
  type Turn,
} from '../domain/conversation.ts';
import type { AssistantBlock, Block, Message, ToolMessageResult } from '../domain/model.ts';
import type { Observation } from '../domain/tool.ts';
import { observationText, shownToModels } from './observation.ts';

export type Target = Pick<ModelRef, 'provider' | 'model'>;

/** For whom messages are made, and what they are not shown of it. */
export interface View extends Target {
  readonly cleared: Conversation['cleared'];
}

export function isPaused({ response }: Iteration): boolean {
  return response?.stop === 'paused';
}

/** What one request said in reply, and what followed: the same bytes whenever it is made. */
export function iterationMessages(iteration: Iteration, turn: Turn, target: View): readonly Message[] {
  const paused = isPaused(iteration);
  const messages: Message[] = [...iteration.inputs.flatMap(spoken), ...happened(iteration.heard)];
  const { response, decision } = iteration;
  if (response !== undefined && decision !== undefined) {
    const open = paused && iteration === turn.current && turn.end === undefined && turn.pending.length === 0;
    const content =
      turn.agent.grammar === 'json'
        ? textBlocks(response.content)
        : blocks(iteration, sameModel(iteration, target), open ? undefined : resultsOf(iteration, turn));
    if (content.length > 0) messages.push({ role: 'assistant', content });
    messages.push(...answers(iteration, turn, target.cleared));
  }
  // Where it was loaded, so that nothing before it changes.
  for (const { name, text } of iteration.skills ?? []) messages.push(told(`[SKILL ${name}]\n${text}`));
  messages.push(...happened(iteration.events));
  // Kept for later calls, so nobody may change it: a gate that wants other messages revises the request.
  return deepFreeze(messages);
}

/** What follows the model's words: the results of its actions, or what was wrong with them. */
function answers(iteration: Iteration, turn: Turn, cleared: View['cleared']): Message[] {
  switch (iteration.decision?.type) {
    case 'actions': {
      const results = iteration.actions.map((state) => result(state, cleared.has(state.action.id) ? turn : undefined));
      if (turn.agent.grammar === 'native') return [{ role: 'tool', results }];
      // Without tool calling there are no tool messages: the observation is told as text.
      return results.map(({ name, observation, note }) =>
        told(`Observation of ${name}: ${observationText(observation, note)}`),
      );
    }
    case 'invalid':
      return [told(`Your decision was not valid: ${iteration.decision.problem}`)];
    case 'empty':
      return iteration.response?.stop === 'paused'
        ? []
        : [told('Your reply was empty. Answer in words, or call a tool.')];
    case 'answer': {
      const { refused } = iteration;
      return refused?.again === undefined ? [] : [told(`Your answer was not given to the user. ${refused.again}`)];
    }
    case undefined:
      return [];
  }
}

export function told(text: string): Message {
  return { role: 'user', synthetic: true, content: [{ type: 'text', text }] };
}

/** What happened elsewhere, each where it was first told. It is material, and nobody's instruction. */
export function happened(events: readonly SourceEvent[] = []): Message[] {
  return events.map(({ source, text, at }) => {
    const when = at === undefined ? '' : ` ${isoTime(at).slice(0, 16)}Z`;
    return told(`[EVENT ${source}${when}]\n${text}`);
  });
}

const said = new WeakMap<Input, readonly Message[]>();

/** What a person said, as the same object in every request: a transcript that grew is seen to have grown. */
export function spoken(input: Input): readonly Message[] {
  let messages = said.get(input);
  if (messages === undefined) said.set(input, (messages = deepFreeze(message(input))));
  return messages;
}

function message(input: Input): readonly Message[] {
  const content: Part[] = isBlank(input.text) ? [] : [{ type: 'text', text: input.text }];
  for (const attachment of input.attachments ?? []) {
    if (attachment.type !== 'text' || !isBlank(attachment.text)) content.push(attachment);
  }
  return content.length === 0 ? [] : [{ role: 'user', content }];
}

function sameModel(iteration: Iteration, target: Target): boolean {
  const asked = iteration.attempts.at(-1)?.request.model;
  return asked?.provider === target.provider && asked.model === target.model;
}

function textBlocks(content: readonly Block[]): AssistantBlock[] {
  return content
    .filter((one) => one.type === 'text' && !isBlank(one.text))
    .map((one) => ({ type: 'text', text: one.type === 'text' ? one.text : '' }));
}

/** Calls of the provider's own tools that have their result, in this answer or where a paused one went on. */
function resultsOf(iteration: Iteration, turn: Turn): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { response } of isPaused(iteration) ? iterationsOf(turn) : [iteration]) {
    for (const one of response?.content ?? [])
      if (one.type === 'provider' && one.role === 'result' && one.call !== undefined) found.add(one.call);
  }
  return found;
}

/** The answer's blocks. `same`: for the model that gave it. Without `finished`, calls without a result stay: the provider goes on from here. */
function blocks(iteration: Iteration, same: boolean, finished: ReadonlySet<string> | undefined): AssistantBlock[] {
  const content = iteration.response?.content ?? [];
  const out: AssistantBlock[] = [];
  for (const one of content) {
    switch (one.type) {
      case 'text':
        if (!isBlank(one.text)) out.push(same || one.opaque === undefined ? one : { type: 'text', text: one.text });
        break;
      case 'thinking': {
        const thought = iteration.thoughts[one.step];
        // A signature is worth something only to the model that made it, and a thought without one says nothing.
        if (!same || thought === undefined || (thought.opaque === undefined && isBlank(thought.text))) break;
        out.push(
          thought.opaque === undefined
            ? { type: 'thinking', text: thought.text }
            : { type: 'thinking', text: thought.text, opaque: thought.opaque },
        );
        break;
      }
      case 'action': {
        const state = iteration.actions.find((action) => action.action.id === one.id);
        if (state === undefined) break;
        const action = { type: 'action' as const, id: one.id, name: one.name, arguments: calledWith(state) };
        out.push(same && one.opaque !== undefined ? { ...action, opaque: one.opaque } : action);
        break;
      }
      case 'file':
        if (same) out.push(one);
        break;
      case 'provider':
        if (same && (one.role !== 'call' || one.call === undefined || finished?.has(one.call) !== false)) out.push(one);
        break;
    }
  }
  return out;
}

/** An object, always: providers refuse anything else, also for a call whose arguments were never valid. */
function argumentsOf(state: ActionState): JsonObject {
  const given = state.begun?.arguments ?? state.action.arguments;
  return isObject(given) ? given : {};
}

/** As the model called it: a tool that was found is called by way of another. */
function calledWith(state: ActionState): JsonObject {
  const given = argumentsOf(state);
  return state.action.via === undefined ? given : { tool: state.action.name, arguments: given };
}

/** `clearedIn`: the turn, where its result is no longer shown. */
function result(state: ActionState, clearedIn: Turn | undefined): ToolMessageResult {
  const { id, name: own, via: name = own } = state.action;
  const by = state.begun?.revisedBy;
  const whole = state.observation === undefined ? missing(state) : shownToModels(state.observation);
  const observation = clearedIn === undefined ? whole : cleared(whole, id, clearedIn);
  return by === undefined
    ? { id, name, observation }
    : {
        id,
        name,
        observation,
        note: `The arguments were changed by ${by} before it ran; the call above shows what ran.`,
      };
}

/** In place of a result that is no longer shown: how large it was, and how it is read. The same bytes in every request. */
function cleared(observation: Observation, id: string, { agent }: Turn): Observation {
  const text = observationText(observation);
  const reads = agent.tools.some(({ name }) => name === 'context_read');
  const value = { cleared: { characters: text.length, ...(reads ? { read_with: `context_read action ${id}` } : {}) } };
  return { outcome: observation.outcome, value };
}

/** For an action that has no observation yet: the request must still be whole. */
function missing(state: ActionState): Observation {
  return state.begun === undefined
    ? { outcome: 'cancelled', synthetic: true, error: { code: 'not_run', message: 'This action was not run.' } }
    : {
        outcome: 'unknown',
        synthetic: true,
        error: {
          code: 'no_result',
          message: 'This action was begun and has no result: it may or may not have happened.',
        },
      };
}

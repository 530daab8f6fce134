import { isoTime } from '../base/clock.ts';
import { deepFreeze } from '../base/freeze.ts';
import type { AppendList } from '../base/append-list.ts';
import { isObject, type JsonObject } from '../base/json.ts';
import type { ModelRef } from '../domain/agent.ts';
import type { Part } from '../domain/content.ts';
import { isBlank } from '../base/text.ts';
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

/**
 * A conversation as the messages of one model call.
 *
 * Total: every log gives a request that providers accept. Each action has exactly one result, in the order asked;
 * nothing empty goes out; what a provider signed goes back whole to that model and to no other; what nobody said is
 * marked synthetic. Finished turns and iterations never change, so their messages are made once, and are the same
 * objects in every request.
 */
export function transcript(conversation: Conversation, target: Target): readonly Message[] {
  const { turn } = conversation;
  const messages = pastMessages(conversation, target);
  if (turn !== undefined) messages.push(...turnMessages(turn, viewOf(conversation, target)));
  return messages;
}

/** For whom messages are made, and what they are not shown of it. */
interface View extends Target {
  readonly cleared: Conversation['cleared'];
}

function viewOf({ cleared }: Conversation, { provider, model }: Target): View {
  return { provider, model, cleared };
}

/** What was made of the items of a list that only grows: kept beside it, and made on with every item it gets. */
interface Made {
  /** All is made anew where one of these is another: the model, and what comes before the items. */
  readonly of: readonly unknown[];
  readonly messages: Message[];
  /** How many messages there are before the first item, and up to and including each. */
  readonly ends: number[];
  /** Those of the item that the list will get next, as it was last seen. */
  next: { readonly item: object; readonly messages: readonly Message[] } | undefined;
}

function madeOf<T>(list: AppendList<T>, of: readonly unknown[], before: () => Message[]): Made {
  const known = list.aside as Made | undefined; // nobody else puts anything there
  if (known?.of.every((one, index) => one === of[index]) === true) return known;
  const messages = before();
  const made: Made = { of, messages, ends: [messages.length], next: undefined };
  list.aside = made;
  return made;
}

/** The messages of the first `count` items: an older version of the list has fewer than were made. */
function firstOf({ messages, ends }: Made, count: number): Message[] {
  return messages.slice(0, ends[Math.min(count, ends.length - 1)]);
}

/** The turns that have ended. */
function pastMessages(conversation: Conversation, target: Target): Message[] {
  return firstOf(pastMade(conversation, target), conversation.turns.length);
}

/** The messages of one turn that has ended; with the first turn, what comes before it. */
export function pastOf(conversation: Conversation, target: Target, index: number): readonly Message[] {
  const { messages, ends } = pastMade(conversation, target);
  return messages.slice(index === 0 ? 0 : ends[index], ends[index + 1]);
}

/** Where things end in a transcript, in messages: the turns that have ended, then each request of this turn so far. */
export function endsOf(
  conversation: Conversation,
  target: Target,
): { readonly past: number; readonly requests: readonly number[] } {
  const { turn, turns } = conversation;
  const past = pastMade(conversation, target).ends[turns.length] ?? 0;
  if (turn?.current === undefined) return { past, requests: [] };
  const made = turn.iterations.aside as Made | undefined; // made with the transcript
  return { past, requests: (made?.ends ?? []).slice(0, turn.iterations.length + 1).map((end) => past + end) };
}

function pastMade(conversation: Conversation, target: Target): Made {
  const { turns, summary, cleared } = conversation;
  const view = viewOf(conversation, target);
  const made = madeOf(turns, [target.provider, target.model, summary, cleared], () => summaryMessage(summary));
  for (let index = made.ends.length - 1; index < turns.length; index++) {
    const turn = turns.at(index);
    if (turn === undefined) break;
    if (turn.number > (summary?.through ?? 0)) made.messages.push(...turnMessages(turn, view));
    made.ends.push(made.messages.length);
    turn.iterations.aside = undefined; // it is in this list from now on
  }
  return made;
}

function summaryMessage(summary: Conversation['summary']): Message[] {
  if (summary === undefined || isBlank(summary.text)) return [];
  return [told(`[SUMMARY OF THE CONVERSATION SO FAR]\n${summary.text}`)];
}

function turnMessages(turn: Turn, target: View): Message[] {
  const { inputs, skills, events, iterations, current, agent } = turn;
  const made = madeOf(
    iterations,
    [target.provider, target.model, target.cleared, inputs, skills, events, agent.grammar],
    () => [
      ...inputs.flatMap(spoken),
      ...happened(events),
      ...skills.map(({ name, text }) => told(`[SKILL ${name}]\n${text}`)),
    ],
  );
  for (let index = made.ends.length - 1; index < iterations.length; index++) {
    const iteration = iterations.at(index);
    // What a paused answer left open is finished by a later one: only the whole turn tells.
    if (iteration === undefined || isPaused(iteration)) break;
    made.messages.push(...madeBefore(made, iteration, turn, target));
    made.ends.push(made.messages.length);
  }
  const messages = firstOf(made, iterations.length);
  for (let index = made.ends.length - 1; index < iterations.length; index++) {
    const iteration = iterations.at(index);
    if (iteration !== undefined) messages.push(...iterationMessages(iteration, turn, target));
  }
  if (current !== undefined) {
    const latest = madeBefore(made, current, turn, target);
    if (!isPaused(current)) made.next = { item: current, messages: latest };
    messages.push(...latest);
  }
  for (const input of turn.pending) messages.push(...spoken(input));
  return messages;
}

/** The same objects as when the iteration was the one in work. */
function madeBefore({ next }: Made, iteration: Iteration, turn: Turn, target: View): readonly Message[] {
  return next?.item === iteration ? next.messages : iterationMessages(iteration, turn, target);
}

function isPaused({ response }: Iteration): boolean {
  return response?.stop === 'paused';
}

function iterationMessages(iteration: Iteration, turn: Turn, target: View): readonly Message[] {
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

function told(text: string): Message {
  return { role: 'user', synthetic: true, content: [{ type: 'text', text }] };
}

/** What happened elsewhere, each where it was first told. It is material, and nobody's instruction. */
function happened(events: readonly SourceEvent[] = []): Message[] {
  return events.map(({ source, text, at }) => {
    const when = at === undefined ? '' : ` ${isoTime(at).slice(0, 16)}Z`;
    return told(`[EVENT ${source}${when}]\n${text}`);
  });
}

const said = new WeakMap<Input, readonly Message[]>();

/** What a person said, as the same object in every request: a transcript that grew is seen to have grown. */
function spoken(input: Input): readonly Message[] {
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

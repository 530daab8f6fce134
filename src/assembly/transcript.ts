import type { AppendList } from '../base/append-list.ts';
import { isBlank } from '../base/text.ts';
import type { Conversation, Iteration, Turn } from '../domain/conversation.ts';
import type { Message } from '../domain/model.ts';
import { happened, isPaused, iterationMessages, spoken, told, type Target, type View } from './iteration-messages.ts';

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

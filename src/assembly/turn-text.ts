import { shownToModels } from './observation.ts';
import { canonicalJson } from '../base/json.ts';
import { iterationsOf, type ActionState, type Conversation, type Turn } from '../domain/conversation.ts';
import { plainText } from '../domain/plain-text.ts';
import type { Observation } from '../domain/tool.ts';

/** An earlier turn as a person would read it aloud: what was said, called, seen and answered. */
export function turnText({ turns }: Pick<Conversation, 'turns'>, number: number): string | undefined {
  const turn = turns.at(number - 1);
  if (turn === undefined) return undefined;
  return [`turn ${turn.number}`, ...lines(turn)].join('\n');
}

/** The result of an action as it was, or where the whole of it is kept. Undefined where it has none. */
export function resultText(
  { turns, turn }: Pick<Conversation, 'turns' | 'turn'>,
  id: string,
): { readonly text: string; readonly ref: string | undefined } | undefined {
  const number = Number(/^t(\d+)-/.exec(id)?.[1] ?? 0);
  const found = turn?.number === number ? turn : turns.at(number - 1);
  if (found === undefined) return undefined;
  for (const { actions } of iterationsOf(found)) {
    const seen = actions.find(({ action }) => action.id === id)?.observation;
    const observation = seen === undefined ? undefined : shownToModels(seen);
    if (observation !== undefined) return { text: resultOf(observation), ref: observation.ref };
  }
  return undefined;
}

function* lines(turn: Turn): Generator<string> {
  for (const input of turn.inputs) yield said('user', input.text);
  for (const { inputs, response, actions } of iterationsOf(turn)) {
    for (const input of inputs) yield said('user', input.text);
    for (const block of response?.content ?? []) if (block.type === 'text') yield said('assistant', block.text);
    for (const action of actions) yield* called(action);
  }
  if (turn.end !== undefined && turn.end.status !== 'completed') yield `the turn ended: ${turn.end.status}`;
}

function said(who: string, text: string): string {
  return `${who}: ${text}`;
}

function* called({ action, begun, observation }: ActionState): Generator<string> {
  yield `call: ${action.name} ${canonicalJson(begun?.arguments ?? action.arguments)}`;
  if (observation === undefined) return;
  yield `result: ${observation.outcome}${told(shownToModels(observation))}`;
}

function told(observation: Observation): string {
  const text = resultOf(observation);
  const { ref } = observation;
  const cut = ref === undefined ? '' : ` (cut; the whole is ref ${ref})`;
  return `${text === '' ? '' : ` ${text}`}${cut}`;
}

function resultOf({ value, content, error }: Observation): string {
  const parts: string[] = [];
  if (error !== undefined) parts.push(`${error.code}: ${error.message}`);
  if (value !== undefined) parts.push(canonicalJson(value));
  if (content !== undefined) parts.push(plainText(content));
  return parts.join(' ');
}

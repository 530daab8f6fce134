import { shownToModels } from './observation.ts';
import { canonicalJson } from '../base/json.ts';
import { iterationsOf, type ActionState, type Conversation, type Turn } from '../domain/conversation.ts';
import { plainText } from '../domain/plain-text.ts';

/** An earlier turn as a person would read it aloud: what was said, called, seen and answered. */
export function turnText({ turns }: Pick<Conversation, 'turns'>, number: number): string | undefined {
  const turn = turns.at(number - 1);
  if (turn === undefined) return undefined;
  return [`turn ${turn.number}`, ...lines(turn)].join('\n');
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
  const { outcome, value, content, error, ref } = shownToModels(observation);
  const parts: string[] = [];
  if (error !== undefined) parts.push(`${error.code}: ${error.message}`);
  if (value !== undefined) parts.push(canonicalJson(value));
  if (content !== undefined) parts.push(plainText(content));
  if (ref !== undefined) parts.push(`(cut; the whole is ref ${ref})`);
  yield `result: ${outcome}${parts.length === 0 ? '' : ` ${parts.join(' ')}`}`;
}

import { z } from 'zod';
import { isObject, isTooDeep, tryParseJson, type Json } from '../base/json.ts';
import type { EffectiveAgent } from './agent.ts';
import { json } from './content.ts';
import { TOOL_USE } from './deferred.ts';
import type { ActionBlock, Block } from './model.ts';

/** One tool call asked for by a decision. `problem` says why its arguments could not be read; they are `{}` then. */
export interface Action {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
  readonly problem?: string;
  /** What the model called to have this one called. */
  readonly via?: string;
}

/** What the model chose: actions, a final answer, nothing at all, or something that is not a decision. */
export type Decision =
  | { readonly type: 'actions'; readonly actions: readonly Action[] }
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'empty' }
  | { readonly type: 'invalid'; readonly problem: string };

/** `t2-3-1`: turn 2, iteration 3, first action. Safe as a provider's id, and the same after a crash. */
export function actionId(turnId: string, iteration: number, ordinal: number): string {
  return `${turnId}-${iteration}-${ordinal}`;
}

/**
 * Read a decision out of an answer, strictly.
 *
 * A pure function of what the model said, so it is never stored beside it. `unwrap`: a call of `tool_use` is the call of
 * the tool that it names, and everything that follows sees only that one.
 */
export function decode(
  content: readonly Block[],
  grammar: EffectiveAgent['grammar'],
  turnId: string,
  iteration: number,
  unwrap = false,
): Decision {
  if (grammar === 'json') return decodeJson(textOf(content), actionId(turnId, iteration, 1));
  const calls = content.filter((one): one is ActionBlock => one.type === 'action').map(decodeAction);
  const actions = unwrap ? calls.map(unwrapped) : calls;
  if (actions.length > 0) return { type: 'actions', actions };
  const text = textOf(content);
  return text.trim() === '' ? { type: 'empty' } : { type: 'answer', text };
}

function decodeAction({ id, name, input }: ActionBlock): Action {
  // Models that call a tool without parameters often send no text at all.
  if (input.trim() === '') return { id, name, arguments: {} };
  const parsed = tryParseJson(input);
  if (parsed.ok && isTooDeep(parsed.value))
    return { id, name, arguments: {}, problem: 'The arguments are nested too deeply' };
  if (parsed.ok) return { id, name, arguments: parsed.value };
  return { id, name, arguments: {}, problem: `The arguments are not valid JSON: ${parsed.problem}` };
}

const WRAPPED = z.strictObject({ tool: z.string(), arguments: z.record(z.string(), json).optional() });

function unwrapped(action: Action): Action {
  if (action.name !== TOOL_USE || action.problem !== undefined) return action;
  const read = WRAPPED.safeParse(action.arguments);
  if (!read.success)
    return { ...action, problem: `${TOOL_USE} takes {"tool": the name of a tool, "arguments": an object}` };
  const { tool, arguments: given = {} } = read.data;
  return { id: action.id, name: tool, arguments: given, via: action.name };
}

/** Problems of the decision grammar of the requirement document, word for word. */
export const DECISION_PROBLEMS = {
  notAnObject: 'Decision must be an object',
  answer: 'Final answer must be nonempty text',
  shape: 'Expected a tool decision or final answer',
} as const;

function decodeJson(text: string, id: string): Decision {
  const parsed = tryParseJson(text);
  if (!parsed.ok) return { type: 'invalid', problem: `Decision is not valid JSON: ${parsed.problem}` };
  if (isTooDeep(parsed.value)) return { type: 'invalid', problem: 'Decision is nested too deeply' };
  return decisionOf(parsed.value, id);
}

/**
 * `{"type":"tool","tool","arguments"}` or `{"type":"finish","answer"}` with exactly these keys.
 *
 * The order of the checks decides which of two problems is told, and is part of the requirement.
 */
export function decisionOf(value: Json, id: string): Decision {
  if (!isObject(value)) return { type: 'invalid', problem: DECISION_PROBLEMS.notAnObject };
  if (own(value, 'type') === 'finish') {
    const answer = own(value, 'answer');
    if (!hasExactly(value, ['type', 'answer']) || typeof answer !== 'string' || isBlankAnswer(answer)) {
      return { type: 'invalid', problem: DECISION_PROBLEMS.answer };
    }
    return { type: 'answer', text: answer };
  }
  if (!hasExactly(value, ['type', 'tool', 'arguments']) || own(value, 'type') !== 'tool') {
    return { type: 'invalid', problem: DECISION_PROBLEMS.shape };
  }
  const name = own(value, 'tool');
  // A name that is not text cannot be on any allowlist: it fails there, like every other unknown name.
  const action = { id, name: typeof name === 'string' ? name : '', arguments: own(value, 'arguments') as Json };
  return { type: 'actions', actions: [action] };
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function hasExactly(value: Record<string, unknown>, keys: readonly string[]): boolean {
  return Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
}

/** The white space of the requirement's own language, which is not JavaScript's: U+0085 and U+001C to U+001F count, U+FEFF does not. */
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

function isBlankAnswer(text: string): boolean {
  return BLANK.test(text);
}

function textOf(content: readonly Block[]): string {
  let text = '';
  for (const one of content) if (one.type === 'text') text += one.text;
  return text;
}

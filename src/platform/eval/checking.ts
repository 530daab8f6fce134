import { tryParseJson, type Json, type JsonObject } from '../../base/json.ts';
import { iterationsOf, type ActionState, type Conversation } from '../../domain/conversation.ts';
import { inputTokens, outputTokens } from '../../domain/usage-sum.ts';
import { compileSchema } from '../../adapters/schema/ajv.ts';
import { mismatch } from './matching.ts';
import type { Called, Expectation } from './suite.ts';

/** What came of one repeat of a case. */
export interface Measured {
  readonly status: string;
  readonly answer: string;
  readonly iterations: number;
  /** Actions that were begun. */
  readonly actions: number;
  readonly tokens: number;
  /** US dollars, decimal; undefined when a part of it is not known. */
  readonly cost: string | undefined;
}

/** Says whether an answer is what was wanted, in a model's judgement. */
export type Judge = (question: string, answer: string) => Promise<{ readonly pass: boolean; readonly why: string }>;

export function actionsOf({ turns, turn }: Conversation): readonly ActionState[] {
  return [...turns, ...(turn === undefined ? [] : [turn])].flatMap((one) =>
    [...iterationsOf(one)].flatMap(({ actions }) => actions),
  );
}

export function measured(conversation: Conversation, cost: string | undefined): Measured {
  const { turns, turn, spent, usage } = conversation;
  const last = turns.at(-1);
  return {
    status: turn === undefined ? (last?.end?.status ?? 'waiting') : 'waiting',
    answer: turn === undefined ? (last?.output ?? '') : '',
    iterations: [...turns, ...(turn === undefined ? [] : [turn])].reduce((sum, one) => sum + one.calls, 0),
    actions: spent.actions,
    tokens: inputTokens(usage) + outputTokens(usage),
    cost,
  };
}

/** Everything that is not as expected, as sentences. */
export async function failuresOf(
  expect: Expectation,
  conversation: Conversation,
  result: Measured,
  judge: Judge,
): Promise<readonly string[]> {
  const actions = actionsOf(conversation);
  const names = actions.map(({ action }) => action.name);
  const failures: string[] = [];
  const status = expect.status ?? 'completed';
  if (result.status !== status) {
    const error = conversation.turns.at(-1)?.end?.error?.message;
    failures.push(`It ended ${result.status}, not ${status}${error === undefined ? '' : `: ${error}`}.`);
  }
  for (const one of expect.called ?? []) failures.push(...calledFailures(one, actions));
  for (const name of expect.never_called ?? [])
    if (names.includes(name))
      failures.push(`${name} was called, ${times(names.filter((one) => one === name).length)}.`);
  if (expect.order !== undefined) {
    const first = [...new Set(names)].filter((name) => expect.order?.includes(name));
    if (first.join() !== expect.order.join())
      failures.push(`The order was ${first.join(', ') || 'none'}, not ${expect.order.join(', ')}.`);
  }
  failures.push(...limitFailures(expect, result));
  if (expect.answer !== undefined) failures.push(...(await answerFailures(expect.answer, result.answer, judge)));
  return failures;
}

function calledFailures(expected: Called, actions: readonly ActionState[]): readonly string[] {
  const {
    tool,
    with: pattern,
    times: amount,
    outcome,
  } = typeof expected === 'string' ? ({ tool: expected } as Exclude<Called, string>) : expected;
  const own = actions.filter(({ action }) => action.name === tool);
  const wrong = own.map(({ action, begun, observation }) => {
    if (outcome !== undefined && observation?.outcome !== outcome)
      return `it came out ${observation?.outcome ?? 'open'}`;
    return pattern === undefined ? undefined : mismatch(pattern, begun?.arguments ?? action.arguments);
  });
  const count = wrong.filter((one) => one === undefined).length;
  const { min = 1, max = Infinity } = typeof amount === 'number' ? { min: amount, max: amount } : (amount ?? {});
  if (count >= min && count <= max) return [];
  if (own.length === 0) return [`${tool} was not called.`];
  const why = wrong.find((one) => one !== undefined);
  return [`${tool} was called as wanted ${times(count)}${why === undefined ? '' : `; otherwise ${why}`}.`];
}

function limitFailures({ max }: Expectation, { iterations, actions, tokens, cost }: Measured): readonly string[] {
  if (max === undefined) return [];
  const failures: string[] = [];
  const over = (what: string, used: number, most: number | undefined): void => {
    if (most !== undefined && used > most) failures.push(`${what}: ${used}, more than ${most}.`);
  };
  over('Model calls', iterations, max.iterations);
  over('Actions', actions, max.actions);
  over('Tokens', tokens, max.tokens);
  if (max.cost !== undefined && (cost === undefined || Number(cost) > max.cost))
    failures.push(`Cost: ${cost === undefined ? 'not known' : `$${cost}`}, more than $${max.cost}.`);
  return failures;
}

async function answerFailures(
  expected: NonNullable<Expectation['answer']>,
  answer: string,
  judge: Judge,
): Promise<readonly string[]> {
  const {
    contains,
    not_contains,
    equals,
    matches,
    schema,
    judge: question,
  } = typeof expected === 'string' ? ({ contains: expected } as Exclude<typeof expected, string>) : expected;
  const lower = answer.toLowerCase();
  const shown = answer.length > 300 ? `${answer.slice(0, 299).toWellFormed()}…` : answer;
  const failures: string[] = [];
  for (const part of list(contains))
    if (!lower.includes(part.toLowerCase())) failures.push(`The answer has no ${JSON.stringify(part)}: ${shown}`);
  for (const part of list(not_contains))
    if (lower.includes(part.toLowerCase())) failures.push(`The answer has ${JSON.stringify(part)}: ${shown}`);
  if (equals !== undefined && answer.trim() !== equals.trim())
    failures.push(`The answer is not what it should be: ${shown}`);
  if (matches !== undefined && !new RegExp(matches, 'u').test(answer))
    failures.push(`The answer does not match ${matches}: ${shown}`);
  if (schema !== undefined) failures.push(...schemaFailures(schema, answer));
  if (question !== undefined) {
    const { pass, why } = await judge(question, answer);
    if (!pass) failures.push(`The judge says no: ${why}`);
  }
  return failures;
}

function schemaFailures(schema: Json, answer: string): readonly string[] {
  const parsed = tryParseJson(answer.replace(/^```(?:json)?\n([^]*)\n```$/, '$1'));
  if (!parsed.ok) return [`The answer is not JSON: ${parsed.problem}`];
  return compileSchema(schema as JsonObject)(parsed.value).map(
    (problem) => `The answer does not fit its schema: ${problem}`,
  );
}

function list(given: string | readonly string[] | undefined): readonly string[] {
  return given === undefined ? [] : typeof given === 'string' ? [given] : given;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

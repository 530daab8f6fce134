import { isMap, isSeq, parseDocument, stringify, type Document } from 'yaml';
import { TreadleError } from '../../base/errors.ts';
import { tryParseJson, type Json } from '../../base/json.ts';
import { iterationsOf, type Conversation } from '../../domain/conversation.ts';
import type { Fact } from '../../domain/event.ts';
import type { ConversationRow } from '../../kernel/log.ts';
import { actionsOf } from './checking.ts';
import type { EvalCase, Stub } from './suite.ts';

/** A run as a case: what was said, what tools gave as stubs, what was called and how it ended as expectations. */
export function caseOf(
  row: Pick<ConversationRow, 'id' | 'title' | 'agent'>,
  conversation: Conversation,
  facts: readonly Fact[],
  { scripted = false }: { readonly scripted?: boolean } = {},
): EvalCase {
  const turns = [...conversation.turns];
  const inputs = turns.flatMap(({ inputs: said }) => said.map(({ text }) => text));
  const [first, ...more] = inputs;
  if (first === undefined)
    throw new TreadleError('suite_invalid', {
      place: row.id,
      found: 'a run without an ended turn',
      wanted: 'one that has been answered',
    });
  const actions = actionsOf(conversation);
  const approvals = approvalsOf(facts);
  const replies = facts.flatMap((fact) =>
    fact.type === 'hitl.responded' && fact.payload.decision === 'reply' ? [fact.payload.text ?? ''] : [],
  );
  const stubs: Record<string, Stub[]> = {};
  for (const { action, begun, observation } of actions) {
    if (begun === undefined || observation === undefined || action.name === 'ask_user') continue;
    const { value, error } = observation;
    const given: Stub =
      observation.outcome === 'ok'
        ? { with: begun.arguments, returns: value ?? textOf(observation) }
        : {
            with: begun.arguments,
            fails: { code: error?.code ?? 'failed', message: error?.message ?? observation.outcome },
          };
    (stubs[action.name] ??= []).push(given);
  }
  const last = turns.at(-1);
  const called = actions
    .filter(({ begun }) => begun !== undefined)
    .map(({ action, begun }) => ({ tool: action.name, with: begun?.arguments ?? null }));
  return {
    name: (row.title === '' ? row.id : row.title).slice(0, 200),
    input: more.length === 0 ? first : inputs,
    ...(replies.length > 0 && { answers: replies }),
    agent: row.agent,
    ...(approvals !== undefined && { approvals }),
    ...(scripted && { model: { replies: repliesOf(turns) } }),
    ...(Object.keys(stubs).length > 0 && { stubs }),
    expect: {
      status: last?.end?.status ?? 'completed',
      ...(called.length > 0 && { called, order: [...new Set(actions.map(({ action }) => action.name))] }),
      max: { iterations: turns.reduce((sum, { calls }) => sum + calls, 0) },
    },
  };
}

function approvalsOf(facts: readonly Fact[]): 'allow' | 'reject' | undefined {
  const decisions = facts.flatMap((fact) =>
    fact.type === 'hitl.responded' && fact.payload.decision !== 'reply' ? [fact.payload.decision] : [],
  );
  if (decisions.length === 0) return undefined;
  return decisions.includes('reject') ? 'reject' : 'allow';
}

function textOf({ content }: NonNullable<ReturnType<typeof actionsOf>[number]['observation']>): Json {
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : `(${part.mediaType})`)).join('\n');
}

type Replies = Extract<NonNullable<EvalCase['model']>, { replies: unknown }>['replies'];

function repliesOf(turns: Conversation['turns'] extends Iterable<infer T> ? readonly T[] : never): Replies {
  return turns.flatMap((turn) =>
    [...iterationsOf(turn)].flatMap(({ response }) => {
      if (response === undefined) return [];
      const text = response.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      const actions = response.content.flatMap((block) => {
        if (block.type !== 'action') return [];
        const parsed = tryParseJson(block.input);
        return [parsed.ok ? { name: block.name, arguments: parsed.value } : { name: block.name, input: block.input }];
      });
      return [{ ...(text !== '' && { text }), ...(actions.length > 0 && { actions }) }];
    }),
  ); // what a script may hold, of what a model has said
}

/** The text of a suite with one more case; of a new suite where there is none yet. What is in it stays as it is. */
export function withCase(text: string | undefined, added: EvalCase, bundle: string): string {
  if (text === undefined) return stringify({ bundle, cases: [added] });
  const document: Document = parseDocument(text);
  const cases: unknown = isMap(document.contents) ? document.contents.get('cases') : undefined;
  if (!isSeq(cases))
    throw new TreadleError('suite_invalid', { found: 'no list of cases', wanted: 'a suite with `cases`' });
  const isTaken = cases.items.some((item) => isMap(item) && item.get('name') === added.name);
  if (isTaken)
    throw new TreadleError('suite_invalid', {
      found: `a case called ${JSON.stringify(added.name)} already`,
      wanted: 'another name',
      hint: 'give one with --as',
    });
  cases.add(document.createNode(added));
  return document.toString();
}

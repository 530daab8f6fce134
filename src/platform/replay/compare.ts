import { catalogueText } from '../../assembly/message-text.ts';
import { promptSections, render } from '../../assembly/render.ts';
import { canonicalJson, toJson } from '../../base/json.ts';
import { isAside } from '../../domain/aside.ts';
import { emptyConversation, iterationsOf, type ActionState, type Conversation } from '../../domain/conversation.ts';
import type { Fact, FactOf } from '../../domain/event.ts';
import { apply } from '../../domain/fold.ts';
import { isSameTool, type ToolDefinition } from '../../domain/tool.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import { changedPart } from './changed-part.ts';
import { callKey } from './recording.ts';
import type {
  ActionDifference,
  ComparedCall,
  ComparedEnd,
  SectionDifference,
  TurnEnd,
  VerdictDifference,
} from './report.ts';

/** A model call, and the conversation as it was when the call was made. */
interface AskedCall {
  readonly request: FactOf<'llm.request'>;
  readonly conversation: Conversation;
}

/** A model call as it was asked for. */
interface Shown {
  readonly tools: readonly ToolDefinition[];
  /** By name, in the order of the prompt. */
  readonly texts: ReadonlyMap<string, string>;
}

/** What a log asked for and came to, in a form in which two of them can be compared. */
export interface Asked {
  readonly calls: ReadonlyMap<string, AskedCall>;
  readonly verdicts: ReadonlyMap<string, VerdictsOfOne>;
  readonly end: Conversation;
}

interface VerdictsOfOne {
  readonly turn: number;
  readonly question: string;
  readonly action: string | undefined;
  readonly said: string[];
}

/** Reads a log once. */
export function askedBy(meta: ConversationMeta, facts: readonly Fact[]): Asked {
  const calls = new Map<string, AskedCall>();
  const verdicts = new Map<string, VerdictsOfOne>();
  let conversation = emptyConversation(meta.id, meta.agentPath);
  for (const fact of facts) {
    if (fact.type === 'llm.request' && !isAside(fact.payload.purpose))
      calls.set(callKey(fact), { request: fact, conversation });
    if (fact.type === 'gate.verdict') note(verdicts, conversation, fact);
    conversation = apply(conversation, fact);
  }
  return { calls, verdicts, end: conversation };
}

/** What the model was shown: rendered from the facts before the call, by the function that rendered it then. */
function shown({ conversation, request: { payload } }: AskedCall): Shown {
  const { turn } = conversation;
  if (turn === undefined) return { tools: [], texts: new Map() };
  const { provider, model } = payload.model;
  const ref = turn.agent.models.find((one) => one.provider === provider && one.model === model) ?? payload.model;
  const request = render(conversation, turn, { model: ref, announce: payload.announce, toolChoice: payload.choice });
  const texts = new Map<string, string>([['model', `${provider}/${model}`]]);
  for (const { name, text } of promptSections(request, conversation)) texts.set(name, text);
  if (payload.choice !== undefined) texts.set('tool choice', canonicalJson(toJson(payload.choice)));
  if (payload.allowed !== undefined) texts.set('allowed tools', payload.allowed.join('\n'));
  return { tools: request.tools, texts };
}

function note(
  verdicts: Map<string, VerdictsOfOne>,
  { turn }: Conversation,
  { iteration = 0, payload }: FactOf<'gate.verdict'>,
): void {
  const { question, gate, verdict, reason, code, action } = payload;
  const key = `${turn?.id ?? ''} ${action ?? iteration} ${question}`;
  let one = verdicts.get(key);
  if (one === undefined) verdicts.set(key, (one = { turn: turn?.number ?? 0, question, action, said: [] }));
  const why = [reason, code === undefined ? undefined : `(${code})`].filter((part) => part !== undefined).join(' ');
  const words = { deny: 'denies', hold: 'holds', revise: 'changes it' };
  one.said.push(`${gate} ${words[verdict]}${why === '' ? '' : `: ${why}`}`);
}

const AT_ONCE = 20;

/** The calls of the first log, each beside the call of the second that stands in its place. Lets others work in between. */
export async function compareCalls(before: Asked, after: Asked, upTo: number): Promise<readonly ComparedCall[]> {
  const compared: ComparedCall[] = [];
  for (const [key, call] of before.calls) {
    if (compared.length >= upTo) break;
    if (compared.length % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const other = after.calls.get(key);
    const missing = { section: 'call', what: 'the model would not be called', before: 'called', after: '' };
    const differences = other === undefined ? [missing] : sectionDifferences(shown(call), shown(other));
    const { iteration = 0, payload } = call.request;
    compared.push({
      n: compared.length + 1,
      turn: call.conversation.turn?.number ?? 0,
      iteration,
      attempt: payload.attempt,
      same: differences.length === 0,
      differences,
    });
  }
  return compared;
}

function sectionDifferences(before: Shown, after: Shown): readonly SectionDifference[] {
  const names = new Set([...before.texts.keys(), ...after.texts.keys()]);
  return [...names].flatMap((section) => {
    const [one = '', other = ''] = [before.texts.get(section), after.texts.get(section)];
    if (one === other) return [];
    return [{ section, what: whatOf(section, before, after), ...changedPart(one, other) }];
  });
}

const CHANGES: Readonly<Record<string, string>> = {
  model: 'another model',
  instructions: 'the instructions are others',
  'past turns': 'what is shown of earlier turns is other text',
  'this turn': 'what is shown of this turn is other text',
  announce: 'the announcement is another',
  'tool choice': 'the tool choice is another',
  'allowed tools': 'other tools may be called',
};

function whatOf(section: string, before: Shown, after: Shown): string {
  return section === 'tools' ? toolsChange(before.tools, after.tools) : (CHANGES[section] ?? `${section} is another`);
}

function toolsChange(before: readonly ToolDefinition[], after: readonly ToolDefinition[]): string {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const now = new Map(after.map((tool) => [tool.name, tool]));
  const changes = [
    ...after.filter(({ name }) => !old.has(name)).map(({ name }) => `${name} is new`),
    ...before.filter(({ name }) => !now.has(name)).map(({ name }) => `${name} is gone`),
    ...after
      .filter((tool) => {
        const then = old.get(tool.name);
        return then !== undefined && (!isSameTool(then, tool) || catalogueText([then]) !== catalogueText([tool]));
      })
      .map(({ name }) => `${name} is described otherwise`),
  ];
  return changes.length === 0 ? 'the tools stand in another order' : changes.join('; ');
}

export function compareActions(before: Asked, after: Asked): readonly ActionDifference[] {
  const [old, now] = [actionsOf(before.end), actionsOf(after.end)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((id) => {
    const [one, other] = [old.get(id), now.get(id)];
    const [was, is] = [one, other].map((state) => (state === undefined ? undefined : fateOf(state)));
    if (was === is) return [];
    const name = one?.action.name ?? other?.action.name ?? '';
    return [{ action: id, name, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }];
  });
}

function actionsOf({ turns, turn }: Conversation): ReadonlyMap<string, ActionState> {
  const all = turn === undefined ? [...turns] : [...turns, turn];
  const states = all.flatMap((one) => [...iterationsOf(one)].flatMap(({ actions }) => actions));
  return new Map(states.map((state) => [state.action.id, state]));
}

/** What is said of an action that has come to no end. */
export const WAITS = 'waits';

/** Whether it ran, and with what; else why not. What came of it is the record's either way. */
function fateOf({ begun, observation }: ActionState): string {
  if (begun !== undefined)
    return `runs with ${canonicalJson(begun.arguments)}${begun.revisedBy === undefined ? '' : `, changed by ${begun.revisedBy}`}`;
  if (observation === undefined) return WAITS;
  const { outcome, error } = observation;
  return `${outcome}${error === undefined ? '' : `: ${error.message} (${error.code})`}`;
}

export function compareVerdicts(before: Asked, after: Asked): readonly VerdictDifference[] {
  const keys = new Set([...before.verdicts.keys(), ...after.verdicts.keys()]);
  return [...keys].flatMap((key) => {
    const [one, other] = [before.verdicts.get(key), after.verdicts.get(key)];
    const [was, is] = [one?.said.join('\n'), other?.said.join('\n')];
    const about = one ?? other;
    if (was === is || about === undefined) return [];
    const { turn, question, action } = about;
    return [
      {
        ...{ turn, question },
        ...(action !== undefined && { action }),
        ...(was !== undefined && { before: was }),
        ...(is !== undefined && { after: is }),
      },
    ];
  });
}

export function compareEnds(before: Asked, after: Asked): readonly ComparedEnd[] {
  const [old, now] = [endsOf(before.end), endsOf(after.end)];
  return old.map((was, index) => {
    const is = now[index];
    const same = canonicalJson(toJson(was ?? null)) === canonicalJson(toJson(is ?? null));
    return {
      turn: index + 1,
      same,
      ...(was !== undefined && { before: was }),
      ...(is !== undefined && { after: is }),
    };
  });
}

function endsOf({ turns, turn }: Conversation): readonly (TurnEnd | undefined)[] {
  const ended = [...turns].map(({ end, output }): TurnEnd | undefined => {
    if (end === undefined) return undefined;
    const { status, stop, error } = end;
    return {
      ...{ status, stop },
      ...(error !== undefined && { code: error.code, message: error.message }),
      ...(output !== undefined && { answer: output }),
    };
  });
  return turn === undefined ? ended : [...ended, undefined];
}

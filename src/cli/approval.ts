import { TreadleError } from '../base/errors.ts';
import { mapStrings, toJson, tryParseJson, type Json } from '../base/json.ts';
import type { StandingScope } from '../domain/allowance.ts';
import type { Part } from '../domain/content.ts';
import type { PlanStep } from '../domain/plan.ts';
import { openRequests, type Conversation, type HeldRequest, type Turn } from '../domain/conversation.ts';
import type { Answer, Conversations } from '../platform/conversations.ts';
import { partLines } from './part-lines.ts';
import { editPlan } from './edit-plan.ts';
import { planLines } from './plan-lines.ts';
import type { Person } from './person.ts';
import { harmless, wrap } from './text.ts';

/** What a person decides of one question. */
export type Words = Omit<Answer, 'request' | 'by'>;

/** Something that a person is asked, wherever the run is. */
export interface Question {
  readonly kind: HeldRequest['kind'];
  readonly question: string;
  readonly choices?: readonly string[] | undefined;
  /** The tool of an action, and exactly what would run. */
  readonly name?: string | undefined;
  readonly arguments?: Json | undefined;
  readonly gate?: string | undefined;
  /** How far a yes may reach, and what it is then a yes to. */
  readonly allowance?: { readonly scopes: readonly StandingScope[]; readonly about: string } | undefined;
  /** What the tool shows of what would happen. */
  readonly preview?: readonly Part[] | undefined;
  /** The steps of a plan. */
  readonly plan?: readonly PlanStep[] | undefined;
}

export function questionOf(request: HeldRequest, turn: Turn): Question {
  const action = turn.current?.actions.find((one) => one.action.id === request.action)?.action;
  const { kind, question, choices, gate, allowance, preview } = request;
  // What the answer binds to: what would run, after every gate.
  return {
    kind,
    question,
    choices,
    gate,
    allowance,
    preview,
    plan: kind === 'plan' && typeof turn.plan !== 'string' ? turn.plan.steps : undefined,
    name: request.name ?? action?.name,
    arguments: request.arguments ?? action?.arguments,
  };
}

/**
 * Puts every open request to the person, in order, and their answers on record.
 *
 * False when they left before all were answered. Enter alone is a no; nothing but a clear yes is consent.
 */
export async function askRequests(
  conversation: Conversation,
  person: Person,
  conversations: Pick<Conversations, 'answer'>,
  by: string,
): Promise<boolean> {
  const { turn } = conversation;
  if (turn === undefined) return true;
  for (const request of openRequests(turn)) {
    const question = questionOf(request, turn);
    person.screen.lines(...questionLines(question, person), '');
    for (let isAnswered = false; !isAnswered;) {
      const words = await decide(question, person);
      if (words === undefined) return false;
      try {
        await conversations.answer(conversation.id, { request: request.request, by, ...words });
        isAnswered = true;
      } catch (error) {
        if (!TreadleError.is(error)) throw error;
        if (error.code === 'request_answered') {
          say(person, 'Somebody else has answered this already.');
          break;
        }
        if (error.code !== 'answer_invalid') throw error;
        say(person, `That does not fit: ${error.detail.found ?? error.message}.`);
      }
    }
  }
  return true;
}

/** What a person says to it; undefined when they leave. */
export async function decide(question: Question, person: Person): Promise<Words | undefined> {
  return question.kind === 'input' ? askQuestion(question, person) : askApproval(question, person);
}

/** What is asked and, for an action, exactly what would run. */
export function questionLines(request: Question, { colors, columns }: Pick<Person, 'colors' | 'columns'>): string[] {
  const bar = `  ${colors.yellow('│')} `;
  const body = (text: string, rest = ''): string[] =>
    wrap(text, { columns: columns() - 4, rest }).map((line) => bar + line);
  const title = (text: string): string => `  ${colors.yellow('?')} ${colors.bold(text)}`;
  switch (request.kind) {
    case 'input':
      return [
        ...wrap(harmless(request.question), { columns: columns() - 4, first: '' }).map((line, index) =>
          index === 0 ? title(line) : `    ${colors.bold(line)}`,
        ),
        ...(request.choices ?? []).flatMap((choice, index) =>
          wrap(harmless(choice), { columns: columns(), first: `    ${index + 1}  `, rest: '       ' }),
        ),
      ];
    case 'plan':
      return [
        title('Go on with this plan?'),
        ...planLines(request.plan ?? [], colors, columns() - 4).map((line) => bar + line),
      ];
    case 'action': {
      const { name = '' } = request;
      const { preview = [] } = request;
      const shown = partLines(preview, { colors, columns: columns() - 4, most: MOST_PREVIEW_LINES });
      const what = exact(shown.length === 0 ? (request.arguments ?? null) : inShort(request.arguments ?? null))
        .split('\n')
        .flatMap((line) => body(line, '    '));
      const why = request.question.startsWith(`Allow ${name} `) ? [] : body(harmless(request.question));
      const by = request.gate === undefined ? [] : [bar + colors.dim(`asked by ${request.gate}`)];
      return [
        title(`${name === '' ? 'An action' : name} wants to run`),
        ...shown.map((line) => bar + line),
        ...what,
        ...why,
        ...by,
      ];
    }
  }
}

async function askApproval(request: Question, person: Person): Promise<Words | undefined> {
  const isPlan = request.kind === 'plan';
  const { colors } = person;
  const { scopes = [], about = '' } = request.allowance ?? {};
  const further = scopes.map((scope) => FURTHER[scope]);
  const keys = ['y', ...further.map(({ key }) => key), 'N', 'e'].join('/');
  const prompt = `  ${colors.yellow('allow?')} ${colors.dim(`[${keys}]`)} `;
  say(
    person,
    isPlan
      ? 'y goes on · n rejects it, as Enter does · e changes its steps'
      : 'y lets it run · n refuses, as Enter does · e changes the arguments',
  );
  if (further.length > 0) say(person, `${about}: ${further.map(({ key, means }) => `${key} ${means}`).join(' · ')}`);
  for (;;) {
    const typed = await person.ask(prompt);
    if (typed === undefined) return undefined;
    const [, word = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(typed) ?? [];
    switch (word.toLowerCase()) {
      case 'y':
      case 'yes':
        if (rest === '') return { decision: 'allow' };
        break; // “yes, but …” is no clear yes
      case 'c':
      case 'a': {
        const allow = scopes.find((scope) => FURTHER[scope].key === word.toLowerCase());
        if (rest === '' && allow !== undefined) return { decision: 'allow', allow };
        break;
      }
      case '':
      case 'n':
      case 'no': {
        const note =
          rest === '' ? await person.ask(`  ${colors.yellow('why not?')} ${colors.dim('[Enter: no reason]')} `) : rest;
        if (note === undefined) return undefined;
        return note.trim() === '' ? { decision: 'reject' } : { decision: 'reject', note: note.trim() };
      }
      case 'e':
      case 'edit': {
        if (isPlan) {
          const steps = rest === '' ? await editPlan(request.plan ?? [], person) : 'unchanged';
          if (steps === undefined) return undefined;
          if (steps === 'unchanged') continue;
          return { decision: 'edit', arguments: toJson({ steps }) };
        }
        const given = tryParseJson(rest);
        if (given.ok) return { decision: 'edit', arguments: given.value };
        const edited = await askEdit(rest === '' ? JSON.stringify(request.arguments ?? {}) : rest, person);
        if (edited === undefined) return undefined;
        if (edited !== 'unchanged') return { decision: 'edit', arguments: edited.value };
        continue;
      }
    }
    say(
      person,
      isPlan
        ? 'Type y to go on, n and a reason, or e to change its steps.'
        : 'Type y to let it run, n and a reason to refuse, or e to change the arguments.',
    );
  }
}

/** What a person types for a yes that reaches further. */
const FURTHER: Readonly<Record<StandingScope, { readonly key: string; readonly means: string }>> = {
  conversation: { key: 'c', means: 'allows it in this conversation' },
  always: { key: 'a', means: 'allows it always' },
};

/** JSON until it is some, or nothing for a change of mind. */
async function askEdit(draft: string, person: Person): Promise<{ readonly value: Json } | 'unchanged' | undefined> {
  for (let text = draft; ;) {
    const typed = await person.ask(`  ${person.colors.yellow('arguments')} `, text);
    if (typed === undefined) return undefined;
    if (typed.trim() === '') return 'unchanged';
    const parsed = tryParseJson(typed);
    if (parsed.ok) return { value: parsed.value };
    say(person, `That is not JSON: ${parsed.problem}. Empty the line to go back.`);
    text = typed;
  }
}

async function askQuestion({ choices = [] }: Question, person: Person): Promise<Words | undefined> {
  const hint = choices.length === 0 ? '' : ` ${person.colors.dim(`[1-${choices.length}, or words]`)}`;
  for (;;) {
    const typed = await person.ask(`  ${person.colors.yellow('answer')}${hint} `);
    if (typed === undefined) return undefined;
    const text = typed.trim();
    if (isNoChoice(text, choices)) {
      say(person, `There is no ${text}: type a number from 1 to ${choices.length}, or words.`);
      continue;
    }
    if (text !== '') return { decision: 'reply', text: chosen(text, choices) };
    say(person, 'It waits for an answer. Ctrl-C leaves it open for later.');
  }
}

/** The choice that a number stands for; any other words as they are. */
export function chosen(text: string, choices: readonly string[]): string {
  return /^\d{1,2}$/.test(text) ? (choices[Number(text) - 1] ?? text) : text;
}

/** A number that stands for none of the choices: a slip, and no answer. */
export function isNoChoice(text: string, choices: readonly string[]): boolean {
  const number = /^\d+$/.test(text.trim()) ? Number(text) : undefined;
  return (
    number !== undefined &&
    choices.length > 0 &&
    (number < 1 || number > choices.length) &&
    !choices.includes(text.trim())
  );
}

function say({ screen, colors, columns }: Person, text: string): void {
  screen.lines(
    ...wrap(harmless(text), { columns: columns(), first: '  ', rest: '  ' }).map((line) => colors.dim(line)),
  );
}

const MOST_PREVIEW_LINES = 400;
const LONG_TEXT = 200;

/** Arguments beside a preview, which shows the long texts in them as they would be used. */
function inShort(value: Json): Json {
  return mapStrings(value, (text) =>
    text.length <= LONG_TEXT ? text : `${text.slice(0, LONG_TEXT)}… (${text.length} characters, as shown above)`,
  );
}

/** JSON as it is, over several lines. What an eye would not see is written out: an approver has to see what is there. */
function exact(value: Json): string {
  return JSON.stringify(value, null, 2).replace(
    /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) =>
      [...character.split('')].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );
}

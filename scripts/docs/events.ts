// docs/events.md, made of the schemas of all facts, the types of what passes and the questions of gates.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { facts, PASSING_ABOUT, type FactType, type PassingType } from '../../src/domain/event.ts';
import { effectiveAgent, inactiveTool, limits, modelRef, toolChoice } from '../../src/domain/agent.ts';
import { json, part } from '../../src/domain/content.ts';
import { block, failure, opaque } from '../../src/domain/model.ts';
import { observation, toolDefinition } from '../../src/domain/tool.ts';
import { usage } from '../../src/domain/usage.ts';
import { QUESTION_ABOUT, type QuestionType } from '../../src/kernel/verdict.ts';
import { fieldsOf, type Named } from './shape.ts';
import { Comments, literalMembers, membersOf, parse, type Member } from './source.ts';
import { code, generated, sentence, table } from './table.ts';

const SOURCES = path.join(import.meta.dirname, '../../src');

/** Shapes that several events have in common: title, the constant's name, the schema, what it is. */
const SHAPES = [
  ['Effective agent', 'effectiveAgent', effectiveAgent, 'What one turn runs on.'],
  ['Limits', 'limits', limits, 'How much one turn may do.'],
  ['Model reference', 'modelRef', modelRef, 'One way to reach a model.'],
  ['Tool', 'toolDefinition', toolDefinition, 'What the model is shown of a tool and what dispatch needs to know.'],
  ['Inactive tool', 'inactiveTool', inactiveTool, 'A granted tool that this turn does not have.'],
  ['Tool choice', 'toolChoice', toolChoice, 'Whether the next call must use a tool.'],
  ['Observation', 'observation', observation, 'What the model is told came of an action.'],
  ['Part', 'part', part, 'What people, tools and models hand each other.'],
  ['Block', 'block', block, 'A piece of an answer, in the order the model spoke.'],
  ['Failure', 'failure', failure, 'Why a model call gave no answer.'],
  ['Usage', 'usage', usage, 'Tokens of one call, in parts that do not overlap.'],
] as const;

const named: Named = new Map<z.core.$ZodType, string>([
  [json, 'JSON'],
  [opaque, 'JSON by name'],
  ...SHAPES.map(([title, , schema]) => [schema, `[${title}](#${title.toLowerCase().replaceAll(' ', '-')})`] as const),
]);

export function renderEventsDoc(): string {
  const event = parse('src/domain/event.ts');
  const domain = globSync('**/*.ts', { cwd: path.join(SOURCES, 'domain') }).map((name) => parse(`src/domain/${name}`));
  const comments = new Comments(domain);
  const passing = membersOf(event, 'PassingPayloads');
  const questions = membersOf(parse('src/kernel/verdict.ts'), 'Questions');
  const factTypes = Object.keys(facts) as FactType[]; // its own keys
  const passingTypes = Object.keys(PASSING_ABOUT) as PassingType[];
  const questionTypes = Object.keys(QUESTION_ABOUT) as QuestionType[];

  const index = [
    ...factTypes.map((type) => [anchor(type), 'fact', facts[type].about]),
    ...passingTypes.map((type) => [anchor(type), 'passing', PASSING_ABOUT[type]]),
    ...questionTypes.map((type) => [anchor(type), 'question', QUESTION_ABOUT[type]]),
  ];
  return [
    INTRODUCTION,
    `Part of the format, and stated by nothing in this version but a plugin of your own: ${unstated().map(code).join(', ')}.\n`,
    table(['Event', 'Kind', 'When'], index),
    ENVELOPE,
    memberTable(membersOf(event, 'Envelope')),
    '## Facts\n',
    ...factTypes.map((type) => {
      const { v, payload, about } = facts[type];
      const body = fieldTable(payload, comments.ofFact(type));
      return `### ${type}\n\nFact, version ${v}. ${sentence(about)}\n\n${body}`;
    }),
    '## Passing\n',
    ...passingTypes.map((type) => {
      const { about, type: written } = memberNamed(passing, type);
      const more = about === '' ? '' : ` ${sentence(about)}`;
      return `### ${type}\n\nPassing. ${sentence(PASSING_ABOUT[type])}${more}\n\n${memberTable(literalMembers(written))}`;
    }),
    '## Questions\n',
    ...questionTypes.map((type) => {
      const { about, type: written } = memberNamed(questions, type);
      const own = literalMembers(written);
      const body = own.length > 0 ? memberTable(own) : `The payload of ${factOf(written)}.\n`;
      return `### ${type}\n\nQuestion. ${sentence(about)}\n\n${body}`;
    }),
    '## Shapes\n',
    ...SHAPES.map(([title, constant, schema, about]) => {
      const body = schema instanceof z.ZodUnion ? memberShapes(schema) : fieldTable(schema, comments.of(constant));
      return `### ${title}\n\n${about}\n\n${body}`;
    }),
  ].join('\n');
}

/** One line for each member of a union that `type` tells apart. */
function memberShapes({ options }: z.ZodUnion): string {
  const rows = options.map((member) => {
    const [kind, ...rest] = fieldsOf(member, named);
    const fields = rest.map(({ name, optional, type }) => `${code(optional ? `${name}?` : name)} ${type}`);
    return [kind?.type ?? '', fields.join('; ')];
  });
  return table(['`type`', 'Fields'], rows);
}

function fieldTable(schema: Parameters<typeof fieldsOf>[0], comments: ReadonlyMap<string, string>): string {
  const rows = fieldsOf(schema, named).map(({ name, optional, type }) => [
    code(optional ? `${name}?` : name),
    type,
    comments.get(name) ?? '',
  ]);
  return rows.length === 0 ? 'Nothing more.\n' : table(['Field', 'Type', 'Meaning'], rows);
}

function memberTable(members: readonly Member[]): string {
  const rows = members.map(({ name, optional, type, about }) => [
    code(optional ? `${name}?` : name),
    code(type.replaceAll(/\s+/g, ' ').replaceAll('readonly ', '').replaceAll(' | undefined', '')),
    about,
  ]);
  return table(['Field', 'Type', 'Meaning'], rows);
}

function memberNamed(members: readonly Member[], name: string): Member {
  const found = members.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no type for ${name}`);
  return found;
}

/** Facts that no room above the domain speaks of. */
function unstated(): readonly string[] {
  const files = globSync('{assembly,loop,platform,plugins}/**/*.ts', { cwd: SOURCES });
  const text = files.map((file) => readFileSync(path.join(SOURCES, file), 'utf8')).join('\n');
  return Object.keys(facts).filter((type) => !text.includes(`'${type}'`));
}

/** `FactPayload<'io.input'>` as a link. */
function factOf(written: string): string {
  const [, type = ''] = /^FactPayload<'(.*)'>$/.exec(written) ?? [];
  if (!(type in facts)) throw new Error(`no words for ${written}`);
  return anchor(type);
}

function anchor(type: string): string {
  return `[${code(type)}](#${type.replaceAll(/[.:]/g, '')})`;
}

const INTRODUCTION = `# Events

${generated('src/domain/facts/, src/domain/event.ts and src/kernel/verdict.ts')}
Everything that happens is an event, of one of three kinds.

- A **fact** is stored in the log with a sequence number, and then delivered. It never changes.
- A **passing** event is delivered to whoever listens now, and forgotten.
- A **question** is judged by gates before something happens. Each answers with nothing, \`deny\`, \`hold\` or \`revise\`. What
  they said is on record as [\`gate.verdict\`](#gateverdict).

Listen with \`bus.on('tool.result', …)\`, \`bus.on('llm.*', …)\` or \`bus.on('*', …)\`. Facts of one conversation arrive in the
order of its log. A listener that throws or is slow cannot touch the turn.

The facts of a turn with one action: \`io.input\`, \`agent.turn.start\`, \`llm.request\`, \`llm.response\`, \`tool.invoke\`,
\`tool.result\`, \`llm.request\`, \`llm.response\`, \`io.output\`, \`agent.turn.end\`. An action that is refused has a
\`tool.result\` and no \`tool.invoke\`.
`;

const ENVELOPE = `## The envelope

What surrounds every payload. A fact also has \`seq\`, gapless from 1 within its conversation, \`id\`, which is
\`conversation:seq\`, and \`v\`, the version of its payload.
`;

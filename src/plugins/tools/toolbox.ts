import { z } from 'zod';
import { canonicalJson, type JsonObject } from '../../base/json.ts';
import { utf8Length } from '../../base/text.ts';
import { TOOL_SEARCH, TOOL_USE, TOOLBOX_GROUP } from '../../domain/deferred.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import { defineTool, toolFailure, toolResult, type BuiltinGroup } from '../../kernel/tool.ts';

const DEFAULT_FOUND = 5;
const MOST_FOUND = 20;

const search = defineTool({
  name: TOOL_SEARCH,
  description:
    'Find tools that are not listed. Give a few words of what you want to do, or exact names. What is found can be called ' +
    'from then on, and the result says what each takes.',
  input: z.strictObject({
    query: z.string().min(1).max(500).describe('Words of what the tool does, or names of tools.'),
    limit: z.int().min(1).max(MOST_FOUND).default(DEFAULT_FOUND).describe('How many at most.'),
  }),
  effect: 'read',
  repeatable: true,
  run({ query, limit }, { conversation }) {
    const { tools = [], limits } = conversation.turn?.agent ?? {};
    // Of this turn's own tools: what the user, an account or a parent run keeps away is not found.
    const best = ranked(
      tools.filter(({ deferred }) => deferred === true),
      query,
    );
    const shown = within(best.slice(0, limit).map(described), (limits?.maxResultBytes ?? Infinity) * ROOM);
    const names = best.slice(0, shown.length).map(({ name }) => name);
    return toolResult({ value: { tools: shown, found: best.length }, loads: names });
  },
});

const use = defineTool({
  name: TOOL_USE,
  description: `Call a tool that ${TOOL_SEARCH} has found. It counts as a call of that tool in every way.`,
  input: z.strictObject({
    tool: z.string().min(1).max(64).describe('The name of the tool, as it was found.'),
    arguments: z.record(z.string(), z.unknown()).default({}).describe('What it takes.'),
  }),
  effect: 'read',
  run: () => toolFailure('no_tool', 'No tool was named.'), // a call is read as one of the tool that it names
});

/** Finding and calling tools that stand in no prompt. */
export const toolboxGroup: BuiltinGroup = { name: TOOLBOX_GROUP, locked: true, tools: [search, use] };

/** The part of what a result may have that the tools may fill. */
const ROOM = 0.9;

function described({ name, group, description, inputSchema }: ToolDefinition): JsonObject {
  return { name, group, description, input_schema: inputSchema };
}

/** As many as fit whole, and at least one: half a schema is worse than none. */
function within(tools: readonly JsonObject[], bytes: number): readonly JsonObject[] {
  let room = bytes;
  const fitting = tools.findIndex((tool) => (room -= utf8Length(canonicalJson(tool))) < 0);
  return fitting < 0 ? tools : tools.slice(0, Math.max(1, fitting));
}

/** Those that the query says something of, the best first. Equal ones in the order of their names. */
function ranked(tools: readonly ToolDefinition[], query: string): readonly ToolDefinition[] {
  const words = wordsOf(query);
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, words, query) })).filter(({ score }) => score > 0);
  return scored.sort((one, other) => other.score - one.score).map(({ tool }) => tool);
}

function scoreOf({ name, group, description }: ToolDefinition, words: readonly string[], query: string): number {
  if (query.split(/[\s,]+/).includes(name)) return EXACT;
  const [named, told] = [wordsOf(`${name} ${group}`), wordsOf(description)];
  return words.reduce((sum, word) => sum + (has(named, word) ? 3 : 0) + (has(told, word) ? 1 : 0), 0);
}

const EXACT = 1_000;

/** A word, or one that begins with it: `mail` finds `mails`. */
function has(words: readonly string[], wanted: string): boolean {
  return words.some((word) => word === wanted || (wanted.length > 2 && word.startsWith(wanted)));
}

function wordsOf(text: string): readonly string[] {
  return text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

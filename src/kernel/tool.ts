import type { z } from 'zod';
import { mapStrings, toJson, type Json, type JsonObject } from '../base/json.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Part } from '../domain/content.ts';
import type { Effect, ToolDefinition } from '../domain/tool.ts';
import type { AnnounceBlock } from './plugin.ts';
import type { ToolContext, ToolReturn } from './running-tool.ts';
import type { Deny, Hold } from './verdict.ts';

/** What a tool takes: a zod object, or a JSON Schema (2020-12 unless `$schema` says otherwise) of an object. */
export type ToolInput = z.ZodType | JsonObject;

/** What `run` is given: the parsed value of a zod input, with its defaults; the arguments as they came otherwise. */
export type ToolArguments<I extends ToolInput> = I extends z.ZodType ? z.output<I> : JsonObject;

interface ToolFields<I extends ToolInput> {
  /** At most 64 characters of `A-Za-z0-9_-`. */
  readonly name: string;
  /** What the model reads when it chooses. */
  readonly description: string;
  readonly input: I;
  /** A value that does not fit is a failed observation. */
  readonly output?: z.ZodType;
  /** What a repetition would do to the world. `once` when absent: the careful guess. */
  readonly effect?: Effect;
  /** `ask`: a person is asked before every run. */
  readonly approval?: 'never' | 'ask';
  /** Milliseconds until the run is given up. Absent: the agent's limit. Zero: no deadline. */
  readonly timeoutMs?: number;
  /** Calling it again with the same arguments is no loop, as for a tool that polls. */
  readonly repeatable?: boolean;
  /** The model's provider does it, where it can: `run` is only for a model that calls it all the same. */
  readonly native?: ToolDefinition['native'];
  /**
   * It does nothing itself but call other tools, by `context.program`, and always the same ones for the same answers:
   * it may be run again from its start, after a crash or when somebody has answered.
   */
  readonly replays?: true;
}

/** A tool as its author writes it, with the type of its arguments taken from `input`. */
export interface AuthoredTool<I extends ToolInput> extends ToolFields<I> {
  /**
   * Does the work. A plain value is the result as it is; `toolResult` adds parts such as images; what is thrown
   * becomes a failed observation with the error's message.
   */
  run(args: ToolArguments<I>, context: ToolContext): MaybePromise<unknown>;
  /** Whether an interrupted run with this key happened: its result, or undefined when it did not. */
  probe?(idempotencyKey: string, context: ToolContext): MaybePromise<unknown>;
  /**
   * What the tool itself says of these arguments: no, or not without a person. Asked before every run, after the gates
   * and of what would really run. Changes nothing; what it throws is a no.
   */
  judge?(args: ToolArguments<I>, context: ToolContext): MaybePromise<Deny | Hold | undefined>;
  /** What a person who is asked is shown besides the arguments, such as a diff. Changes nothing. */
  preview?(args: ToolArguments<I>, context: ToolContext): MaybePromise<readonly Part[]>;
}

/** A tool of any input, ready for a catalogue. */
export interface ToolSpec extends ToolFields<ToolInput> {
  run(args: unknown, context: ToolContext): MaybePromise<unknown>;
  probe?(idempotencyKey: string, context: ToolContext): MaybePromise<unknown>;
  judge?(args: unknown, context: ToolContext): MaybePromise<Deny | Hold | undefined>;
  preview?(args: unknown, context: ToolContext): MaybePromise<readonly Part[]>;
}

/** Tools that come with Treadle, granted together. Users cannot switch off a `locked` group. */
export interface BuiltinGroup {
  readonly name: string;
  readonly locked: boolean;
  readonly tools: readonly ToolSpec[];
  /** Its tools are handed the user's notes. */
  readonly needsNotes?: boolean | undefined;
  /** Adds a block to announce under a title, for agents that have a tool of it: the block looks for that itself. */
  readonly announces?: readonly [title: string, block: AnnounceBlock];
  /** Called when a turn of a conversation has ended: what the tools still had at work for it ends, too. */
  readonly onTurnEnd?: (conversationId: string) => void;
  /** Its tools work in a folder: an entry of a bundle that names none gives them the one where Treadle was started. */
  readonly needsFiles?: boolean;
  /** What an entry of a bundle may set, where it may set anything. */
  readonly configured?: GroupConfig;
  /** By name: why an entry whose settings do not bring this tool has it not. */
  readonly absent?: Readonly<Record<string, string>> | undefined;
}

export interface GroupConfig {
  /** A strict object whose keys document themselves, as those of plugins do. */
  readonly schema: z.ZodObject;
  /** The tools of an entry that sets this; it was parsed by the schema. */
  tools(config: unknown): readonly ToolSpec[];
}

/** A group whose tools follow from what an entry of a bundle sets; `tools` of the group are those of an entry that sets nothing. */
export function configuredGroup<S extends z.ZodObject>(group: {
  readonly name: string;
  readonly needsFiles?: boolean;
  readonly config: S;
  readonly tools: (config: z.output<S>) => readonly ToolSpec[];
  readonly absent?: BuiltinGroup['absent'];
}): BuiltinGroup {
  const { name, needsFiles = false, config: schema, absent } = group;
  const tools = (config: unknown): readonly ToolSpec[] => group.tools(schema.parse(config));
  return { name, locked: false, needsFiles, tools: tools({}), configured: { schema, tools }, absent };
}

/** Writes a tool whose `run` is typed by its `input`. Checks nothing: the catalogue does, and says where the tool stands. */
export function defineTool<I extends ToolInput>(tool: AuthoredTool<I>): ToolSpec {
  return tool; // a catalogue hands `run` only what `input` has parsed
}

/** Tells a ToolReturn from a plain value that happens to have a `kind`; shared by all copies of this package. */
const RETURN = Symbol.for('treadle.return');

/** A result with parts (text, images, files), with or without a value; or with a text that is part of the conversation from then on. */
export function toolResult(result: Omit<Extract<ToolReturn, { kind: 'result' }>, 'kind'>): ToolReturn {
  return marked({ kind: 'result', ...result });
}

/**
 * The tool did not do it, for a reason that the model should read. `code` is a stable word for programs. `uncertain` where
 * it may have happened all the same, such as when the line broke before the answer.
 */
export function toolFailure(
  code: string,
  message: string,
  { uncertain = false, value }: { readonly uncertain?: boolean; readonly value?: Json } = {},
): ToolReturn {
  const said = { kind: 'failure' as const, code, message, ...(value === undefined ? {} : { value }) };
  return marked(uncertain ? { ...said, uncertain } : said);
}

/** The code that the model and programs know it by when a tool needs an account, or more rights in it, than there are. */
export const ACCOUNT_NEEDED = 'account_needed';

/** The account that a tool needs, or the rights that it lacks there: the user may be asked for them. */
export function accountNeeded(
  message: string,
  { account, claims }: { readonly account: string; readonly claims: readonly string[] },
): ToolReturn {
  return toolFailure(ACCOUNT_NEEDED, message, { value: { consent: { account, claims: [...claims] } } });
}

/** Asks the person for a connected account: the turn waits, and the tool runs again with `context.reply`. */
export function askConsent(
  question: string,
  choices: readonly string[],
  consent: { readonly account: string; readonly claims: readonly string[] },
): ToolReturn {
  return marked({ kind: 'ask', question, choices, consent });
}

/** Asks the person: the turn waits, and the tool runs again with `context.reply`. */
export function askPerson(question: string, choices?: readonly string[]): ToolReturn {
  return marked(choices === undefined ? { kind: 'ask', question } : { kind: 'ask', question, choices });
}

/**
 * The work goes on elsewhere: in a queue, on another machine, for days. The turn waits, and costs nothing, until
 * somebody hands in the result under this ticket; the tool does not run again.
 *
 * A ticket names one piece of work in its conversation. `context.idempotencyKey` is a good one, because a tool that is
 * run again after a crash says the same. Without `expiresInMs` it waits for ever; afterwards the action has failed.
 */
export function waitFor(wait: {
  readonly ticket: string;
  readonly note?: string;
  readonly expiresInMs?: number;
}): ToolReturn {
  return marked({ kind: 'wait', ...wait });
}

/** A program says that its calls wait for others: it is run again once one of them has what it waits for. */
export function parkProgram(): ToolReturn {
  return marked({ kind: 'parked' });
}

/** Hands a task to another agent of the bundle, which works on it in a run of its own. */
export function delegateTo(agent: string, task: string): ToolReturn {
  return marked({ kind: 'delegate', agent, task });
}

/** The same with every text in it changed, such as one without its secrets. */
export function withTexts(value: unknown, change: (text: string) => string): unknown {
  const json = mapStrings(toJson(value), change);
  return isToolReturn(value) ? marked(json as unknown as ToolReturn) : json; // of the shape that it had
}

/** What was observed once, as it stands in a log, with what entered the conversation then. */
export function recordedResult(recorded: Omit<Extract<ToolReturn, { kind: 'recorded' }>, 'kind'>): ToolReturn {
  return marked({ kind: 'recorded', ...recorded });
}

export function isToolReturn(value: unknown): value is ToolReturn {
  return typeof value === 'object' && value !== null && RETURN in value;
}

function marked(value: ToolReturn): ToolReturn {
  Object.defineProperty(value, RETURN, { value: true }); // not enumerable: never stored
  return value;
}

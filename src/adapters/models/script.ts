import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { TreadleError } from '../../base/errors.ts';
import { isObject, parseJson } from '../../base/json.ts';
import { json } from '../../domain/content.ts';
import { plainText } from '../../domain/plain-text.ts';
import {
  FAILURE_CLASSES,
  opaque,
  type AssistantBlock,
  type ModelRequest,
  type ToolMessageResult,
} from '../../domain/model.ts';
import { misfits } from '../schema/wording.ts';
import { importEdited } from '../modules/edited-modules.ts';
import { STOP_KINDS } from '../../domain/status.ts';
import { usage } from '../../domain/usage.ts';

/** What can go wrong with a call besides the failures a provider reports. */
const BREAKS = ['cut', 'garbage', 'hang'] as const;

/**
 * `cut`: the stream ends without saying that it is done. `garbage`: what arrives cannot be read. `hang`: nothing more
 * arrives until the call is aborted. The rest is a failure of that class.
 */
export const FAULTS = [...BREAKS, ...FAILURE_CLASSES] as const;
export type Fault = (typeof FAULTS)[number];

const scriptedAction = z.strictObject({
  name: z.string(),
  arguments: json.optional(),
  /** The arguments as raw text, for a model that writes broken JSON. Stands instead of `arguments`. */
  input: z.string().optional(),
  /** What the provider calls it. Absent: `call_1`, `call_2`, … in every reply, because providers repeat ids. */
  id: z.string().optional(),
});

const reply = z.strictObject({
  thinking: z.union([z.string(), z.strictObject({ text: z.string(), opaque })]).optional(),
  text: z.string().optional(),
  actions: z.array(scriptedAction).optional(),
  /** Absent: `actions` where there are any, else `finished`. */
  stop: z.enum(STOP_KINDS).optional(),
  /** The provider's own word for the stop. */
  raw: z.string().optional(),
  /** Absent: counted, one token for four characters. */
  usage: usage.optional(),
  /** Characters of one piece of the stream, or the very pieces of the text. Absent: each block in one piece. */
  chunks: z.union([z.number().int().positive(), z.array(z.string())]).optional(),
  /** Milliseconds before the first piece. */
  delayMs: z.number().min(0).optional(),
  /** Milliseconds before each further piece. */
  paceMs: z.number().min(0).optional(),
  fault: z.enum(FAULTS).optional(),
  /** Parts that still arrive before the fault: each start, piece and end of a block is one. Absent: all for `cut`, else none. */
  at: z.number().int().min(0).optional(),
  /** What a failure asks to be waited. */
  retryAfterMs: z.number().min(0).optional(),
});

export type ScriptedAction = z.infer<typeof scriptedAction>;

/** One authored answer of the scripted model. */
export type Reply = z.infer<typeof reply>;

const replies = z.array(reply).min(1);

/**
 * A script without code: one list of replies for the whole conversation, or a list for each turn, chosen by the first
 * `when` that matches what the person said last.
 *
 * In a text and in the arguments, `{{user}}` is what the person said, `{{match.1}}` and `{{match.name}}` are groups of
 * `when`, `{{last.ret.x}}` and `{{last.error.message}}` are of the last observation and `{{results.0.ret.x}}` of all of
 * them in order. `{{… | fixed 2}}` and `{{… | number}}` format. An argument that is one template keeps its type.
 */
const scriptFile = z.union([
  replies.transform((list) => ({ replies: list })),
  z.strictObject({ replies, repeat: z.boolean().optional() }),
  z.strictObject({
    turns: z.array(z.strictObject({ when: z.string(), replies })),
    otherwise: replies.optional(),
    /** After the last reply comes the first again. Absent: the call fails and says so. */
    repeat: z.boolean().optional(),
  }),
]);

/** What a script that is data may hold, for whoever documents or checks it. */
export const scriptSchemas = { file: scriptFile, reply, action: scriptedAction };

/** A script as data: a list of replies, or what a JSON script holds. */
export type ScriptData =
  | readonly Reply[]
  | { readonly replies: readonly Reply[]; readonly repeat?: boolean }
  | {
      readonly turns: readonly { readonly when: string; readonly replies: readonly Reply[] }[];
      readonly otherwise?: readonly Reply[];
      readonly repeat?: boolean;
    };

/** A script as code: an authored decision from what the model sees. Called once for each model call. */
export type ScriptFunction = (view: ScriptView) => Reply;

export type Script = ScriptData | ScriptFunction;

/** What a script sees: the request, and the questions scripts ask of it. */
export class ScriptView {
  readonly request: ModelRequest;
  readonly conversationId: string;
  /** Answers of the model in the transcript. */
  readonly replies: number;
  /** Answers of the model since a person last spoke. */
  readonly step: number;

  constructor(request: ModelRequest, conversationId: string, replies: number, step: number) {
    this.request = request;
    this.conversationId = conversationId;
    this.replies = replies;
    this.step = step;
  }

  /** What the person said last. */
  get userText(): string {
    return this.userTexts(1)[0] ?? '';
  }

  /** What the person said, the last first, at most `limit` messages. */
  userTexts(limit: number): readonly string[] {
    const texts: string[] = [];
    const { messages } = this.request;
    for (let index = messages.length - 1; index >= 0 && texts.length < limit; index--) {
      const message = messages[index];
      if (message?.role === 'user' && message.synthetic !== true) texts.push(plainText(message.content));
    }
    return texts;
  }

  /** Results of the actions of the last answer, in order; none once a person has spoken after them. */
  get results(): readonly ToolMessageResult[] {
    const message = this.request.messages[this.#resultsAt()];
    return message?.role === 'tool' ? message.results : [];
  }

  /** The actions that `results` answers, in the same order. */
  get actions(): readonly Extract<AssistantBlock, { type: 'action' }>[] {
    const message = this.request.messages[this.#resultsAt() - 1];
    return message?.role === 'assistant' ? message.content.filter((block) => block.type === 'action') : [];
  }

  /** The place of the last message, where it holds results; notes that Treadle added after it do not count. */
  #resultsAt(): number {
    const { messages } = this.request;
    let index = messages.length - 1;
    for (let message = messages[index]; message?.role === 'user' && message.synthetic === true;) {
      message = messages[--index];
    }
    return messages[index]?.role === 'tool' ? index : -1;
  }
}

/** A script file that has been read and checked: patterns are compiled and a list is a script of one turn. */
export interface CheckedScript {
  readonly turns: readonly { readonly when: RegExp; readonly replies: readonly Reply[] }[];
  readonly otherwise: readonly Reply[] | undefined;
  readonly repeat: boolean;
  /** Replies are counted over the whole conversation instead of over the turn. */
  readonly whole: boolean;
}

/** Checks a script that is data. Throws `script_invalid` with the path of what is wrong. */
export function checkScript(data: unknown, place = 'script'): CheckedScript {
  const parsed = scriptFile.safeParse(data, { reportInput: true });
  if (!parsed.success) throw invalid(place, parsed.error);
  const script = parsed.data;
  const repeat = 'repeat' in script && script.repeat === true;
  if ('replies' in script) return { turns: [], otherwise: script.replies, repeat, whole: true };
  const turns = script.turns.map(({ when, replies: list }, index) => ({
    when: pattern(when, `${place}: turns.${index}.when`),
    replies: list,
  }));
  return { turns, otherwise: script.otherwise, repeat, whole: false };
}

/** Checks one reply. Throws `script_invalid`. */
export function checkReply(value: unknown, place = 'script'): Reply {
  const parsed = reply.safeParse(value, { reportInput: true });
  if (!parsed.success) throw invalid(place, parsed.error);
  return parsed.data;
}

/**
 * Reads a script from a file: JSON, or a module that exports `script`.
 *
 * Throws `script_invalid`. A module is run: a script is code of the operator, like a tool.
 */
export async function loadScript(file: string): Promise<Script> {
  if (file.endsWith('.json')) {
    const data = parseJson(await read(file), file);
    checkScript(data, file);
    return data as ScriptData; // checked on the line above
  }
  let module: unknown;
  try {
    const whole = path.resolve(file);
    module = (await importEdited(whole, path.dirname(whole))).module;
  } catch (cause) {
    throw new TreadleError('script_invalid', {
      place: file,
      found: cause instanceof Error ? cause.message : String(cause),
      wanted: 'a module that can be imported',
      cause,
    });
  }
  const script = isObject(module) ? module['script'] : undefined;
  if (typeof script === 'function') return script as ScriptFunction; // its replies are checked as they come
  if (script === undefined) {
    throw new TreadleError('script_invalid', { place: file, wanted: 'an export named `script`' });
  }
  checkScript(script, file);
  return script as ScriptData; // checked on the line above
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new TreadleError('script_invalid', { place: file, wanted: 'a script file that can be read', cause });
  }
}

function pattern(source: string, place: string): RegExp {
  try {
    return new RegExp(source, 'iu');
  } catch (cause) {
    throw new TreadleError('script_invalid', { place, found: source, wanted: 'a regular expression', cause });
  }
}

function invalid(place: string, error: z.ZodError): TreadleError {
  const [first] = misfits(error.issues);
  const at = first?.path.map(String).join('.') ?? '';
  const isUnknown = first?.unknownKey !== undefined;
  return new TreadleError('script_invalid', {
    place: at === '' ? place : `${place}: ${at}`,
    found: isUnknown ? 'a key that nothing reads' : (first?.found ?? 'nothing'),
    wanted: isUnknown ? 'one that a script has: see docs/scripts.md' : (first?.wanted ?? 'a script'),
  });
}

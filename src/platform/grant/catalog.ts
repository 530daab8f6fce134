import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, isObject, parseJson, toJson, type Json, type JsonObject } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { EFFECTS, type ToolDefinition } from '../../domain/tool.ts';
import { isToolReturn, toolFailure, type ToolSpec } from '../../kernel/tool.ts';
import type { Tool, ToolContext } from '../../kernel/running-tool.ts';
import { compileSchema, type Check } from '../../adapters/schema/ajv.ts';
import { checkOf, isAsyncError, isOldZod, isZod, jsonSchemaOf } from '../../adapters/schema/zod.ts';
import { quote } from '../../adapters/schema/wording.ts';
import type { z } from 'zod';

/** A tool that can be put into a catalogue under any name. */
export interface CompiledTool {
  /** As its author named it, with `name` and `group` still to be set. */
  readonly definition: Omit<ToolDefinition, 'name' | 'group'>;
  readonly own: string;
  readonly hands: Omit<Tool, 'definition'>;
}

/** A tool is compiled once, however many agents are granted it. */
const compiled = new WeakMap<object, CompiledTool>();

/**
 * Check what a module exports as a tool, and make it ready to run.
 *
 * Throws `tool_module` or `tool_schema` with `place`.
 */
export function compileTool(spec: unknown, place: string): CompiledTool {
  const known = isObject(spec) ? compiled.get(spec) : undefined;
  if (known !== undefined) return known;
  const { name, description, input, output, effect, approval, timeoutMs, repeatable, native, replays, ...tool } =
    checked(spec, place);
  const schema = inputSchemaOf(input, place);
  const made: CompiledTool = {
    own: name,
    definition: {
      description: description.toWellFormed().trim(),
      inputSchema: schema,
      effect: effect ?? 'once',
      ...(approval === undefined ? {} : { approval }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(repeatable === undefined ? {} : { repeatable }),
      ...(native === undefined ? {} : { native }),
    },
    hands: {
      validate: validatorOf(input, schema, place),
      run: runnerOf(tool, input, output),
      ...(replays === true && { replays }),
      ...(tool.probe === undefined ? {} : { probe: (key, context) => tool.probe?.(key, context) }),
      ...(tool.judge === undefined ? {} : { judge: parsing(input, (args, context) => tool.judge?.(args, context)) }),
      ...(tool.preview === undefined
        ? {}
        : { preview: parsing(input, (args, context) => tool.preview?.(args, context) ?? []) }),
    },
  };
  compiled.set(spec as object, made); // checked
  return made;
}

/** The tool under the name and with the traits that a grant gives it. */
export function toolOf({ hands }: CompiledTool, definition: ToolDefinition): Tool {
  return { definition, ...hands };
}

function checked(spec: unknown, place: string): ToolSpec {
  const wrong = (found: string, wanted: string): TreadleError =>
    new TreadleError('tool_module', { place, found, wanted });
  if (!isObject(spec)) throw wrong(quote(spec), 'a tool');
  const { name, description, input, run, output, effect, approval, timeoutMs } = spec;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw wrong(`the name ${quote(name)}`, 'a name of at most 64 letters, digits, _ and -');
  }
  const part = (key: string, found: unknown, wanted: string) => wrong(`${name} with ${key} ${quote(found)}`, wanted);
  if (typeof description !== 'string' || description.trim() === '')
    throw part('description', description, 'a sentence');
  if (typeof run !== 'function') throw part('run', run, 'a function');
  if (!isObject(input)) throw part('input', input, 'a zod object or a JSON Schema');
  if (isOldZod(input)) throw wrong(`${name} with an input of zod 3`, 'zod 4');
  if (output !== undefined && !isZod(output)) throw part('output', output, 'a zod schema');
  if (effect !== undefined && !EFFECTS.some((one) => one === effect)) throw part('effect', effect, EFFECTS.join(', '));
  if (approval !== undefined && approval !== 'never' && approval !== 'ask')
    throw part('approval', approval, 'never or ask');
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && Number(timeoutMs) >= 0)) {
    throw part('timeoutMs', timeoutMs, 'milliseconds as a whole number');
  }
  for (const key of ['probe', 'judge', 'preview']) {
    if (spec[key] !== undefined && typeof spec[key] !== 'function') throw part(key, spec[key], 'a function');
  }
  return spec as unknown as ToolSpec; // every field was looked at
}

/** In canonical order: the bytes are part of the cached prompt, whatever order the author wrote. */
function inputSchemaOf(input: ToolSpec['input'], place: string): JsonObject {
  const schema: JsonObject = isZod(input) ? jsonSchemaOf(input, place) : input;
  if (schema['type'] !== 'object') {
    const found = `an input of ${schema['type'] === undefined ? 'no single type' : `type ${canonicalJson(schema['type'])}`}`;
    throw new TreadleError('tool_schema', { place, found, wanted: 'an object, as every provider does' });
  }
  return parseJson(canonicalJson(toJson(schema)), place) as JsonObject; // an object, as checked
}

function validatorOf(input: ToolSpec['input'], schema: JsonObject, place: string): Check {
  return isZod(input) ? checkOf(input) : compileSchema(schema, place);
}

/** A function of a tool, given the arguments as its input makes them of what came. */
function parsing<R>(
  input: ToolSpec['input'],
  act: (args: unknown, context: ToolContext) => MaybePromise<R>,
): (args: JsonObject, context: ToolContext) => MaybePromise<R> {
  if (!isZod(input)) return act;
  return (args, context) => {
    const parsed = parse(input, args);
    return isPromise(parsed) ? parsed.then((value) => act(value, context)) : act(parsed, context);
  };
}

function runnerOf(tool: Pick<ToolSpec, 'run'>, input: ToolSpec['input'], output: ToolSpec['output']): Tool['run'] {
  const run = parsing(input, (args, context) => tool.run(args, context));
  if (output === undefined) return run;
  const promised = (value: unknown) => holdTo(output, value);
  return (args, context) => {
    const returned = run(args, context);
    return isPromise(returned) ? returned.then(promised) : promised(returned);
  };
}

function parse(input: z.ZodType, args: Json): MaybePromise<unknown> {
  try {
    return input.parse(args);
  } catch (error) {
    if (isAsyncError(error)) return input.parseAsync(args);
    throw error;
  }
}

/** What a tool returns has to be what it says it returns; the work is done by now, so this is told and not thrown. */
function holdTo(output: z.ZodType, returned: unknown): unknown {
  const result = isToolReturn(returned) ? returned : { kind: 'result' as const, value: returned };
  if (result.kind !== 'result') return returned;
  const problems = checkOf(output)(toJson(result.value));
  if (problems.length === 0) return returned;
  return toolFailure('bad_output', `The tool ran and returned something else than it declares: ${problems.join('; ')}`);
}

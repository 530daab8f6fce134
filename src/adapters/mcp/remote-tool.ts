import { shortDigest } from '../../base/digest.ts';
import { canonicalJson, isObject, isTooDeep, parseJson, toJson, type Json, type JsonObject } from '../../base/json.ts';
import { head } from '../../base/text.ts';
import type { Effect, ToolDefinition } from '../../domain/tool.ts';
import { compileSchema, type Check } from '../schema/ajv.ts';

/** One tool of a server, described so that a model can be shown it. */
export interface RemoteTool {
  /** As the server calls it: any text. */
  readonly own: string;
  readonly definition: Omit<ToolDefinition, 'name' | 'group'>;
  /** What its results have to be, where it says so. */
  readonly outputSchema: JsonObject | undefined;
  /** Of all that a model or a person goes by. */
  readonly digest: string;
  /** What of its description was left out. */
  readonly losses: readonly string[];
}

export interface RefusedTool {
  readonly name: string;
  readonly why: string;
}

type ReadTool =
  { readonly ok: true; readonly tool: RemoteTool } | { readonly ok: false; readonly refused: RefusedTool };

const LONGEST_NAME = 256;
const LONGEST_DESCRIPTION = 8_192;
const LONGEST_SCHEMA = 65_536;

/** Characters that steer a terminal or hide text from a person but not from a model. */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Co}\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Reads one entry of a list with suspicion: a server may say anything. */
export function readTool(raw: unknown, server: string): ReadTool {
  const given: Json = toJson(raw);
  if (!isObject(given)) return refuse('(no name)', 'it is not an object');
  const { name, title, description, inputSchema, outputSchema, annotations, execution } = given as Record<string, Json>; // an object, and JSON
  if (typeof name !== 'string' || name === '') return refuse('(no name)', 'it has no name');
  if (name.length > LONGEST_NAME || new RegExp(HIDDEN).test(name)) {
    return refuse(shown(name), `its name is longer than ${LONGEST_NAME} characters or has hidden ones`);
  }
  if (isObject(execution) && execution['taskSupport'] === 'required') {
    return refuse(name, 'it only runs as a task, which this version does not do');
  }
  const schema = inputSchema ?? { type: 'object' };
  const wrong = schemaProblem(schema);
  if (wrong !== undefined) return refuse(name, `its input schema ${wrong}`);
  const losses: string[] = [];
  const definition: RemoteTool['definition'] = {
    description: descriptionOf(description, title, name, losses),
    inputSchema: inputOf(schema as JsonObject, losses), // an object, as checked
    effect: effectOf(annotations),
    remote: { server, name },
  };
  const output = isObject(outputSchema) && schemaProblem(outputSchema, true) === undefined ? outputSchema : undefined;
  if (outputSchema !== undefined && output === undefined) losses.push('its output schema cannot be used');
  return {
    ok: true,
    tool: {
      own: name,
      definition,
      outputSchema: output, // JSON by its source
      digest: shortDigest(canonicalJson(definition as unknown as Json)), // made of JSON
      losses,
    },
  };
}

function refuse(name: string, why: string): ReadTool {
  return { ok: false, refused: { name, why } };
}

function shown(name: string): string {
  return `${head(name.replace(HIDDEN, ''), 60)}…`;
}

function schemaProblem(schema: unknown, anyType = false): string | undefined {
  if (!isObject(schema)) return 'is not an object';
  const { type } = schema;
  if (!anyType && type !== undefined && type !== 'object')
    return `is of type ${canonicalJson(toJson(type))}, not object`;
  const json = toJson(schema);
  if (isTooDeep(json)) return 'is nested too deeply';
  const size = canonicalJson(json).length;
  return size > LONGEST_SCHEMA ? `is ${size} characters long; at most ${LONGEST_SCHEMA} are carried` : undefined;
}

/** In canonical order: a server that shuffles its keys must not make a prompt cold. */
function inputOf(schema: JsonObject, losses: string[]): JsonObject {
  if (schema['type'] === undefined) losses.push('its input schema does not say that it is an object');
  return parseJson(canonicalJson({ ...schema, type: 'object' }), 'schema') as JsonObject; // an object, as given
}

function descriptionOf(description: Json | undefined, title: Json | undefined, name: string, losses: string[]): string {
  const given = [description, title, name].find((one): one is string => typeof one === 'string' && one.trim() !== '');
  const plain = (given ?? name)
    .replace(/\r\n?/g, '\n')
    .replace(HIDDEN, (one) => (one === '\n' || one === '\t' ? one : ''));
  if (plain.length < (given ?? name).replace(/\r\n?/g, '\n').length)
    losses.push('hidden characters of its description');
  const fitting = head(plain.trim(), LONGEST_DESCRIPTION);
  if (fitting.length < plain.trim().length) losses.push(`what of its description is past ${LONGEST_DESCRIPTION} bytes`);
  return fitting;
}

/** What the server says of itself. It is a hint: `tool_traits` stand over it. */
function effectOf(annotations: unknown): Effect {
  if (!isObject(annotations)) return 'once';
  if (annotations['readOnlyHint'] === true) return 'read';
  return annotations['idempotentHint'] === true ? 'idempotent' : 'once';
}

const checks = new WeakMap<JsonObject, Check>();

/** The check of a schema, compiled with the first value: most tools of a long list are never called. */
export function checkOf(schema: JsonObject): Check {
  let check = checks.get(schema);
  if (check === undefined) {
    try {
      check = compileSchema(schema);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      check = () => [`the schema that the server gives cannot be used: ${why}`];
    }
    checks.set(schema, check);
  }
  return check;
}

import { parse } from 'yaml';
import { upgrade } from '@scalar/openapi-upgrader';
import { Validator } from '@seriousme/openapi-schema-validator';
import {
  forbiddenKey,
  isObject,
  isTooDeep,
  toJson,
  tryParseJson,
  type Json,
  type JsonObject,
} from '../../base/json.ts';

/** Bytes of a document. The largest that are published have more; those have parts that can be named. */
export const MOST_DOCUMENT_BYTES = 8 * 1024 * 1024;
/** Values in a document once its YAML aliases stand for what they name. */
const MOST_VALUES = 400_000;
const MOST_ALIASES = 100;
const MOST_TOLD = 3;

/** What is wrong with a document, as a sentence without a full stop. */
export class DocumentProblem extends Error {
  override readonly name = 'DocumentProblem';
}

let validator: Validator | undefined;

/**
 * The text of an OpenAPI document (2.0, 3.0 or 3.1, JSON or YAML) as a document of 3.1 that was checked.
 *
 * Throws a DocumentProblem. A reference to another document is one.
 */
export async function readDocument(text: string): Promise<JsonObject> {
  const document = parsed(text);
  const far = farReference(document);
  if (far !== undefined)
    throw new DocumentProblem(`it refers to another document, ${JSON.stringify(far)}: put that in`);
  validator ??= new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  if (!valid) throw new DocumentProblem(`it is no OpenAPI document: ${told(errors)}`);
  // The library changes what it is given.
  const upgraded = toJson(upgrade(structuredClone(document), '3.1'));
  if (!isObject(upgraded)) throw new DocumentProblem('it is no OpenAPI document');
  return upgraded; // an object, and JSON
}

function parsed(text: string): JsonObject {
  const value = text.trimStart().startsWith('{') ? fromJson(text) : fromYaml(text);
  if (!isObject(value)) throw new DocumentProblem('it is no mapping');
  if (isTooDeep(value)) throw new DocumentProblem('it is nested too deeply');
  const forbidden = forbiddenKey(value);
  if (forbidden !== undefined) throw new DocumentProblem(`it has a key ${forbidden}, which is not allowed`);
  return value; // an object, and JSON
}

function fromJson(text: string): Json {
  const read = tryParseJson(text);
  if (!read.ok) throw new DocumentProblem(`it is no JSON: ${read.problem}`);
  return read.value;
}

function fromYaml(text: string): Json {
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: MOST_ALIASES, uniqueKeys: true, logLevel: 'error' });
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new DocumentProblem(`it is no YAML: ${line}`);
  }
  if (hasTooMany(value)) throw new DocumentProblem(`it has more than ${MOST_VALUES} values, or refers to itself`);
  return toJson(value);
}

/** Counted before it is copied: a few lines of YAML can stand for more than fits into memory. */
function hasTooMany(value: unknown): boolean {
  let left = MOST_VALUES;
  const open: unknown[] = [value];
  while (open.length > 0) {
    if (--left < 0) return true;
    const one = open.pop();
    if (typeof one === 'object' && one !== null) for (const item of Object.values<unknown>({ ...one })) open.push(item);
  }
  return false;
}

function farReference(value: Json): string | undefined {
  const open: Json[] = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null) continue;
    for (const [name, item] of Object.entries<Json>(one)) {
      if (name === '$ref' && typeof item === 'string' && !item.startsWith('#')) return item;
      open.push(item);
    }
  }
  return undefined;
}

function told(errors: Awaited<ReturnType<Validator['validate']>>['errors']): string {
  if (!Array.isArray(errors)) return (errors ?? 'nobody says why').replace(/\.$/, '');
  const texts = errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message ?? ''}`.trim());
  return [...new Set(texts)].slice(0, MOST_TOLD).join('; ');
}

import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';

type WireSchema = LanguageModelV4FunctionTool['inputSchema'];

const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'] as const;
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
const SINGLES = [
  'items',
  'additionalProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
] as const;

const converted = new WeakMap<JsonObject, WireSchema>();

/**
 * A tool's schema as providers accept it: JSON Schema 2020-12, one document, every `$ref` resolving within it.
 *
 * Only the dialect changes: `definitions` become `$defs`, tuples and draft-04 limits get today's spelling, `$schema` and
 * `id` go, a reference to another document allows anything. The author's own schema still validates the arguments.
 * Converted once per schema object.
 */
export function wireSchema(schema: JsonObject): WireSchema {
  let wire = converted.get(schema);
  if (wire === undefined) {
    const root = convert(schema, schema);
    wire = (isObject(root) && !('type' in root) ? { type: 'object', ...root } : root) as WireSchema; // a schema by construction
    converted.set(schema, wire);
  }
  return wire;
}

function convert(schema: Json, root: JsonObject): Json {
  if (!isObject(schema)) return schema; // true, false, or something that is not ours to judge
  const out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema' || key === '$id' || (key === 'id' && typeof value === 'string')) continue;
    if (key === '$ref' && typeof value === 'string') {
      if (resolves(value, root)) out['$ref'] = value.replace(/^#\/definitions\//, '#/$defs/');
    } else if (isIn(MAPS, key) && isObject(value)) {
      const name = key === 'definitions' ? '$defs' : key;
      const entries = Object.entries(value).map(([member, item]) => [member, convert(item, root)] as const);
      out[name] = { ...(out[name] as JsonObject | undefined), ...Object.fromEntries(entries) }; // only ever set here
    } else if (isIn(LISTS, key) && Array.isArray(value)) {
      out[key] = (value as readonly Json[]).map((item) => convert(item, root));
    } else if (key === 'items' && Array.isArray(value)) {
      out['prefixItems'] = (value as readonly Json[]).map((item) => convert(item, root));
      const rest = schema['additionalItems'];
      if (rest !== undefined) out['items'] = convert(rest, root);
    } else if (key === 'additionalItems') {
      continue; // said with `items` above, and says nothing without a tuple
    } else if (isIn(SINGLES, key)) {
      out[key] = convert(value, root);
    } else {
      out[key] = value;
    }
  }
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof out[flag] !== 'boolean') continue;
    const value = out[limit];
    const exclusive = out[flag] && value !== undefined;
    delete out[flag];
    if (!exclusive) continue;
    delete out[limit];
    out[flag] = value;
  }
  return out;
}

/** What of a schema no provider is told, each with its path. The author's own schema still validates what comes back. */
export function schemaLosses(schema: JsonObject): readonly string[] {
  const losses: string[] = [];
  const visit = (value: Json | undefined, path: string): void => {
    if (Array.isArray(value)) (value as readonly Json[]).forEach((item, index) => visit(item, `${path}/${index}`));
    else if (isObject(value)) {
      const { $ref, $dynamicRef } = value;
      if (typeof $ref === 'string' && !resolves($ref, schema))
        losses.push(`${path || '/'}: ${$ref} is not in the schema`);
      if ($dynamicRef !== undefined) losses.push(`${path || '/'}: a dynamic reference`);
      for (const [key, item] of Object.entries(value)) {
        // What stands under these names are values, not schemas.
        if (key !== 'const' && key !== 'enum' && key !== 'default' && key !== 'examples') visit(item, `${path}/${key}`);
      }
    }
  };
  visit(schema, '');
  return losses;
}

function resolves(ref: string, root: JsonObject): boolean {
  if (ref === '#') return true;
  if (!ref.startsWith('#/')) return ref.startsWith('#') && hasAnchor(root, ref.slice(1));
  let value: Json | undefined = root;
  for (const step of ref.slice(2).split('/')) {
    const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
    value = (value as JsonObject)[key];
  }
  return true;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function hasAnchor(value: Json | undefined, anchor: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ((value as JsonObject)['$anchor'] === anchor) return true;
  return Object.values(value).some((item) => hasAnchor(item, anchor));
}

function isIn(list: readonly string[], key: string): boolean {
  return list.includes(key);
}

/** True when the schema says of every object exactly which keys it has, as OpenAI's strict mode demands. */
export function isStrict(schema: Json): boolean {
  if (!isObject(schema)) return true;
  const { type, properties, required } = schema;
  if (type === 'object' || properties !== undefined) {
    const keys = isObject(properties) ? Object.keys(properties) : [];
    const demanded = Array.isArray(required) ? (required as readonly unknown[]) : [];
    if (schema['additionalProperties'] !== false || !keys.every((key) => demanded.includes(key))) return false;
  }
  return Object.values(schema).every((value) =>
    Array.isArray(value) ? (value as readonly Json[]).every(isStrict) : isStrict(value),
  );
}

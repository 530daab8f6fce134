import { isObject, type Json, type JsonObject } from '../../base/json.ts';

/** Keywords that say nothing to whoever writes a value. */
const LEFT_OUT = new Set(['xml', 'externalDocs', 'example', 'discriminator', '$schema', '$id']);
/** What stands under these keys are values, not schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples']);

export interface Parts {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
}

/** The value that a local reference names; undefined when there is none. */
export function resolvePointer(document: JsonObject, ref: string): Json | undefined {
  if (!ref.startsWith('#/')) return undefined;
  let value: Json | undefined = document;
  for (const step of ref.slice(2).split('/')) {
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

/** An object with its references followed, however many. */
export function followed(document: JsonObject, value: Json | undefined): JsonObject | undefined {
  let at = value;
  for (let hop = 0; hop < 20; hop++) {
    if (!isObject(at)) return undefined;
    const { $ref } = at;
    if (typeof $ref !== 'string') return at; // an object, and JSON
    at = resolvePointer(document, $ref);
  }
  return undefined;
}

/**
 * One JSON Schema of what an operation takes: every reference resolves within it, and what only the service may set
 * (`readOnly`) is left out.
 */
export function inputSchema(document: JsonObject, { properties, required }: Parts): JsonObject {
  const names = new Map<string, string>();
  const open: string[] = [];
  const nameOf = (ref: string): string => {
    let name = names.get(ref);
    if (name === undefined) {
      const wanted = decoded(ref.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9_.-]/g, '_') || 'part';
      const taken = new Set(names.values());
      name = wanted;
      for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
      names.set(ref, name);
      open.push(ref);
    }
    return name;
  };

  const convert = (schema: Json): Json => {
    if (Array.isArray(schema)) return (schema as readonly Json[]).map(convert);
    if (!isObject(schema)) return schema;
    const out: Record<string, Json> = {};
    const hidden = readOnlyIn(schema);
    for (const [key, value] of Object.entries(schema)) {
      if (LEFT_OUT.has(key) || key.startsWith('x-')) continue;
      if (key === '$ref' && typeof value === 'string') out[key] = value === '#' ? {} : `#/$defs/${nameOf(value)}`;
      else if (VALUES.has(key)) out[key] = value;
      else if (key === 'properties' && isObject(value)) {
        const shown = Object.entries(value).filter(([name]) => !hidden.has(name));
        out[key] = Object.fromEntries(shown.map(([name, item]) => [name, convert(item)]));
      } else if (key === 'required' && Array.isArray(value)) {
        out[key] = (value as readonly Json[]).filter((name) => typeof name !== 'string' || !hidden.has(name));
      } else out[key] = convert(value);
    }
    return out;
  };
  const readOnlyIn = (schema: JsonObject): ReadonlySet<string> => {
    const { properties: own } = schema;
    if (!isObject(own)) return new Set();
    const isHidden = (one: Json): boolean =>
      followed(document, one)?.['readOnly'] === true || (isObject(one) && one['readOnly'] === true);
    return new Set(Object.entries(own).flatMap(([name, one]) => (isHidden(one) ? [name] : [])));
  };

  const own = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, convert(schema)]));
  const defs: [string, Json][] = [];
  for (let ref = open.shift(); ref !== undefined; ref = open.shift()) {
    defs.push([nameOf(ref), convert(resolvePointer(document, ref) ?? true)]);
  }
  return {
    type: 'object',
    properties: own,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...(defs.length === 0 ? {} : { $defs: Object.fromEntries(defs) }),
  };
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

import { z } from 'zod';
import { isObject, toJson, type JsonObject } from '../../base/json.ts';
import type { Path } from '../../assembly/resolve.ts';
import { bundle } from '../../domain/bundle.ts';

/**
 * The schema of a bundle as JSON Schema, for editors that complete and check as you type.
 *
 * Keys of a later version are in it as impossible, so that an editor marks them. `since` and `otherwise`, the default
 * in words, are annotations that the documentation is made of.
 */
export function bundleJsonSchema(): JsonObject {
  cached ??= z.toJSONSchema(bundle, {
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      if (jsonSchema['later'] === true) Object.assign(jsonSchema, 'const' in jsonSchema ? { not: {} } : EMPTY);
      const { fallback } = jsonSchema;
      if (fallback !== undefined) jsonSchema.default = toJson(fallback);
      delete jsonSchema['fallback'];
    },
  }) as JsonObject; // the same set of values, typed more loosely
  return cached;
}

/** Asks for nothing, and so is let through. */
const EMPTY = { type: ['object', 'array', 'null'], maxProperties: 0, maxItems: 0 } as const;

let cached: JsonObject | undefined;

/** The keys that the schema has at a path of a bundle. */
export function keysAt(path: Path): readonly string[] {
  let here: readonly JsonObject[] = members(bundleJsonSchema());
  for (const part of path) here = here.flatMap((one) => child(one, part));
  return [
    ...new Set(here.flatMap((one) => Object.keys(properties(one)).filter((name) => !isLater(properties(one)[name])))),
  ];
}

function child(schema: JsonObject, part: string | number): readonly JsonObject[] {
  if (typeof part === 'number') return members(schema['items']);
  const own = properties(schema)[part];
  return members(own ?? schema['additionalProperties']);
}

function members(schema: unknown): readonly JsonObject[] {
  if (!isObject(schema)) return [];
  if (typeof schema['$ref'] === 'string') return members(definition(schema['$ref']));
  const inner = [schema['anyOf'], schema['oneOf']].filter(Array.isArray).flat();
  return inner.length === 0 ? [schema as JsonObject] : inner.flatMap(members); // isObject, and JSON by its source
}

/** What `#/$defs/name` stands for. */
export function definition(ref: string): unknown {
  const { $defs: all } = bundleJsonSchema();
  return isObject(all) ? all[ref.replace('#/$defs/', '')] : undefined;
}

function properties(schema: JsonObject): Record<string, unknown> {
  return isObject(schema['properties']) ? schema['properties'] : {};
}

function isLater(schema: unknown): boolean {
  return isObject(schema) && schema['later'] === true;
}

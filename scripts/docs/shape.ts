// Schemas in words.
import { z } from 'zod';
import { isObject, type JsonObject } from '../../src/base/json.ts';
import { code } from './table.ts';

export interface Field {
  readonly name: string;
  readonly optional: boolean;
  readonly type: string;
}

/** Schemas that are told by a name: a word, or a link to their own section. */
export type Named = ReadonlyMap<z.core.$ZodType, string>;

/** The keys of an object schema, in order. */
export function fieldsOf(schema: z.core.$ZodType, named: Named): readonly Field[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).map(([name, value]: [string, z.core.$ZodType]) => ({
    name,
    optional: value instanceof z.ZodOptional,
    type: typeOf(value, named),
  }));
}

/** The type of a schema, in the words of people. */
export function typeOf(schema: z.core.$ZodType, named: Named): string {
  const name = named.get(schema);
  if (name !== undefined) return name;
  if (schema instanceof z.ZodOptional) return typeOf(schema.def.innerType, named);
  if (schema instanceof z.ZodEnum) return schema.options.map((one) => code(String(one))).join(', ');
  if (schema instanceof z.ZodLiteral) return [...schema.values].map((one) => code(String(one))).join(', ');
  if (schema instanceof z.ZodArray) return `list of ${typeOf(schema.def.element, named)}`;
  if (schema instanceof z.ZodUnion) return [...new Set(schema.options.map((one) => typeOf(one, named)))].join(' or ');
  if (schema instanceof z.ZodRecord) return `by name: ${typeOf(schema.def.valueType, named)}`;
  if (schema instanceof z.ZodObject) {
    const fields = fieldsOf(schema, named).map(({ name, optional, type }) => `${name}${optional ? '?' : ''}: ${type}`);
    return fields.length === 0 ? 'nothing' : `{ ${fields.join('; ')} }`;
  }
  return jsonType(z.toJSONSchema(schema, { unrepresentable: 'any' }) as JsonObject); // the same values, typed more loosely
}

/** The type of a JSON Schema, in the same words. */
export function jsonType(schema: JsonObject): string {
  const members = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(members)) return [...new Set(members.map((one) => jsonType(one as JsonObject)))].join(' or '); // a schema, by its place
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => code(String(one))).join(', ');
  if (typeof schema['const'] === 'string') return code(schema['const']);
  switch (schema['type']) {
    case 'string':
      return 'text';
    case 'integer':
      return `whole number${range(schema)}`;
    case 'number':
      return `number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return isObject(schema['items']) ? `list of ${jsonType(schema['items'])}` : 'list';
    case 'object': {
      const { properties } = schema;
      if (!isObject(properties) || Object.keys(properties).length === 0) return 'an object';
      const required = Array.isArray(schema['required']) ? schema['required'] : [];
      const fields = Object.entries(properties).map(
        ([name, one]) => `${name}${required.includes(name) ? '' : '?'}: ${jsonType(one as JsonObject)}`, // as above
      );
      return `{ ${fields.join('; ')} }`;
    }
    default:
      return 'JSON';
  }
}

/** Bounds that somebody chose, not those of the number type. */
function range({ minimum, maximum }: JsonObject): string {
  const least = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined;
  const most = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined;
  if (least === undefined) return most === undefined ? '' : `, at most ${most}`;
  return most === undefined ? `, ${least} or more` : `, ${least} to ${most}`;
}

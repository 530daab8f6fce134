import { Validator, type SchemaDraft } from '@cfworker/json-schema';
import type { Json } from '../api/types.ts';

/** What a form needs to know of a value: the part of JSON Schema that people fill in field by field. */
export type Shape = { readonly about: string | undefined; readonly isNullable: boolean } & (
  | { readonly kind: 'text'; readonly format: string | undefined }
  | { readonly kind: 'number' | 'flag' | 'json' }
  | { readonly kind: 'choice'; readonly choices: readonly Json[] }
  | { readonly kind: 'list'; readonly items: Json }
  | { readonly kind: 'object'; readonly properties: readonly Property[] }
);

export interface Property {
  readonly name: string;
  readonly schema: Json;
  readonly isNeeded: boolean;
}

type Keywords = Readonly<Record<string, Json>>;

/** The shape of a value by its schema; by the value itself where the schema says nothing that a form could use. */
export function shapeOf(schema: Json, root: Json, value: Json): Shape {
  const given = resolved(schema, root);
  const about = textOr(given['description'], given['title']);
  const { rest, isNullable } = withoutNull(given, root);
  const common = { about: about ?? textOr(rest['description'], rest['title']), isNullable };
  const choices = choicesOf(rest, root);
  if (choices !== undefined) return { ...common, kind: 'choice', choices };
  switch (typeOf(rest)) {
    case 'string':
      return { ...common, kind: 'text', format: textOr(rest['format']) };
    case 'number':
    case 'integer':
      return { ...common, kind: 'number' };
    case 'boolean':
      return { ...common, kind: 'flag' };
    case 'array':
      return isRecord(rest['items']) ? { ...common, kind: 'list', items: rest['items'] } : { ...common, kind: 'json' };
    case 'object':
      return { ...common, ...objectShape(rest, value) };
    default:
      return { ...common, ...shapeOfValue(value) };
  }
}

/** What is wrong with a value, by the place of it: `text`, `to.0`. A schema that cannot be used finds nothing. */
export function problemsOf(schema: Json, value: Json): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  if (!isRecord(schema)) return problems;
  try {
    const validator = new Validator(schema, draftOf(schema), false);
    for (const { keyword, instanceLocation, error } of validator.validate(value).errors) {
      if (ON_THE_WAY.has(keyword)) continue;
      const place = instanceLocation.replace(/^#\/?/, '').split('/').join('.');
      if (!problems.has(place)) problems.set(place, sentence(error));
    }
  } catch {
    // The server checks with a validator of its own, and says what is wrong.
  }
  return problems;
}

/** These only say that something further in does not fit. */
const ON_THE_WAY = new Set(['properties', 'items', 'prefixItems', 'additionalProperties', '$ref', 'allOf']);

/** A value to begin with, for something that was left out. */
export function blankOf(shape: Shape): Json {
  switch (shape.kind) {
    case 'text':
      return '';
    case 'number':
      return 0;
    case 'flag':
      return false;
    case 'choice':
      return shape.choices[0];
    case 'list':
      return [];
    case 'object':
      return {};
    case 'json':
      return null;
  }
}

function objectShape(given: Keywords, value: Json): Pick<Shape & { kind: 'object' }, 'kind' | 'properties'> {
  const declared = isRecord(given['properties']) ? given['properties'] : {};
  const needed: readonly Json[] = Array.isArray(given['required']) ? given['required'] : [];
  const others = isRecord(value) ? Object.keys(value).filter((name) => !(name in declared)) : [];
  const further = isRecord(given['additionalProperties']) ? given['additionalProperties'] : {};
  return {
    kind: 'object',
    properties: [
      ...Object.entries(declared).map(([name, schema]) => ({ name, schema, isNeeded: needed.includes(name) })),
      ...others.map((name) => ({ name, schema: further, isNeeded: false })),
    ],
  };
}

function shapeOfValue(value: Json) {
  switch (typeof value) {
    case 'string':
      return { kind: 'text', format: undefined } as const;
    case 'number':
      return { kind: 'number' } as const;
    case 'boolean':
      return { kind: 'flag' } as const;
    default:
      return isRecord(value) ? objectShape({}, value) : ({ kind: 'json' } as const);
  }
}

const DEEPEST_REFERENCE = 16;

/** Follows references within the schema itself; there are no others. */
function resolved(schema: Json, root: Json): Keywords {
  let at = schema;
  for (let depth = 0; depth < DEEPEST_REFERENCE && isRecord(at) && typeof at['$ref'] === 'string'; depth++) {
    const steps = at['$ref'].split('/');
    if (steps.shift() !== '#') return {};
    at = steps.reduce<Json>(
      (found, step) => (isRecord(found) ? found[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      root,
    );
  }
  return isRecord(at) ? at : {};
}

/** `string | null` is a string that may be left empty. */
function withoutNull(given: Keywords, root: Json): { readonly rest: Keywords; readonly isNullable: boolean } {
  const { type } = given;
  if (Array.isArray(type) && type.includes('null')) {
    const types: readonly Json[] = type.filter((one) => one !== 'null');
    return { rest: { ...given, type: types.length === 1 ? types[0] : types }, isNullable: true };
  }
  for (const name of ['anyOf', 'oneOf']) {
    const union = given[name];
    if (!Array.isArray(union)) continue;
    const branches = union.map((one: Json) => resolved(one, root));
    const others = branches.filter((one) => one['type'] !== 'null');
    if (others.length < branches.length && others[0] !== undefined)
      return { rest: others.length === 1 ? others[0] : { ...given, [name]: others }, isNullable: true };
  }
  return { rest: given, isNullable: false };
}

function choicesOf(given: Keywords, root: Json): readonly Json[] | undefined {
  if (Array.isArray(given['enum'])) return given['enum'] as readonly Json[]; // whatever it lists
  if ('const' in given) return [given['const']];
  const union = given['anyOf'] ?? given['oneOf'];
  if (!Array.isArray(union) || union.length === 0) return undefined;
  const branches = union.map((one: Json) => resolved(one, root));
  return branches.every((one) => 'const' in one) ? branches.map((one) => one['const']) : undefined;
}

function typeOf({ type, properties }: Keywords): Json {
  return type ?? (isRecord(properties) ? 'object' : undefined);
}

function draftOf({ $schema }: Keywords): SchemaDraft {
  const named = typeof $schema === 'string' ? $schema : '';
  if (named.includes('draft-04')) return '4';
  if (named.includes('draft-07') || named.includes('draft-06')) return '7';
  return named.includes('2019-09') ? '2019-09' : '2020-12';
}

function sentence(error: string): string {
  return error.replace(/^Instance does not have/, 'It lacks').replace(/^Instance/, 'This');
}

function textOr(...values: readonly Json[]): string | undefined {
  return values.find((one) => typeof one === 'string' && one !== '') as string | undefined; // looked at just now
}

function isRecord(value: Json): value is Keywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, Options } from 'ajv';
import { TreadleError } from '../../base/errors.ts';
import { forbiddenKey, isObject, type Json, type JsonObject } from '../../base/json.ts';
import { pointer, quote } from './wording.ts';

/** Problems of a value, each with its path and what was wanted, or an empty list. */
export type Check = (value: Json) => readonly string[];

/** Problems that are told at once: a model mends them together, and a long list would not be read. */
const MOST_PROBLEMS = 5;

/** Ajv takes as long to load as everything else together, and many agents need none. */
const require = createRequire(import.meta.url);

type Dialect = '2020-12' | '2019-09' | 'draft-07' | 'draft-06' | 'draft-04';
const compilers = new Map<Dialect, Ajv>();

/**
 * Compile a JSON Schema into a check.
 *
 * The dialect is what `$schema` says; 2020-12 when it says nothing or something unknown. Checks only: nothing is
 * coerced, no default is put in, and a key that names a prototype is refused. Throws `tool_schema` with `place`.
 */
export function compileSchema(schema: JsonObject, place = 'schema'): Check {
  const dialect = dialectOf(schema['$schema']);
  const { $schema: _, ...rest } = schema; // an unknown URI would be looked up
  const ajv = compilerOf(dialect);
  let validate;
  try {
    validate = ajv.compile<Json>(rest);
  } catch (cause) {
    throw new TreadleError('tool_schema', {
      place,
      found: cause instanceof Error ? cause.message : String(cause),
      wanted: `a JSON Schema (${dialect}) without references to other documents`,
      cause,
    });
  } finally {
    ajv.removeSchema(rest); // a bundle that is loaded again must not fill the memory
  }
  return (value) => {
    const forbidden = forbiddenKey(value);
    if (forbidden !== undefined) return [`${forbidden}: this name is not allowed`];
    if (validate(value)) return [];
    return told(validate.errors ?? []);
  };
}

const DIALECTS: readonly (readonly [RegExp, Dialect])[] = [
  [/\/draft\/2019-09\/schema#?$/, '2019-09'],
  [/\/draft-07\/schema#?$/, 'draft-07'],
  [/\/draft-06\/schema#?$/, 'draft-06'],
  [/\/draft-04\/schema#?$/, 'draft-04'],
];

function dialectOf(uri: Json | undefined): Dialect {
  const known = typeof uri === 'string' ? DIALECTS.find(([pattern]) => pattern.test(uri)) : undefined;
  return known?.[1] ?? '2020-12';
}

function compilerOf(dialect: Dialect): Ajv {
  let ajv = compilers.get(dialect);
  if (ajv === undefined) {
    ajv = create(dialect);
    compilers.set(dialect, ajv);
  }
  return ajv;
}

type AjvModule = { readonly default: new (options: Options) => Ajv };

const MODULES: Readonly<Record<Dialect, string>> = {
  '2020-12': 'ajv/dist/2020.js',
  '2019-09': 'ajv/dist/2019.js',
  'draft-07': 'ajv',
  'draft-06': 'ajv',
  'draft-04': 'ajv-draft-04',
};

function create(dialect: Dialect): Ajv {
  const { default: AjvOfDialect } = require(MODULES[dialect]) as AjvModule; // CommonJS, with types for import only
  const ajv = new AjvOfDialect({
    allErrors: true,
    verbose: true,
    strict: false,
    logger: false,
    addUsedSchema: false, // two tools may have the same $id
    code: { regExp },
  });
  if (dialect === 'draft-06') ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json') as JsonObject);
  const { default: addFormats } = require('ajv-formats') as { readonly default: (ajv: Ajv) => unknown }; // as above
  addFormats(ajv);
  return ajv;
}

/** JSON Schema asks for Unicode patterns; schemas in the wild have escapes that only the old kind of pattern takes. */
const regExp = Object.assign(
  (pattern: string, flags: string) => {
    try {
      return new RegExp(pattern, flags);
    } catch {
      return new RegExp(pattern, flags.replace('u', ''));
    }
  },
  { code: 'new RegExp' },
);

/** Keywords that only say that something below did not fit. */
const UMBRELLAS: ReadonlySet<string> = new Set([
  'anyOf',
  'oneOf',
  'if',
  'then',
  'else',
  'allOf',
  '$ref',
  'propertyNames',
]);

function told(errors: readonly ErrorObject[]): readonly string[] {
  const texts = new Set<string>();
  for (const error of alternatives(errors)) texts.add(describe(error));
  return [...texts].slice(0, MOST_PROBLEMS);
}

/** Where a union did not fit, its members each complain of the same value: one problem says what all of them want. */
function alternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const covered = (error: ErrorObject): boolean =>
    unions.some(
      (one) =>
        one !== error && error.schemaPath.startsWith(`${one.schemaPath}/`) && error.instancePath === one.instancePath,
    );
  const kept = errors.filter((error) => !covered(error));
  const below = (error: ErrorObject): boolean =>
    kept.some((one) => one !== error && one.instancePath.startsWith(`${error.instancePath}/`));
  return kept.filter((error) => !UMBRELLAS.has(error.keyword) || !below(error));
}

function describe(error: ErrorObject): string {
  const { keyword, instancePath, params, data, parentSchema } = error;
  const at = instancePath === '' ? '/' : instancePath;
  const found = quote(data);
  switch (keyword) {
    case 'required': {
      const name = String(params['missingProperty']);
      return `${instancePath}${pointer([name])}: wanted ${kindOf(propertyOf(parentSchema, name))}, found nothing`;
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      const known = Object.keys(isObject(parentSchema?.['properties']) ? parentSchema['properties'] : {});
      return `${instancePath}${pointer([name])}: not a known name; known: ${known.join(', ') || 'none'}`;
    }
    case 'type':
      return `${at}: wanted ${kindOf({ type: params['type'] as unknown })}, found ${found}`;
    case 'enum':
    case 'const':
      return `${at}: wanted ${kindOf({ [keyword]: error.schema })}, found ${found}`;
    case 'anyOf':
    case 'oneOf':
      return `${at}: wanted ${kindOf({ anyOf: error.schema })}, found ${found}`;
    case 'false schema':
      return `${at}: nothing is allowed here, found ${found}`;
    default:
      return `${at}: ${(error.message ?? keyword).replace(/^must /, 'wanted to ')}, found ${found}`;
  }
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** What a schema wants, in a few words. */
function kindOf(schema: unknown): string {
  if (!isObject(schema)) return 'a value';
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].map((one) => JSON.stringify(one)).join(', ')}`;
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) return type.join(' or ');
  const members = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(members)) return [...new Set(members.map(kindOf))].join(' or ');
  return 'a value';
}

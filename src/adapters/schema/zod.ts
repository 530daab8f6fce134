import { z } from 'zod';
import { TreadleError } from '../../base/errors.ts';
import { forbiddenKey, isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Check } from './ajv.ts';
import { misfits, pointer, type Misfit } from './wording.ts';

const MOST_PROBLEMS = 5;

/** True for a schema of zod 4, of whichever copy of the package. */
export function isZod(value: unknown): value is z.ZodType {
  return isObject(value) && isObject(value['_zod']) && 'def' in value['_zod'];
}

/** True for a schema of zod 3, which looks alike to the person who wrote it. */
export function isOldZod(value: unknown): boolean {
  return isObject(value) && !('_zod' in value) && '_def' in value && typeof value['safeParse'] === 'function';
}

/** What a zod schema takes, as JSON Schema 2020-12 for the model. Throws `tool_schema` when it takes what JSON has not. */
export function jsonSchemaOf(schema: z.ZodType, place: string): JsonObject {
  try {
    const {
      $schema: _,
      '~standard': __,
      ...rest
    } = z.toJSONSchema(schema, { io: 'input', override }) as Record<string, Json>; // JSON by its contract
    return rest;
  } catch (cause) {
    throw new TreadleError('tool_schema', {
      place,
      found: cause instanceof Error ? cause.message : String(cause),
      wanted: 'an input that JSON can say',
      hint: 'a date, for one, is a z.iso.datetime()',
      cause,
    });
  }
}

/** Leaves out what zod says for itself and what JSON Schema would say differently: `checkOf` still holds the value to it. */
function override({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  // Every name is a string, and some providers refuse the keyword.
  if (zodSchema._zod.def.type === 'record' && Object.keys(jsonSchema.propertyNames ?? {}).length === 1)
    delete jsonSchema.propertyNames;
  if (zodSchema._zod.def.checks?.some(hasFlags) ?? false) {
    delete jsonSchema.pattern;
    delete jsonSchema.allOf;
  }
}

/** A pattern that ignores case, say, cannot be told in JSON Schema, which has no flags. */
function hasFlags({ _zod }: z.core.$ZodCheck): boolean {
  return 'pattern' in _zod.def && _zod.def.pattern instanceof RegExp && /[ims]/.test(_zod.def.pattern.flags);
}

/**
 * A check that asks the author's own schema, so that nothing is lost on the way to JSON Schema, refinements included.
 *
 * A refinement that is asynchronous is not asked here but when the tool runs.
 */
export function checkOf(schema: z.ZodType): Check {
  return (value) => {
    const forbidden = forbiddenKey(value);
    if (forbidden !== undefined) return [`${forbidden}: this name is not allowed`];
    let parsed;
    try {
      parsed = schema.safeParse(value, { reportInput: true });
    } catch (error) {
      if (error instanceof z.core.$ZodAsyncError || isAsyncError(error)) return [];
      throw error;
    }
    if (parsed.success) return [];
    return misfits(parsed.error.issues).slice(0, MOST_PROBLEMS).map(told);
  };
}

/** The same error of another copy of zod. */
export function isAsyncError(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Use .parseAsync');
}

function told({ path, found, wanted, unknownKey, said }: Misfit): string {
  if (said !== undefined) return `${pointer(path)}: ${said}`;
  if (unknownKey !== undefined) return `${pointer(path)}: not a known name`;
  return `${pointer(path)}: wanted ${wanted.replace(/^an? (?=(whole )?\w+$)/, '')}, found ${found ?? 'nothing'}`;
}

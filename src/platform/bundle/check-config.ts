import type { z } from 'zod';
import type { ErrorCode } from '../../base/errors.ts';
import type { IssueParams } from '../../domain/bundle-key.ts';
import { isObject } from '../../base/json.ts';
import type { Path } from '../../assembly/resolve.ts';
import { misfits, quote } from '../../adapters/schema/wording.ts';
import type { Declared } from './declare.ts';
import { didYouMean, oneOf, type Problems } from './problems.ts';

export interface ConfigCheck extends Pick<Declared, 'place' | 'written'> {
  readonly problems: Problems;
  readonly code: ErrorCode;
  /** Whose settings they are. */
  readonly what: string;
  /** Where they stand, or would. */
  readonly path: Path;
  /** They are not in the file: every problem stands at `path` itself. */
  readonly isAbsent?: boolean;
  readonly hint?: string;
}

/** Whether settings fit the schema of whoever reads them. What does not is added to `problems`. */
export function checkConfig(
  config: unknown,
  schema: z.ZodType,
  { problems, code, what, path, isAbsent = false, hint: said, place, written }: ConfigCheck,
): boolean {
  const parsed = schema.safeParse(config, { reportInput: true });
  if (parsed.success) return true;
  for (const misfit of misfits(parsed.error.issues)) {
    const at = isAbsent ? path : [...path, ...(misfit.path as Path)]; // JSON has no symbols for keys
    if (misfit.unknownKey !== undefined) {
      const keys = keysOf(schema, misfit.path.slice(0, -1));
      const hint = didYouMean(misfit.unknownKey, keys);
      const wanted = hint === undefined && keys.length > 0 ? oneOf(keys) : undefined;
      problems.add(code, { place: place(at), found: `a key that ${what} does not read`, wanted, hint });
    } else {
      const secret = written(at);
      const params = (misfit.params ?? {}) as IssueParams; // only our own refinements have any
      const found =
        params.found ??
        (secret === undefined ? misfit.found : quote(secret)) ??
        `no ${misfit.path.map(String).join('.') || 'configuration'}`;
      problems.add(code, { place: place(at), found, wanted: params.wanted ?? misfit.wanted, hint: said });
    }
  }
  return false;
}

/** The keys of the object at a path of a schema; none where that is not one object. */
function keysOf(schema: z.ZodType | undefined, at: readonly PropertyKey[]): readonly string[] {
  let here: unknown = schema;
  for (const part of [...at, undefined]) {
    while (isWrapped(here)) here = here.def.innerType;
    if (part === undefined || !isObject(here)) break;
    here =
      typeof part === 'number' ? here['element'] : isObject(here['shape']) ? here['shape'][String(part)] : undefined;
  }
  return isObject(here) && isObject(here['shape']) ? Object.keys(here['shape']) : [];
}

/** An optional key, or one with a default. */
function isWrapped(schema: unknown): schema is { readonly def: { readonly innerType: unknown } } {
  return isObject(schema) && isObject(schema['def']) && schema['def']['innerType'] !== undefined;
}

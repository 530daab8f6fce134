import { z } from 'zod';

/** The first version that reads a key. */
const FIRST_VERSION = '0.1';

interface KeyMeta {
  /** What applies when no level of the bundle sets the key. */
  readonly default?: string | number | boolean;
  /** The same in words, where it is not one fixed value. */
  readonly otherwise?: string;
  readonly since?: string;
}

/** An optional key of a bundle, with the sentence and the facts that its documentation is made of. */
export function key<S extends z.ZodType>(schema: S, about: string, meta: KeyMeta = {}): z.ZodOptional<S> {
  const { default: fallback, otherwise, since = FIRST_VERSION } = meta;
  return schema.optional().meta({
    description: about,
    since,
    ...(fallback === undefined ? {} : { fallback }),
    ...(otherwise === undefined ? {} : { otherwise }),
  });
}

/** A key that has to be there. */
export function requiredKey<S extends z.ZodType>(schema: S, about: string): S {
  return schema.meta({ description: about, since: FIRST_VERSION });
}

/** What an issue of the schema carries besides its path, for the report. */
export interface IssueParams {
  readonly code?: 'bundle_not_supported' | 'bundle_conflict';
  readonly found?: string;
  readonly wanted?: string;
  readonly hint?: string;
}

/**
 * A key that the design names and this version does not read: refused by name instead of ignored.
 *
 * An empty mapping or list asks for nothing and is let through.
 */
export function later(about: string, hint: string): z.ZodOptional<z.ZodUnknown> {
  return z
    .unknown()
    .superRefine((value, context) => {
      if (isEmpty(value)) return;
      refuse(context, { code: 'bundle_not_supported', found: 'a key that is not supported yet', hint });
    })
    .optional()
    .meta({ description: about, later: true });
}

/** Reports an issue in our own words. */
export function refuse(context: z.core.$RefinementCtx, params: IssueParams, path: readonly PropertyKey[] = []): void {
  context.addIssue({ code: 'custom', params: { ...params }, path: [...path] });
}

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

import { z } from 'zod';
import type { Json } from '../../base/json.ts';

/** What is read from the wire, and nobody may change. */
export type Wire<T extends z.ZodType> = DeepReadonly<z.output<T>>;

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 });

/** Any JSON value. What is read from the wire is JSON before it comes here, so nothing is left to check. */
export const json = z.unknown() as z.ZodType<Json>; // JSON, because JSON.parse made it

/** A whole number as it stands in a query string. */
export function count(least: number, most: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^(0|[1-9]\d{0,14})$/, 'not a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .meta({ override: { type: 'integer', minimum: least, maximum: most } });
}

/** `true` or `false` in a query string. */
export const flag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .meta({ override: { type: 'boolean' } });

import { z } from 'zod';
import type { Json } from '../base/json.ts';

/** Plain JSON, checked only for being JSON: its shape belongs to somebody else. */
export const json: z.ZodType<Json> = z.json(); // zod's JSON type is the same set, mutable

/** How people are shown a text that is more than words: models read it as it is. */
export const TEXT_FORMATS = ['diff', 'terminal'] as const;

/** Whom a part is for, where it is not for everybody: a model never sees what is for people. */
const audience = z.literal('people').optional();

export const textPart = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  /** `diff`: a unified diff. `terminal`: what a program wrote, in lines of one width. */
  format: z.enum(TEXT_FORMATS).optional(),
  audience,
});

/** Bytes by value (base64), by URL, or by reference into the log's bodies. Exactly one of the three is set. */
export const filePart = z.strictObject({
  type: z.literal('file'),
  /** IANA media type, such as `image/png`. */
  mediaType: z.string().min(1),
  name: z.string().optional(),
  data: z.string().optional(),
  url: z.string().optional(),
  ref: z.string().optional(),
  audience,
});

/** What people, tools and models hand each other: text, or a file such as an image. */
export const part = z.discriminatedUnion('type', [textPart, filePart]);

export type TextPart = z.infer<typeof textPart>;
export type FilePart = z.infer<typeof filePart>;
export type Part = z.infer<typeof part>;

/** What a model is shown of what a tool or a person said. */
export function forModels(parts: readonly Part[]): readonly Part[] {
  return parts.some((one) => one.audience !== undefined) ? parts.filter((one) => one.audience === undefined) : parts;
}

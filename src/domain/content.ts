import { z } from 'zod';
import type { Json } from '../base/json.ts';

/** Plain JSON, checked only for being JSON: its shape belongs to somebody else. */
export const json: z.ZodType<Json> = z.json(); // zod's JSON type is the same set, mutable

export const textPart = z.strictObject({ type: z.literal('text'), text: z.string() });

/** Bytes by value (base64), by URL, or by reference into the log's bodies. Exactly one of the three is set. */
export const filePart = z.strictObject({
  type: z.literal('file'),
  /** IANA media type, such as `image/png`. */
  mediaType: z.string().min(1),
  name: z.string().optional(),
  data: z.string().optional(),
  url: z.string().optional(),
  ref: z.string().optional(),
});

/** What people, tools and models hand each other: text, or a file such as an image. */
export const part = z.discriminatedUnion('type', [textPart, filePart]);

export type TextPart = z.infer<typeof textPart>;
export type FilePart = z.infer<typeof filePart>;
export type Part = z.infer<typeof part>;

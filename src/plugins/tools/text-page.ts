import { z } from 'zod';
import { head, utf8Length } from '../../base/text.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ToolContext, ToolReturn } from '../../kernel/running-tool.ts';
import { toolFailure, toolResult } from '../../kernel/tool.ts';

/** What a tool takes that reads long texts page by page. Characters. */
export function pageInput({ standard, most }: { readonly standard: number; readonly most: number }) {
  return {
    offset: z.int().min(0).default(0).describe('Characters to skip: the next_offset of the last reading.'),
    limit: z.int().min(1).max(most).default(standard).describe('Characters to read.'),
  };
}

/** One page of a text, with where the next one begins and whatever else there is to say of it. */
export function textPage(
  text: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  { conversation }: Pick<ToolContext, 'conversation'>,
  about: JsonObject = {},
): ToolReturn {
  if (offset > 0 && offset >= text.length) {
    return toolFailure('past_end', `The text ends at ${text.length}; offset ${offset} is past it.`);
  }
  const page = excerpt(text, offset, limit, conversation.turn?.agent.limits.maxResultBytes ?? Infinity);
  const next = page.start + page.text.length;
  return toolResult({
    value: {
      ...about,
      offset: page.start,
      next_offset: next < text.length ? next : null,
      length: text.length,
    },
    ...(page.text !== '' && { content: [{ type: 'text', text: page.text }] }),
  });
}

/** At most `limit` characters and `bytes` of UTF-8 from `offset`; whole characters only, and at least one. */
export function excerpt(
  text: string,
  offset: number,
  limit: number,
  bytes: number,
): { readonly start: number; readonly text: string } {
  const start = splitsPair(text, offset) ? offset - 1 : offset;
  let end = Math.min(text.length, start + limit);
  if (splitsPair(text, end)) end = end - 1 > start ? end - 1 : end + 1;
  const slice = text.slice(start, end);
  return { start, text: utf8Length(slice) > bytes ? head(slice, bytes) : slice };
}

function splitsPair(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

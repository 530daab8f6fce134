import { canonicalJson, type Json } from '../base/json.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import { head, tail, utf8Length } from '../base/text.ts';
import type { Part } from '../domain/content.ts';
import type { Observation } from '../domain/tool.ts';

/**
 * The one size policy for every result: what is larger than `most` bytes is shown as its head and its tail, and the whole
 * body is stored by reference, where the model can read on.
 */
export function fit(
  observation: Observation,
  most: number,
  store: (body: string) => MaybePromise<string>,
): MaybePromise<Observation> {
  const message = observation.error?.message;
  if (message !== undefined && message.length > most / 4 && utf8Length(message) > most) {
    return {
      ...observation,
      error: { code: observation.error?.code ?? 'tool_failed', message: shorten(message, most) },
    };
  }
  if (observation.value !== undefined && roughBytes(observation.value, most) > most) {
    const body = typeof observation.value === 'string' ? observation.value : canonicalJson(observation.value);
    // A character is at most three bytes, so most results need no count.
    if (body.length * 3 <= most || utf8Length(body) <= most) return fitParts(observation, most, store);
    const size = utf8Length(body);
    return then(store(body), (ref) => ({ ...without(observation), value: shorten(body, most), size, ref }));
  }
  return fitParts(observation, most, store);
}

/**
 * At least as many bytes as the JSON of a value takes, or as soon as it is clear, more than `most`: nearly every result is
 * so small that its text need not be made to know it.
 */
function roughBytes(value: Json, most: number): number {
  if (typeof value === 'string') return value.length * 6 + 2; // as if all had to be escaped
  if (typeof value !== 'object' || value === null) return 25;
  let bytes = 2;
  for (const [key, item] of Object.entries<Json>(value)) {
    bytes += key.length * 6 + 4 + roughBytes(item, most - bytes); // an array has its indices for keys
    if (bytes > most) break;
  }
  return bytes;
}

function fitParts(
  observation: Observation,
  most: number,
  store: (body: string) => MaybePromise<string>,
): MaybePromise<Observation> {
  if (observation.content === undefined) return observation;
  const small = fitFiles(observation.content, store);
  return then(small, (content) =>
    fitTexts(content === observation.content ? observation : { ...observation, content: [...content] }, most, store),
  );
}

/** Characters of base64 that the files of one result may have in the prompt: what providers take of a picture. */
const MOST_FILES = 6_000_000;

/** Files beyond that are kept by reference, and named. */
function fitFiles(
  content: readonly Part[],
  store: (body: string) => MaybePromise<string>,
): MaybePromise<readonly Part[]> {
  let room = MOST_FILES;
  let parts: MaybePromise<readonly Part[]> = content;
  for (const [index, part] of content.entries()) {
    if (part.type === 'text' || part.data === undefined) continue;
    room -= part.data.length;
    if (room >= 0) continue;
    room += part.data.length;
    const { data, ...named } = part;
    parts = then(parts, (known) =>
      then(store(data), (ref) => known.map((one, at): Part => (at === index ? { ...named, ref } : one))),
    );
  }
  return parts;
}

function fitTexts(
  observation: Observation,
  most: number,
  store: (body: string) => MaybePromise<string>,
): MaybePromise<Observation> {
  const { content } = observation;
  if (content === undefined) return observation;
  // What is for people alone costs no prompt; it is only kept from filling the log.
  const forPeople = content.filter((part) => part.audience !== undefined).map((part) => shortened(part, most));
  const own = content.filter((part) => part.audience === undefined);
  const kept = forPeople.length === 0 ? observation : { ...observation, content: [...own, ...forPeople] };
  const size = own.reduce((sum, part) => sum + partSize(part), 0);
  if (size <= most) return kept;
  const texts = own.filter((part) => part.type === 'text');
  const text = texts.map((part) => part.text).join('\n');
  const files = own.filter((part) => part.type === 'file');
  if (text.length * 3 <= most || utf8Length(text) <= most) return kept; // it is the files that are large, and they are not text
  const format = texts.every((part) => part.format === texts[0]?.format) ? texts[0]?.format : undefined;
  const shown: Part = { type: 'text', text: shorten(text, most), ...(format !== undefined && { format }) };
  return then(store(canonicalJson(own as Json)), (ref) => ({
    ...observation,
    content: [shown, ...files, ...forPeople],
    size,
    ref,
  }));
}

function shortened(part: Part, most: number): Part {
  return part.type === 'text' && utf8Length(part.text) > most ? { ...part, text: shorten(part.text, most) } : part;
}

function shorten(text: string, most: number): string {
  const marker = `\n[… ${utf8Length(text)} bytes in all; the middle is left out …]\n`;
  const room = Math.max(0, most - utf8Length(marker));
  return head(text, Math.ceil(room / 2)) + marker + tail(text, Math.floor(room / 2));
}

function partSize(part: Part): number {
  return part.type === 'text' ? utf8Length(part.text) : (part.data?.length ?? 0);
}

function without({ value: _, ...rest }: Observation): Observation {
  return rest;
}

function then<T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? value.then(use) : use(value);
}

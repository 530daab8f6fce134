import { TreadleError } from './errors.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Levels of nesting that are carried. Deeper values overflow the stack of whoever walks them, here or in a library. */
const DEEPEST = 200;

/** Keys that could reach a prototype when a careless reader copies the object. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Strict JSON (RFC 8259) of untrusted text.
 *
 * Throws `json_invalid` with `place` when the text is not JSON. Duplicate keys: the last wins, as in JavaScript.
 */
export function parseJson(text: string, place: string): Json {
  try {
    return JSON.parse(text) as Json; // JSON.parse yields exactly these shapes
  } catch (cause) {
    throw new TreadleError('json_invalid', {
      place,
      found: preview(text),
      wanted: 'valid JSON',
      hint: cause instanceof Error ? oneLine(cause.message) : 'check the text',
      cause,
    });
  }
}

/** The same, with the failure as a value: for text that is expected to be wrong now and then, such as a model's. */
export function tryParseJson(
  text: string,
): { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string } {
  try {
    return { ok: true, value: JSON.parse(text) as Json }; // as above
  } catch (cause) {
    return { ok: false, problem: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** True when a value is nested deeper than anything here carries. Walks without recursion. */
export function isTooDeep(value: Json): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values<Json>(one) : []));
  }
  return false;
}

/** The same value with every text in it changed. Keys stay as they are. */
export function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => mapStrings(item, change));
  return Object.fromEntries(Object.entries<Json>(value).map(([key, item]) => [key, mapStrings(item, change)]));
}

/** JSON with every object's keys in code-unit order and no spaces: same value, same bytes, in any process. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    let text = '';
    for (const item of value as readonly Json[]) text += (text === '' ? '' : ',') + canonicalJson(item);
    return `[${text}]`;
  }
  const object = value as JsonObject; // neither primitive nor array
  let text = '';
  for (const key of Object.keys(object).sort()) {
    const item = object[key];
    if (item === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
}

/** The path (`/a/0/b`) of the first key that names a prototype, or undefined when the value is clean. */
export function forbiddenKey(value: Json, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries()) {
      const found = forbiddenKey(item, `${path}/${index}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    if (FORBIDDEN_KEYS.has(key)) return `${path}/${key}`;
    const found = forbiddenKey(item, `${path}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Any value as plain JSON, without ever throwing.
 *
 * Cycles, functions, symbols and getters that throw become a short note in place; bigint becomes its digits; a lone
 * surrogate becomes U+FFFD, so that the text can be encoded; NaN and infinities become null, as in JSON.stringify.
 */
export function toJson(value: unknown): Json {
  return convert(value, new Set());
}

const PLAIN_PROPERTY = { enumerable: true, writable: true, configurable: true };

function convert(value: unknown, above: Set<object>): Json {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : value.toWellFormed();
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      return value;
    case 'bigint':
      return value.toString();
    case 'undefined':
      return null;
    case 'function':
    case 'symbol':
      return `[${typeof value}]`;
    case 'object':
      break;
  }
  if (value === null) return null;
  if (above.has(value)) return '[circular]';
  if (above.size >= DEEPEST) return '[too deep]';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  above.add(value);
  try {
    if (Array.isArray(value)) return value.map((item) => convert(item, above));
    if (value instanceof Map) return convert(Object.fromEntries(value), above);
    if (value instanceof Set) return convert([...value], above);
    if (value instanceof Error) return { name: value.name, message: value.message };
    const object: Record<string, Json> = {};
    for (const key of Object.keys(value)) {
      const item: unknown = Reflect.get(value, key);
      if (item === undefined) continue;
      const json = convert(item, above);
      // A plain assignment to `__proto__` would change the prototype instead of adding the key.
      if (key === '__proto__') Object.defineProperty(object, key, { value: json, ...PLAIN_PROPERTY });
      else object[key] = json;
    }
    return object;
  } catch {
    return '[unreadable]';
  } finally {
    above.delete(value);
  }
}

/** Text on one line: its white space folded, and control characters made spaces. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}

function preview(whole: string): string {
  const text = oneLine(whole.slice(0, 1000));
  return text.length <= 80 ? text : `${text.slice(0, 77).toWellFormed()}...`;
}

import { hash } from 'node:crypto';
import { canonicalJson, type Json } from './json.ts';

/** SHA-256 of UTF-8 text, 64 lower-case hex digits. */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/** SHA-256 of a value's canonical JSON: same value, same digest, whatever the order of its keys. */
export function digest(value: Json): string {
  return sha256(canonicalJson(value));
}

/** 16 hex digits of SHA-256: enough to tell two prompt sections apart, too few to bind a permission to. */
export function shortDigest(text: string): string {
  return sha256(text).slice(0, 16);
}

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { sha256 } from '../base/digest.ts';

const KEY = /^sk-([0-9a-f]{16})-([\w-]{43})$/;

export interface NewKey {
  /** Shown once and kept nowhere. */
  readonly key: string;
  readonly id: string;
  readonly hash: string;
}

/** A key that nobody can guess: a public half to find it by, and 256 random bits. */
export function newApiKey(): NewKey {
  const id = randomBytes(8).toString('hex');
  const key = `sk-${id}-${randomBytes(32).toString('base64url')}`;
  return { key, id, hash: sha256(key) };
}

/** The public half of what looks like a key of ours. */
export function apiKeyId(token: string): string | undefined {
  return KEY.exec(token)?.[1];
}

const NOBODY = '0'.repeat(64);

/** Whether the token is the key with this hash. Takes as long for a key that does not exist as for a wrong one. */
export function isApiKey(token: string, hash: string | undefined): boolean {
  const same = timingSafeEqual(Buffer.from(sha256(token)), Buffer.from(hash ?? NOBODY));
  return same && hash !== undefined;
}

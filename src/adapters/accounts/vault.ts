import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { canonicalJson, tryParseJson, type Json } from '../../base/json.ts';

/** Seals values so that who has the store does not have them. */
export interface Vault {
  /** Another text each time. `bound`: what it belongs to; it opens nowhere else. */
  seal(value: Json, bound: string): string;
  /** Undefined for what was altered, belongs to something else, or was sealed with a key that is not here. */
  open(text: string, bound: string): Json | undefined;
}

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const IV_BYTES = 12;

/** AES-256-GCM. The first secret seals; the others, which were first once, still open. */
export function createVault(secrets: readonly string[]): Vault {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'treadle accounts', 32)));
  const [first] = keys;
  if (first === undefined) throw new RangeError('a vault needs a secret');
  return {
    seal(value, bound) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, first, iv);
      cipher.setAAD(Buffer.from(bound));
      const data = Buffer.concat([cipher.update(canonicalJson(value), 'utf8'), cipher.final()]);
      return [VERSION, ...[iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url'))].join('.');
    },
    open(text, bound) {
      const [version, ...parts] = text.split('.');
      const [iv, tag, data] = parts.map((part) => Buffer.from(part, 'base64url'));
      if (version !== VERSION || iv?.length !== IV_BYTES || tag?.length !== 16 || data === undefined) return undefined;
      for (const key of keys) {
        try {
          const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: 16 });
          decipher.setAAD(Buffer.from(bound));
          decipher.setAuthTag(tag);
          const parsed = tryParseJson(Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8'));
          if (parsed.ok) return parsed.value;
        } catch {
          // Not this key, or not what was sealed.
        }
      }
      return undefined;
    },
  };
}

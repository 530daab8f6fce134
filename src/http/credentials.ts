import type { Clock } from '../base/clock.ts';
import { SCOPES, type KeyStore, type Scope } from '../kernel/stores.ts';
import type { Caller } from '../platform/runs/caller.ts';
import { apiKeyId, isApiKey } from './api-key.ts';
import type { TokenReader } from './oidc.ts';
import { Refusal } from './refusal.ts';

export interface CredentialsOptions {
  readonly keys: KeyStore;
  readonly clock: Clock;
  readonly tokens?: TokenReader | undefined;
}

export interface Credentials {
  /** Who sends this `Authorization`. Throws `invalid_token`. */
  callerOf(authorization: string | undefined, options?: { readonly onlyKeys?: boolean | undefined }): Promise<Caller>;
  /** True while the server knows nobody: no key was ever made and no issuer is trusted. */
  isOpen(): Promise<boolean>;
}

/** The one user of a server without keys, who sits at its machine. */
export const LOCAL: Caller = { userId: 'local', tenant: 'local', scopes: new Set<Scope>(SCOPES), kind: 'user' };

/** How precise `lastUsedAt` is: a write for each request would cost more than it tells. */
const USED_EVERY_MS = 60_000;

export function createCredentials({ keys, clock, tokens }: CredentialsOptions): Credentials {
  async function byKey(token: string, id: string | undefined): Promise<Caller> {
    const key = id === undefined ? undefined : await keys.find(id);
    if (!isApiKey(token, key?.hash) || key === undefined) throw new Refusal('invalid_token', 'The key is not known.');
    const now = clock.now();
    if (key.revokedAt !== undefined) throw new Refusal('invalid_token', 'The key was revoked.');
    if (key.expiresAt !== undefined && key.expiresAt <= now)
      throw new Refusal('invalid_token', 'The key is out of date.');
    if (key.lastUsedAt === undefined || now - key.lastUsedAt >= USED_EVERY_MS) await keys.used(key.id, now);
    const { userId, tenant, kind } = key;
    return { userId, tenant, kind, scopes: new Set(key.scopes), keyId: key.id };
  }

  const isOpen = async (): Promise<boolean> => tokens === undefined && !(await keys.any());

  return {
    isOpen,
    async callerOf(authorization, { onlyKeys = false } = {}) {
      if (authorization === undefined) {
        if (await isOpen()) return LOCAL;
        throw new Refusal('invalid_token', 'Send `Authorization: Bearer` and a key.');
      }
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      if (token === undefined)
        throw new Refusal('invalid_token', 'The header is not `Authorization: Bearer` and a key.');
      if (token.startsWith('sk-')) {
        if (await isOpen())
          throw new Refusal(
            'invalid_token',
            'No key was made here yet: leave it out, or make one with `treadle keys create`.',
          );
        return byKey(token, apiKeyId(token));
      }
      if (tokens === undefined || onlyKeys)
        throw new Refusal('invalid_token', 'Only keys that begin with `sk-` count here.');
      return tokens(token);
    },
  };
}

import { asName } from '../../base/text.ts';
import { isoTime, type Clock, type Instant } from '../../base/clock.ts';
import { SCOPES, type ApiKey, type KeyStore, type Scope } from '../../kernel/stores.ts';
import { permit } from '../../platform/runs/caller.ts';
import { newApiKey } from '../api-key.ts';
import type { Credentials } from '../credentials.ts';
import type { Handlers } from '../endpoint.ts';
import { Refusal } from '../refusal.ts';
import type { apiKey, keyRoutes, Wire } from '../wire.ts';

export interface KeyHandlerOptions {
  readonly keys: KeyStore;
  readonly credentials: Pick<Credentials, 'isOpen'>;
  readonly clock: Clock;
}

const USUAL: readonly Scope[] = ['read', 'run', 'approve'];
const DAY_MS = 86_400_000;

/** Keys of the caller's tenant: nobody makes, sees or revokes those of another. */
export function keyHandlers({ keys, credentials, clock }: KeyHandlerOptions): Handlers<typeof keyRoutes> {
  return {
    async readCaller(_, { caller }) {
      permit(caller, 'read');
      const { userId, tenant, scopes, keyId } = caller;
      const held = SCOPES.filter((scope) => scopes.has(scope));
      const isOpen = await credentials.isOpen();
      return { body: { userId, tenant, scopes: held, ...(keyId !== undefined && { keyId }), isOpen } };
    },
    async listKeys(_, { caller }) {
      permit(caller, 'admin');
      const all = await keys.list();
      return { body: { keys: all.filter(({ tenant }) => tenant === caller.tenant).map(told) } };
    },
    async createKey({ body: { name, user, kind = 'user', scopes, expiresInDays } }, { caller }) {
      permit(caller, 'admin');
      if (kind === 'compute' && scopes !== undefined && scopes.length > 0)
        throw new Refusal('invalid_request', 'A key for a sandbox has no scopes.', { field: 'scopes', status: 422 });
      const { key, id, hash } = newApiKey();
      const now = clock.now();
      const entry: ApiKey = {
        ...{ id, hash, name: asName(name), kind, tenant: caller.tenant, userId: user ?? caller.userId, createdAt: now },
        scopes: kind === 'compute' ? [] : SCOPES.filter((scope) => (scopes ?? USUAL).includes(scope)),
        expiresAt: expiresInDays === undefined ? undefined : now + expiresInDays * DAY_MS,
      };
      if (kind === 'user' && entry.scopes.length === 0)
        throw new Refusal('invalid_request', 'A key without any scope opens nothing.', {
          field: 'scopes',
          status: 422,
        });
      await keys.add(entry);
      return { body: { ...told(entry), key } };
    },
    async revokeKey({ params }, { caller }) {
      permit(caller, 'admin');
      const known = await keys.find(params.id);
      if (known?.tenant !== caller.tenant) throw new Refusal('not_found');
      await keys.revoke(params.id, clock.now());
      return undefined;
    },
  };
}

function told({ id, name, kind, scopes, userId, createdAt, ...times }: ApiKey): Wire<typeof apiKey> {
  const { expiresAt, revokedAt, lastUsedAt } = times;
  const time = <K extends string>(key: K, at: Instant | undefined): { readonly [N in K]?: string } =>
    (at === undefined ? {} : { [key]: isoTime(at) }) as { readonly [N in K]?: string }; // the key is K
  return {
    ...{ id, name, kind, scopes, userId, createdAt: isoTime(createdAt) },
    ...time('expiresAt', expiresAt),
    ...time('revokedAt', revokedAt),
    ...time('lastUsedAt', lastUsedAt),
  };
}

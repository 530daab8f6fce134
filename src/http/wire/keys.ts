import { z } from 'zod';
import { SCOPES } from '../../kernel/stores.ts';
import type { RouteTable } from './route.ts';
import { time } from './shape.ts';

const scopes = z.array(z.enum(SCOPES));

export const apiKey = z
  .object({
    id: z.string().meta({ description: 'The public half of the key.' }),
    name: z.string(),
    kind: z.enum(['user', 'compute']),
    scopes,
    userId: z.string(),
    createdAt: time,
    expiresAt: time.optional(),
    revokedAt: time.optional(),
    lastUsedAt: time.optional().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'ApiKey' });

export const createKey = z
  .strictObject({
    name: z.string().trim().min(1).max(100),
    user: z
      .string()
      .regex(/^[\w.@:-]{1,200}$/, '1 to 200 letters, digits and . _ @ : -')
      .optional()
      .meta({ description: 'Whom it stands for; you when absent.' }),
    kind: z.enum(['user', 'compute']).optional().meta({ description: '`compute`: for a sandbox, without scopes.' }),
    scopes: scopes.optional().meta({ description: '`read`, `run` and `approve` when absent.' }),
    expiresInDays: z.int().min(1).max(3_650).optional(),
  })
  .meta({ id: 'CreateKey' });

export const caller = z
  .object({
    userId: z.string(),
    tenant: z.string(),
    scopes: scopes.meta({ description: '`admin` has all the others.' }),
    keyId: z.string().optional().meta({ description: 'The key that the request came with.' }),
    isOpen: z.boolean().meta({ description: 'No key was ever made: this machine is let in without one.' }),
  })
  .meta({ id: 'Caller' });

/** Who asks, and the keys of their tenant. */
export const keyRoutes = {
  readCaller: {
    method: 'GET',
    path: '/me',
    about: 'Who you are here, and what your key may do.',
    scope: 'read',
    status: 200,
    reply: caller,
    refuses: [],
  },
  listKeys: {
    method: 'GET',
    path: '/keys',
    about: 'The keys of your tenant, the newest first, revoked ones too. Never a key itself.',
    scope: 'admin',
    status: 200,
    reply: z.object({ keys: z.array(apiKey) }).meta({ id: 'KeyList' }),
    refuses: [],
  },
  createKey: {
    method: 'POST',
    path: '/keys',
    about:
      'Make a key. The reply is the only place where it ever stands. The first one ends that this machine needs none.',
    scope: 'admin',
    body: createKey,
    status: 201,
    reply: apiKey
      .extend({ key: z.string().meta({ description: 'Shown once, kept as a hash.' }) })
      .meta({ id: 'NewKey' }),
    refuses: [],
  },
  revokeKey: {
    method: 'DELETE',
    path: '/keys/{id}',
    about: 'Make a key useless, at once and for good.',
    scope: 'admin',
    params: z.strictObject({ id: z.string() }),
    status: 204,
    refuses: ['not_found'],
  },
} as const satisfies RouteTable;

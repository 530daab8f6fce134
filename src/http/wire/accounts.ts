import { z } from 'zod';
import type { RouteTable } from './route.ts';
import { time } from './shape.ts';

const provider = z.strictObject({ provider: z.string().meta({ description: 'The account’s id in the bundle.' }) });

export const account = z
  .object({
    provider: z.string(),
    label: z.string(),
    status: z
      .enum(['none', 'connected', 'broken'])
      .meta({ description: '`broken`: it was connected, and has to be connected anew.' }),
    claims: z.array(z.string()).meta({ description: 'The rights that you gave.' }),
    connectedAt: time.optional(),
  })
  .meta({ id: 'Account', description: 'An account of yours elsewhere. No token ever leaves the server.' });

/** The accounts that tools use for their users. */
export const accountRoutes = {
  listAccounts: {
    method: 'GET',
    path: '/accounts',
    about: 'The accounts that you may connect, and those that you have.',
    scope: 'read',
    status: 200,
    reply: z.object({ accounts: z.array(account) }).meta({ id: 'AccountList' }),
    refuses: ['account_unavailable'],
  },
  connectAccount: {
    method: 'POST',
    path: '/accounts/{provider}/connect',
    about:
      'Begin to connect an account: open `authorizationUrl` in the browser that asked. Questions of runs for this account are answered once it is connected.',
    scope: 'run',
    params: provider,
    body: z.strictObject({
      claims: z.array(z.string().min(1).max(300)).max(100).optional().meta({
        description: 'Rights to ask for besides those that are always asked for, and those that you gave before.',
      }),
    }),
    bodyOptional: true,
    status: 200,
    reply: z.object({ authorizationUrl: z.string(), expiresAt: time }).meta({ id: 'SignIn' }),
    refuses: ['account_unknown', 'account_unavailable'],
  },
  endSignIn: {
    method: 'GET',
    path: '/accounts/callback',
    about:
      'Where the authorization server sends the browser back to. It counts for who began: the browser that did, or a request with their key.',
    query: z.record(z.string(), z.string()),
    status: 200,
    contentType: 'text/html',
    refuses: ['sign_in_invalid', 'account_unmet', 'account_unavailable'],
  },
  describeClient: {
    method: 'GET',
    path: '/accounts/client',
    about:
      'Who this server is to the authorization servers of MCP servers: an OAuth client id metadata document, which is its own id. Nobody needs a key to read it.',
    status: 200,
    reply: z
      .object({
        client_id: z.string(),
        client_name: z.string(),
        redirect_uris: z.array(z.string()),
        grant_types: z.array(z.string()),
        response_types: z.array(z.string()),
        token_endpoint_auth_method: z.string(),
      })
      .meta({ id: 'ClientDocument' }),
    refuses: [],
  },
  disconnectAccount: {
    method: 'DELETE',
    path: '/accounts/{provider}',
    about: 'Forget an account, and take its tokens back where it is.',
    scope: 'run',
    params: provider,
    status: 204,
    refuses: ['account_unknown', 'not_found', 'account_unavailable'],
  },
} as const satisfies RouteTable;

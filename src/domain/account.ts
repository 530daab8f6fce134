import { z } from 'zod';
import { key, refuse, requiredKey } from './bundle-key.ts';

const text = z.string().min(1);
const address = z.url({ protocol: /^https?$/ });

/** Where users have accounts that they may connect: `accounts.<provider>`. */
export const accountProvider = z
  .strictObject({
    type: requiredKey(z.literal('oauth2'), 'OAuth 2 with an authorization code and PKCE.'),
    label: key(text, 'What people call it.', { otherwise: 'the id' }),
    issuer: key(address, 'The authorization server: what it can do is asked there.', {
      otherwise: 'the two endpoints have to be said',
    }),
    authorization_endpoint: key(address, 'Where the user is sent.', { otherwise: 'what the issuer says' }),
    token_endpoint: key(address, 'Where tokens are had.', { otherwise: 'what the issuer says' }),
    revocation_endpoint: key(address, 'Where tokens are taken back.', { otherwise: 'what the issuer says' }),
    client_id: requiredKey(text, 'This app as the authorization server knows it.'),
    client_secret: key(text, 'Its secret, best from a variable.', { otherwise: 'none: a public client' }),
    client_auth: key(z.enum(['basic', 'post']), 'How the secret is shown.', { default: 'basic' }),
    scopes: key(z.array(text), 'Rights that are asked for whatever a tool needs. A claim is a scope.'),
    params: key(z.record(z.string(), z.string()), 'Further parameters of the sign-in, such as `access_type: offline`.'),
  })
  .superRefine(({ issuer, authorization_endpoint, token_endpoint }, context) => {
    if (issuer !== undefined || (authorization_endpoint !== undefined && token_endpoint !== undefined)) return;
    refuse(context, {
      code: 'bundle_conflict',
      found: 'neither an issuer nor both endpoints',
      wanted: 'issuer, or authorization_endpoint and token_endpoint',
    });
  })
  .meta({ id: 'account' });
export type AccountProvider = z.infer<typeof accountProvider>;

/** What a provider is called. */
export const providerId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);

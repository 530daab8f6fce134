import {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import type { OAuthSettings } from '../../domain/mcp.ts';

/** Access by the rights of the app itself: nobody signs in. */
export function ownAccess(settings: OAuthSettings): OAuthClientProvider {
  const {
    client_id = '',
    client_secret = '',
    private_key,
    signing_algorithm = 'ES256',
    issuer = '',
    scopes,
  } = settings;
  const common = {
    clientId: client_id,
    clientName: 'Treadle',
    expectedIssuer: issuer,
    ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
  };
  if (private_key === undefined) return new ClientCredentialsProvider({ ...common, clientSecret: client_secret });
  return new PrivateKeyJwtProvider({ ...common, privateKey: private_key, algorithm: signing_algorithm });
}

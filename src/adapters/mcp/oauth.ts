import { ClientCredentialsProvider, type OAuthClientProvider } from '@modelcontextprotocol/client';
import type { OAuthSettings } from '../../domain/mcp.ts';

/** Access by the rights of the app itself: nobody signs in. */
export function ownAccess({ client_id, client_secret, issuer, scopes }: OAuthSettings): OAuthClientProvider {
  return new ClientCredentialsProvider({
    clientId: client_id ?? '',
    clientSecret: client_secret ?? '',
    clientName: 'Treadle',
    expectedIssuer: issuer ?? '',
    ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
  });
}

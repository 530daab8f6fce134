import * as oauth from 'oauth4webapi';
import type { Clock } from '../../base/clock.ts';
import type { AccountProvider } from '../../domain/account.ts';
import { isOnThisMachine, oauthFlow, type OAuthServer, type Registration } from './oauth-flow.ts';

const TIMEOUT_MS = 15_000;

/** The authorization server that a bundle declares, with the client that it declares. */
export function createOAuthServer(provider: AccountProvider, clock: Clock): OAuthServer {
  const { client_id: id, client_secret: secret, client_auth: auth, params, scopes = [] } = provider;
  let asked: Promise<Registration> | undefined;

  function registration(): Promise<Registration> {
    asked ??= discover()
      .then((server) => ({ server, client: { id, secret, auth } }))
      .catch((error: unknown) => {
        asked = undefined; // the next one asks again
        throw error;
      });
    return asked;
  }

  async function discover(): Promise<oauth.AuthorizationServer> {
    const { issuer, authorization_endpoint, token_endpoint, revocation_endpoint } = provider;
    const said = {
      ...(authorization_endpoint === undefined ? {} : { authorization_endpoint }),
      ...(token_endpoint === undefined ? {} : { token_endpoint }),
      ...(revocation_endpoint === undefined ? {} : { revocation_endpoint }),
    };
    if (authorization_endpoint !== undefined && token_endpoint !== undefined) {
      return { issuer: issuer ?? new URL(authorization_endpoint).origin, ...said };
    }
    const at = new URL(issuer ?? '');
    for (const algorithm of ['oauth2', 'oidc'] as const) {
      const response = await oauth.discoveryRequest(at, {
        algorithm,
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out: it is for this machine alone
        [oauth.allowInsecureRequests]: isOnThisMachine(issuer),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.status === 404 && algorithm === 'oauth2') {
        await response.body?.cancel();
        continue;
      }
      return { ...(await oauth.processDiscoveryResponse(at, response)), ...said };
    }
    throw new Error('the authorization server describes itself nowhere');
  }

  return {
    ...oauthFlow({ registrationOf: registration, clock, params }),
    prepare: () => Promise.resolve({ claims: scopes }),
  };
}

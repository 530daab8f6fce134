import * as oauth from 'oauth4webapi';
import type { Clock, Instant } from '../../base/clock.ts';
import type { AccountProvider } from '../../domain/account.ts';

export interface Tokens {
  readonly access: string;
  readonly refresh?: string | undefined;
  readonly claims: readonly string[];
  /** Absent: it does not say. */
  readonly until?: Instant | undefined;
}

export interface SignInRequest {
  readonly redirectUrl: string;
  readonly state: string;
  readonly verifier: string;
  readonly claims: readonly string[];
}

/** The authorization server said no, and will say no again: the user has to connect anew. */
export class AccountRefused extends Error {
  override readonly name = 'AccountRefused';
}

/** One authorization server, as this app uses it. */
export interface OAuthServer {
  /** Where the user has to go. */
  signIn(request: SignInRequest): Promise<URL>;
  /** Takes what the user came back with. Rejects with AccountRefused where nothing came of it. */
  finish(
    callback: URLSearchParams,
    request: Omit<SignInRequest, 'claims'> & { readonly claims: readonly string[] },
  ): Promise<Tokens>;
  refresh(tokens: Tokens): Promise<Tokens>;
  /** Takes tokens back there, where that can be done. */
  revoke(tokens: Tokens): Promise<void>;
}

const TIMEOUT_MS = 15_000;

export function newVerifier(): string {
  return oauth.generateRandomCodeVerifier();
}

export function createOAuthServer(provider: AccountProvider, clock: Clock): OAuthServer {
  const client: oauth.Client = { client_id: provider.client_id };
  const secret = provider.client_secret;
  const clientAuth =
    secret === undefined
      ? oauth.None()
      : provider.client_auth === 'post'
        ? oauth.ClientSecretPost(secret)
        : oauth.ClientSecretBasic(secret);
  let asked: Promise<oauth.AuthorizationServer> | undefined;

  /** Plain http is for a server on this machine. */
  function options(address: string | undefined) {
    const url = address === undefined ? null : URL.parse(address);
    const isHere = url !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out: it is for this machine alone
    return { [oauth.allowInsecureRequests]: isHere, signal: AbortSignal.timeout(TIMEOUT_MS) };
  }

  function server(): Promise<oauth.AuthorizationServer> {
    asked ??= discover().catch((error: unknown) => {
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
      const response = await oauth.discoveryRequest(at, { algorithm, ...options(issuer) });
      if (response.status === 404 && algorithm === 'oauth2') {
        await response.body?.cancel();
        continue;
      }
      return { ...(await oauth.processDiscoveryResponse(at, response)), ...said };
    }
    throw new Error('the authorization server describes itself nowhere');
  }

  function tokensOf(reply: oauth.TokenEndpointResponse, asked: readonly string[], before?: Tokens): Tokens {
    if (reply.token_type !== 'bearer') throw new Error(`a token of type ${reply.token_type} cannot be used`);
    const { access_token: access, refresh_token: refresh = before?.refresh, expires_in: seconds, scope } = reply;
    // A server that gives what was asked for need not say so.
    const claims = scope === undefined ? (before?.claims ?? asked) : scope.split(/[ ,]+/).filter(Boolean);
    return {
      access,
      claims: [...new Set(claims)].sort(),
      ...(refresh === undefined ? {} : { refresh }),
      ...(seconds === undefined ? {} : { until: clock.now() + seconds * 1_000 }),
    };
  }

  return {
    async signIn({ redirectUrl, state, verifier, claims }) {
      const { authorization_endpoint } = await server();
      if (authorization_endpoint === undefined) throw new Error('the authorization server has no place to sign in');
      const url = new URL(authorization_endpoint);
      for (const [name, value] of Object.entries(provider.params ?? {})) url.searchParams.set(name, value);
      const own = {
        response_type: 'code',
        client_id: provider.client_id,
        redirect_uri: redirectUrl,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(claims.length === 0 ? {} : { scope: claims.join(' ') }),
      };
      for (const [name, value] of Object.entries(own)) url.searchParams.set(name, value);
      return url;
    },
    async finish(callback, { redirectUrl, state, verifier, claims }) {
      const as = await server();
      const params = asRefusal(() => oauth.validateAuthResponse(as, client, callback, state));
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        clientAuth,
        params,
        redirectUrl,
        verifier,
        options(as.token_endpoint),
      );
      return tokensOf(await refusing(oauth.processAuthorizationCodeResponse(as, client, response)), claims);
    },
    async refresh(tokens) {
      if (tokens.refresh === undefined) throw new AccountRefused('the account cannot be renewed');
      const as = await server();
      const response = await oauth.refreshTokenGrantRequest(
        as,
        client,
        clientAuth,
        tokens.refresh,
        options(as.token_endpoint),
      );
      return tokensOf(await refusing(oauth.processRefreshTokenResponse(as, client, response)), tokens.claims, tokens);
    },
    async revoke({ access, refresh }) {
      const as = await server();
      if (as.revocation_endpoint === undefined) return;
      // With the refresh token goes all that came of it.
      const response = await oauth.revocationRequest(
        as,
        client,
        clientAuth,
        refresh ?? access,
        options(as.revocation_endpoint),
      );
      await oauth.processRevocationResponse(response);
    },
  };
}

function asRefusal<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof oauth.AuthorizationResponseError ? new AccountRefused(error.error) : error;
  }
}

/** What a server refuses for good is told apart from one that is not well. */
async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof oauth.ResponseBodyError && error.status < 500 ? new AccountRefused(error.error) : error;
  }
}

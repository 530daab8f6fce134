import * as oauth from 'oauth4webapi';
import type { Clock, Instant } from '../../base/clock.ts';

/** An authorization server, and who this app is there. JSON: it may be kept with the tokens that came of it. */
export interface Registration {
  readonly server: Pick<
    oauth.AuthorizationServer,
    | 'issuer'
    | 'authorization_endpoint'
    | 'token_endpoint'
    | 'revocation_endpoint'
    | 'authorization_response_iss_parameter_supported'
  >;
  readonly client: {
    readonly id: string;
    readonly secret?: string | undefined;
    /** How the secret is shown. */
    readonly auth?: 'basic' | 'post' | undefined;
  };
  /** What the tokens are for, where the server gives them for several things. */
  readonly resource?: string | undefined;
}

export interface Tokens {
  readonly access: string;
  readonly refresh?: string | undefined;
  readonly claims: readonly string[];
  /** Absent: it does not say. */
  readonly until?: Instant | undefined;
  /** Where they came from, if it was found out: they are shown nowhere else. */
  readonly from?: Registration | undefined;
}

export interface SignInRequest {
  readonly redirectUrl: string;
  readonly state: string;
  readonly verifier: string;
  readonly claims: readonly string[];
  /** Of `prepare`. */
  readonly at?: Registration | undefined;
}

/** The authorization server said no, and will say no again: the user has to connect anew. */
export class AccountRefused extends Error {
  override readonly name = 'AccountRefused';
}

/** One authorization server, as this app uses it. */
export interface OAuthServer {
  /** Finds out where a sign-in happens. `at` is to be kept until it ends; absent where it is declared. */
  prepare(back: SignInPlace): Promise<{ readonly at?: Registration | undefined; readonly claims: readonly string[] }>;
  /** Where the user has to go. */
  signIn(request: SignInRequest): Promise<URL>;
  /** Takes what the user came back with. Rejects with AccountRefused where nothing came of it. */
  finish(callback: URLSearchParams, request: SignInRequest): Promise<Tokens>;
  refresh(tokens: Tokens): Promise<Tokens>;
  /** Takes tokens back there, where that can be done. */
  revoke(tokens: Tokens): Promise<void>;
}

/** Where a sign-in comes back to. */
export interface SignInPlace {
  readonly redirectUrl: string;
  /** Where this app describes itself as a client, if it can be reached there. */
  readonly clientDocument?: string | undefined;
}

export interface FlowOptions {
  /** Where the tokens, or the sign-in, come from. */
  readonly registrationOf: (at: Registration | undefined) => Promise<Registration>;
  readonly clock: Clock;
  /** Further parameters of the sign-in. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** Instead of the one of the platform. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

const TIMEOUT_MS = 15_000;

export function newVerifier(): string {
  return oauth.generateRandomCodeVerifier();
}

/** An authorization code with PKCE, from the first redirect to the last renewal. */
export function oauthFlow({ registrationOf, clock, params = {}, fetch }: FlowOptions): Omit<OAuthServer, 'prepare'> {
  /** Plain http is for a server on this machine. */
  function options(address: string | undefined, resource?: string) {
    const additionalParameters = resource === undefined ? {} : { additionalParameters: { resource } };
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out: it is for this machine alone
    const insecure = { [oauth.allowInsecureRequests]: isOnThisMachine(address) };
    const custom = fetch === undefined ? {} : { [oauth.customFetch]: fetch };
    return { ...insecure, ...custom, ...additionalParameters, signal: AbortSignal.timeout(TIMEOUT_MS) };
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
    async signIn({ redirectUrl, state, verifier, claims, at }) {
      const { server, client, resource } = await registrationOf(at);
      if (server.authorization_endpoint === undefined)
        throw new Error('the authorization server has no place to sign in');
      const url = new URL(server.authorization_endpoint);
      const own = {
        ...params,
        response_type: 'code',
        client_id: client.id,
        redirect_uri: redirectUrl,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(resource === undefined ? {} : { resource }),
        ...(claims.length === 0 ? {} : { scope: claims.join(' ') }),
        // Without it some servers give nothing that can be renewed.
        ...(at !== undefined && claims.includes('offline_access') ? { prompt: 'consent' } : {}),
      };
      for (const [name, value] of Object.entries(own)) url.searchParams.set(name, value);
      return url;
    },
    async finish(callback, { redirectUrl, state, verifier, claims, at }) {
      const { server, client, resource } = await registrationOf(at);
      const known = { client_id: client.id };
      const params = asRefusal(() => oauth.validateAuthResponse(server, known, callback, state));
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        known,
        clientAuth(client),
        params,
        redirectUrl,
        verifier,
        options(server.token_endpoint, resource),
      );
      const tokens = tokensOf(await refusing(oauth.processAuthorizationCodeResponse(server, known, response)), claims);
      return at === undefined ? tokens : { ...tokens, from: at };
    },
    async refresh(tokens) {
      if (tokens.refresh === undefined) throw new AccountRefused('the account cannot be renewed');
      const { server, client, resource } = await registrationOf(tokens.from);
      const known = { client_id: client.id };
      const response = await oauth.refreshTokenGrantRequest(
        server,
        known,
        clientAuth(client),
        tokens.refresh,
        options(server.token_endpoint, resource),
      );
      const reply = await refusing(oauth.processRefreshTokenResponse(server, known, response));
      const next = tokensOf(reply, tokens.claims, tokens);
      return tokens.from === undefined ? next : { ...next, from: tokens.from };
    },
    async revoke({ access, refresh, from }) {
      const { server, client } = await registrationOf(from);
      if (server.revocation_endpoint === undefined) return;
      // With the refresh token goes all that came of it.
      const response = await oauth.revocationRequest(
        server,
        { client_id: client.id },
        clientAuth(client),
        refresh ?? access,
        options(server.revocation_endpoint),
      );
      await oauth.processRevocationResponse(response);
    },
  };
}

export function isOnThisMachine(address: string | undefined): boolean {
  const url = address === undefined ? null : URL.parse(address);
  return url !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
}

function clientAuth({ id, secret, auth }: Registration['client']): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  if (auth === 'post') return oauth.ClientSecretPost(secret);
  return (_server, _client, _body, headers) => {
    // The library also escapes what need not be, such as a hyphen, and not every server takes that back.
    const shown = [id, secret].map(encodeURIComponent).join(':');
    headers.set('authorization', `Basic ${Buffer.from(shown).toString('base64')}`);
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

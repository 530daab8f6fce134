import {
  auth,
  ClientCredentialsProvider,
  extractWWWAuthenticateParams,
  UnauthorizedError,
  type AuthProvider,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { MaybePromise } from '../../base/promise.ts';
import type { OAuthSettings } from '../../domain/mcp.ts';

/** What is kept of one person's access to one server. JSON, secret, and worth encrypting. */
export interface KeptAccess {
  readonly tokens?: StoredOAuthTokens;
  readonly client?: StoredOAuthClientInformation;
  /** Of a sign-in that is under way. */
  readonly verifier?: string;
  readonly state?: string;
  /** Where it is under way: whoever takes the person back must not look anew and find another place. */
  readonly discovery?: OAuthDiscoveryState;
}

/** Where access is kept. Every change has the generation that it was made from, so that none is lost to another. */
export interface AccessStore {
  read(): MaybePromise<{ readonly access: KeptAccess; readonly generation: number } | undefined>;
  /** Replaces what is kept if its generation is still `expected`, 0 while nothing is. False: somebody else was faster. */
  write(access: KeptAccess, expected: number): MaybePromise<boolean>;
}

export interface SignInOptions {
  readonly serverUrl: string;
  readonly settings: OAuthSettings;
  readonly store: AccessStore;
  /** Where the authorization server sends the person back to. */
  readonly redirectUrl: string;
  /** Chance, for the `state` of a sign-in. */
  readonly newState: () => string;
}

/** A person's access to one server, for its transport and for whoever lets people sign in. */
export interface SignIn {
  readonly provider: AuthProvider;
  /** Where the person has to go, once a server has refused us. */
  readonly pending: () => URL | undefined;
  /** Takes what the authorization server sent the person back with. Throws for a `state` that nobody began with. */
  finish(callback: URLSearchParams): Promise<void>;
}

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

/**
 * Access by the rights of a person who signs in once.
 *
 * However many calls are refused at a time, tokens are refreshed once; and tokens that turned out to be of no use are
 * removed only if they are still the ones that were used: what another process has put there meanwhile stays.
 */
export function signIn({ serverUrl, settings, store, redirectUrl, newState }: SignInOptions): SignIn {
  let pending: URL | undefined;
  let refreshing: Promise<void> | undefined;
  /** The token that is being renewed. What is kept is another one as soon as somebody else was faster. */
  let renewed: string | undefined;

  async function read(): Promise<KeptAccess> {
    const kept = await store.read();
    return kept?.access ?? {};
  }

  /** Changes what is kept, from what is there. A change that somebody else was faster with is made again from theirs. */
  async function change(to: (access: KeptAccess) => KeptAccess): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const kept = await store.read();
      if (await store.write(to(kept?.access ?? {}), kept?.generation ?? 0)) return;
    }
    throw new Error('what is kept of the access changes all the time');
  }

  function isRenewed({ tokens }: KeptAccess): boolean {
    return tokens !== undefined && tokens.access_token !== renewed;
  }

  const fixed: StoredOAuthClientInformation | undefined =
    settings.client_id === undefined
      ? undefined
      : {
          client_id: settings.client_id,
          ...(settings.client_secret === undefined ? {} : { client_secret: settings.client_secret }),
          ...(settings.issuer === undefined ? {} : { issuer: settings.issuer }),
        };

  const client: OAuthClientProvider = {
    get redirectUrl() {
      return redirectUrl;
    },
    get clientMetadata() {
      return {
        client_name: 'Treadle',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: settings.client_secret === undefined ? 'none' : 'client_secret_basic',
        ...(settings.scopes === undefined ? {} : { scope: settings.scopes.join(' ') }),
      };
    },
    async state() {
      const state = newState();
      await change((access) => ({ ...access, state }));
      return state;
    },
    clientInformation: async () => fixed ?? (await read()).client,
    ...(fixed === undefined
      ? {
          saveClientInformation: (saved: StoredOAuthClientInformation) =>
            change((access) => ({ ...access, client: saved })),
        }
      : {}),
    async tokens() {
      const { tokens } = await read();
      renewed = tokens?.access_token;
      return tokens;
    },
    // Where somebody else was faster, theirs count: ours came of the same sign-in.
    saveTokens: (tokens) => change((access) => (isRenewed(access) ? access : { ...withoutSignIn(access), tokens })),
    redirectToAuthorization(url) {
      pending = url;
    },
    saveCodeVerifier: (verifier) => change((access) => ({ ...access, verifier })),
    async codeVerifier() {
      const { verifier } = await read();
      if (verifier === undefined) throw new Error('nobody has begun to sign in');
      return verifier;
    },
    saveDiscoveryState: (discovery) => change((access) => ({ ...access, discovery })),
    async discoveryState() {
      const { discovery, verifier } = await read();
      return verifier === undefined ? undefined : discovery;
    },
    invalidateCredentials: (scope) =>
      change((access) => {
        const { tokens, client: known, verifier, state, discovery } = access;
        const goes = (part: typeof scope): boolean => scope === 'all' || scope === part;
        return {
          // Only what was refused, and not what somebody else has put there since.
          ...(tokens === undefined || (goes('tokens') && !isRenewed(access)) ? {} : { tokens }),
          ...(known === undefined || goes('client') ? {} : { client: known }),
          ...(verifier === undefined || goes('verifier') ? {} : { verifier }),
          ...(state === undefined || goes('verifier') ? {} : { state }),
          ...(discovery === undefined || goes('discovery') ? {} : { discovery }),
        };
      }),
  };

  return {
    provider: {
      token: async () => (await read()).tokens?.access_token,
      async onUnauthorized({ response, fetchFn }) {
        refreshing ??= authorize(response, fetchFn).finally(() => {
          refreshing = undefined;
        });
        await refreshing;
      },
    },
    pending: () => pending,
    async finish(callback) {
      const { state } = await read();
      if (state === undefined || callback.get('state') !== state) throw new Error('this sign-in was not begun here');
      const refused = callback.get('error');
      if (refused !== null) throw new Error('the authorization server refused');
      const authorizationCode = callback.get('code') ?? '';
      await client.tokens(); // those that there are give way to what comes
      const iss = callback.get('iss');
      await auth(client, { serverUrl, authorizationCode, ...(iss === null ? {} : { iss }) });
      pending = undefined;
    },
  };

  async function authorize(response: Response, fetchFn: FetchLike): Promise<void> {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    const wanted = settings.scopes?.join(' ') ?? scope;
    const result = await auth(client, {
      serverUrl,
      fetchFn,
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      ...(wanted === undefined ? {} : { scope: wanted }),
    });
    if (result !== 'AUTHORIZED') throw new UnauthorizedError('a person has to sign in first');
  }
}

const ROUNDS = 5;

function withoutSignIn({ verifier: _, state: __, discovery: ___, ...access }: KeptAccess): KeptAccess {
  return access;
}

/** Keeps access while the process runs. */
export function createMemoryAccess(): AccessStore {
  let kept: { readonly access: KeptAccess; readonly generation: number } | undefined;
  return {
    read: () => kept,
    write(access, expected) {
      if ((kept?.generation ?? 0) !== expected) return false;
      kept = { access, generation: expected + 1 };
      return true;
    },
  };
}

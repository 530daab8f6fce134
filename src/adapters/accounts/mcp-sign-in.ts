import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  registerClient,
  resourceUrlFromServerUrl,
  type OAuthServerInfo,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import type { HttpService, OAuthSettings } from '../../domain/mcp.ts';
import { clientMetadata } from './client-metadata.ts';
import { libraryFetch } from './library-fetch.ts';
import {
  AccountRefused,
  isOnThisMachine,
  oauthFlow,
  type OAuthServer,
  type Registration,
  type SignInPlace,
} from './oauth-flow.ts';

export interface McpSignInOptions {
  readonly service: Pick<HttpService, 'url' | 'headers'>;
  readonly settings: OAuthSettings;
  readonly clock: Clock;
}

const LIMITS = { ms: 15_000, mostBytes: 1024 * 1024 };

/**
 * Signing in at an MCP server, which says itself who lets people in.
 *
 * What a server says decides where tokens are had, and never where they are shown: those that came of one authorization
 * server are renewed there and nowhere else, with the client that they were given to, whatever the server says tomorrow.
 */
export function createMcpSignIn({ service, settings, clock }: McpSignInOptions): OAuthServer {
  const { hostname } = new URL(service.url);
  const named = settings.issuer === undefined ? [] : [new URL(settings.issuer).hostname];
  const fetch = libraryFetch({ ...LIMITS, allowHosts: [hostname, ...named] });
  const registered = new Map<string, Registration['client']>();

  /** As the specification has it for a client that wants to know: it asks without a token, and is told where to get one. */
  async function challenge(): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
    const request = { jsonrpc: '2.0', id: 0, method: 'ping' };
    const response = await fetch(service.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...service.headers,
      },
      body: JSON.stringify(request),
    });
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  }

  async function clientOf(
    info: OAuthServerInfo,
    server: Registration['server'],
    { redirectUrl, clientDocument }: SignInPlace,
    scope: string | undefined,
  ): Promise<Registration['client']> {
    const methods = info.authorizationServerMetadata?.token_endpoint_auth_methods_supported ?? [];
    if (settings.client_id !== undefined) {
      const { client_id: id, client_secret: secret } = settings;
      return { id, secret, auth: wayToShow(methods) };
    }
    const isDocumentWanted = info.authorizationServerMetadata?.client_id_metadata_document_supported === true;
    if (isDocumentWanted && clientDocument !== undefined) return { id: clientDocument };
    const key = `${server.issuer}\n${redirectUrl}`;
    const known = registered.get(key);
    if (known !== undefined) return known;
    const made = await register(info, redirectUrl, methods, scope);
    registered.set(key, made);
    return made;
  }

  async function register(
    { authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthServerInfo,
    redirectUrl: string,
    methods: readonly string[],
    scope: string | undefined,
  ): Promise<Registration['client']> {
    const isPublic = methods.length === 0 || methods.includes('none');
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- most servers know no newer way
    const made = await registerClient(authorizationServerUrl, {
      ...(metadata === undefined ? {} : { metadata }),
      clientMetadata: {
        ...clientMetadata(redirectUrl),
        token_endpoint_auth_method: isPublic ? 'none' : `client_secret_${wayToShow(methods)}`,
      },
      ...(scope === undefined ? {} : { scope }),
      fetchFn: fetch,
    });
    const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = made;
    return secret === undefined || method === 'none'
      ? { id }
      : {
          id,
          secret,
          auth:
            method === 'client_secret_post' ? 'post' : method === 'client_secret_basic' ? 'basic' : wayToShow(methods),
        };
  }

  const flow = oauthFlow({
    registrationOf(at) {
      if (at === undefined) return Promise.reject(new AccountRefused('nobody knows where this came from'));
      // A secret of the bundle may be another one by now.
      const { client_id: id, client_secret: secret } = settings;
      return Promise.resolve(at.client.id === id ? { ...at, client: { ...at.client, secret } } : at);
    },
    clock,
    fetch,
  });

  return {
    ...flow,
    async prepare(place) {
      const { resourceMetadataUrl, scope } = await challenge();
      const asked = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
      const info = await discoverOAuthServerInfo(service.url, { ...asked, fetchFn: fetch });
      const server = serverOf(info, settings);
      const claims = claimsOf(info, settings, scope);
      const client = await clientOf(info, server, place, claims.length === 0 ? undefined : claims.join(' '));
      const resource = resourceOf(service.url, info);
      return { at: { server, client, ...(resource === undefined ? {} : { resource }) }, claims };
    },
    async finish(callback, request) {
      try {
        return await flow.finish(callback, request);
      } catch (error) {
        // A client that the server has forgotten is registered anew at the next sign-in.
        if (error instanceof AccountRefused && error.message === 'invalid_client') registered.clear();
        throw error;
      }
    },
  };
}

/** Where people are sent, and where tokens are had: over https, or on this machine, and as the bundle says where it does. */
function serverOf(
  { authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthServerInfo,
  { issuer: wanted }: OAuthSettings,
): Registration['server'] {
  const said = metadata ?? endpointsOf(authorizationServerUrl);
  const { issuer, authorization_endpoint, token_endpoint, revocation_endpoint }: Said = said;
  const { authorization_response_iss_parameter_supported: tells, code_challenge_methods_supported: challenges }: Said =
    said;
  if (wanted !== undefined && issuer !== wanted) throw new Error('the server names another issuer than the bundle');
  if (challenges !== undefined && !challenges.includes('S256'))
    throw new Error('the authorization server does not take PKCE with S256');
  for (const address of [authorization_endpoint, token_endpoint, revocation_endpoint]) {
    if (address !== undefined && !isSafe(address))
      throw new Error('the authorization server is not to be had over https');
  }
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    ...(revocation_endpoint === undefined ? {} : { revocation_endpoint }),
    ...(tells === undefined ? {} : { authorization_response_iss_parameter_supported: tells }),
  };
}

/** As far as it is looked at here. */
interface Said {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint?: string | undefined;
  readonly authorization_response_iss_parameter_supported?: boolean | undefined;
  readonly code_challenge_methods_supported?: readonly string[] | undefined;
}

/** Of a server that describes itself nowhere: those of the first specification. */
function endpointsOf(server: string): Said {
  const at = (path: string): string => new URL(path, server).href;
  return { issuer: new URL(server).origin, authorization_endpoint: at('/authorize'), token_endpoint: at('/token') };
}

function isSafe(address: string): boolean {
  const protocol = URL.parse(address)?.protocol;
  return protocol === 'https:' || (protocol === 'http:' && isOnThisMachine(address));
}

/** What the bundle asks for, else what the server wants, else what there is. */
function claimsOf(
  { authorizationServerMetadata, resourceMetadata }: OAuthServerInfo,
  { scopes }: OAuthSettings,
  challenged: string | undefined,
): readonly string[] {
  const wanted = scopes ?? challenged?.split(' ').filter(Boolean) ?? resourceMetadata?.scopes_supported ?? [];
  const isRenewable = authorizationServerMetadata?.scopes_supported?.includes('offline_access') === true;
  return wanted.length > 0 && isRenewable && !wanted.includes('offline_access')
    ? [...wanted, 'offline_access']
    : wanted;
}

/** What the tokens are for. A server cannot ask for those of another one. */
function resourceOf(url: string, { resourceMetadata }: OAuthServerInfo): string | undefined {
  if (resourceMetadata === undefined) return undefined;
  const { resource } = resourceMetadata;
  const isOwn = checkResourceAllowed({
    requestedResource: resourceUrlFromServerUrl(url),
    configuredResource: resource,
  });
  if (!isOwn) throw new Error('the server describes itself as another one');
  return resource;
}

function wayToShow(methods: readonly string[]): 'basic' | 'post' {
  return methods.includes('client_secret_post') && !methods.includes('client_secret_basic') ? 'post' : 'basic';
}

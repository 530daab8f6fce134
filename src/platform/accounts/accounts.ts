import { isoTime, type Clock, type Instant } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, isObject, toJson, type Json } from '../../base/json.ts';
import type { AccountStore } from '../../kernel/choices.ts';
import type { ConnectedAccount } from '../../kernel/running-tool.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { AccountKey, AccountRows } from '../../kernel/stores.ts';
import { createOAuthServer } from '../../adapters/accounts/oauth.ts';
import {
  AccountRefused,
  newVerifier,
  type OAuthServer,
  type Registration,
  type SignInPlace,
  type Tokens,
} from '../../adapters/accounts/oauth-flow.ts';
import { createVault } from '../../adapters/accounts/vault.ts';
import { MCP_CLIENT } from '../../adapters/mcp/client-package.ts';
import { optionalPackage } from '../../adapters/modules/optional-package.ts';
import type { Provider, Providers } from './account-providers.ts';

export interface Owner {
  readonly tenant: string;
  readonly userId: string;
}

/** An account as its user sees it. Never a token. */
export interface AccountView {
  readonly provider: string;
  readonly label: string;
  /** `broken`: it was connected, and has to be connected anew. */
  readonly status: 'none' | 'connected' | 'broken';
  readonly claims: readonly string[];
  readonly connectedAt?: string | undefined;
}

export interface ConnectRequest {
  /** Rights besides those that are always asked for, and those that the account has already. */
  readonly claims?: readonly string[] | undefined;
  /** Where the authorization server sends the user back to. */
  readonly redirectUrl: string;
  /** Where this app describes itself as a client, if that can be read from outside. */
  readonly clientDocument?: string | undefined;
  /** Ties the sign-in to a browser, where it ends without credentials. */
  readonly browser?: string | undefined;
}

/** Users' connected accounts: what tools need of them, and how users connect them. */
export interface Accounts extends AccountStore {
  list(owner: Owner): Promise<readonly AccountView[]>;
  /** Where the user has to go. Throws `account_unknown`, `account_unavailable`. */
  connect(
    owner: Owner,
    provider: string,
    request: ConnectRequest,
  ): Promise<{ readonly url: URL; readonly until: Instant }>;
  /** Who began the sign-in that a `state` belongs to, while it can be ended. */
  beganBy(
    state: string,
  ): { readonly owner: Owner; readonly provider: string; readonly browser: string | undefined } | undefined;
  /** Ends a sign-in. Throws `sign_in_invalid` for one that was not begun, `account_unmet` where the user said no. */
  finish(callback: URLSearchParams): Promise<{ readonly owner: Owner; readonly account: AccountView }>;
  /** Forgets the account here, then takes it back there. False when there is none. Throws `account_unknown`. */
  disconnect(owner: Owner, provider: string): Promise<boolean>;
}

export interface AccountsOptions {
  /** What is declared now: an edited bundle may say something else. */
  readonly providers: () => Providers;
  readonly rows: AccountRows;
  /** The first seals; the others still open. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Kept {
  readonly tokens: Tokens;
  readonly at: Instant;
  /** The server will not renew it. */
  readonly broken?: true;
}

interface SignIn extends Owner {
  readonly provider: string;
  readonly verifier: string;
  readonly redirectUrl: string;
  readonly claims: readonly string[];
  readonly browser?: string | undefined;
  readonly until: Instant;
  readonly at?: Registration | undefined;
}

const SIGN_IN_MS = 10 * 60_000;
/** A token that ends sooner is renewed before it is used. */
const SPARE_MS = 60_000;
const STATE = 'state';

export function createAccounts({ providers, rows, secrets, clock, logger }: AccountsOptions): Accounts {
  const vault = createVault(secrets);
  const servers = new WeakMap<Provider, Promise<OAuthServer>>();
  const refreshing = new Map<string, Promise<Kept>>();

  const declaredAs = (provider: string): Provider | undefined => {
    const all = providers();
    return Object.hasOwn(all, provider) ? all[provider] : undefined;
  };

  /** Throws at once for a provider that nobody declares. */
  const providerOf = (provider: string): Promise<OAuthServer> => {
    const declared = declaredAs(provider);
    if (declared === undefined) {
      const known = Object.keys(providers());
      const wanted = known.length === 0 ? undefined : known.join(', ');
      throw new TreadleError('account_unknown', { found: JSON.stringify(provider), wanted });
    }
    let server = servers.get(declared);
    if (server === undefined) servers.set(declared, (server = serverOf(declared, clock)));
    return server;
  };

  const view = (provider: string, kept: Kept | undefined, isThere: boolean): AccountView => ({
    provider,
    label: declaredAs(provider)?.label ?? provider,
    status: kept === undefined ? (isThere ? 'broken' : 'none') : isUsable(kept) ? 'connected' : 'broken',
    claims: kept?.tokens.claims ?? [],
    ...(kept === undefined ? {} : { connectedAt: isoTime(kept.at) }),
  });

  /** A token that is over and cannot be renewed is of no use. */
  const isUsable = ({ tokens: { until, refresh }, broken }: Kept): boolean =>
    broken !== true && (until === undefined || refresh !== undefined || until > clock.now());

  const opened = (key: AccountKey, sealed: string): Kept | undefined => keptOf(vault.open(sealed, placeOf(key)));

  async function read(key: AccountKey): Promise<{ readonly kept: Kept; readonly revision: number }> {
    const row = await rows.readAccount(key);
    const kept = row === undefined ? undefined : opened(key, row.sealed);
    if (row === undefined || kept === undefined || !isUsable(kept)) throw unmet(key);
    return { kept, revision: row.revision };
  }

  /** One renewal at a time here; of two processes the one that wrote first counts. */
  function renewed(key: AccountKey, refused?: string): Promise<Kept> {
    const place = placeOf(key);
    let running = refreshing.get(place);
    if (running === undefined) {
      running = renew(key, refused).finally(() => refreshing.delete(place));
      refreshing.set(place, running);
    }
    return running;
  }

  async function renew(key: AccountKey, refused: string | undefined): Promise<Kept> {
    const { kept, revision } = await read(key);
    if (!isEnding(kept) && kept.tokens.access !== refused) return kept; // somebody else was here
    let next: Kept;
    try {
      const server = await providerOf(key.provider);
      next = { at: kept.at, tokens: await server.refresh(kept.tokens) };
    } catch (error) {
      if (!(error instanceof AccountRefused)) throw unavailable(key.provider, error);
      const now = await rows.readAccount(key);
      if (now !== undefined && now.revision !== revision) return (await read(key)).kept;
      await rows.writeAccount(key, vault.seal(asJson({ ...kept, broken: true }), placeOf(key)), revision);
      logger.warn('an account has to be connected anew', {
        provider: key.provider,
        user: key.userId,
        why: error.message,
      });
      throw unmet(key);
    }
    const written = await rows.writeAccount(key, vault.seal(asJson(next), placeOf(key)), revision);
    // Removed meanwhile: what was just had is not used, and not kept.
    return written ? next : (await read(key)).kept;
  }

  const isEnding = ({ tokens: { until } }: Kept): boolean => until !== undefined && until - SPARE_MS <= clock.now();

  const signInOf = (state: string): SignIn | undefined => {
    const value = vault.open(state, STATE);
    if (!isObject(value) || typeof value['until'] !== 'number' || value['until'] <= clock.now()) return undefined;
    return value as unknown as SignIn; // nobody else can seal one
  };

  return {
    async claims(owner) {
      const found = await rows.accountsOf(owner);
      const held = found.flatMap(({ provider, sealed }): [string, readonly string[]][] => {
        const kept = declaredAs(provider) !== undefined ? opened({ ...ownerOf(owner), provider }, sealed) : undefined;
        return kept !== undefined && isUsable(kept) ? [[provider, kept.tokens.claims]] : [];
      });
      return Object.fromEntries(held);
    },
    async open({ tenant, userId, provider }): Promise<ConnectedAccount> {
      void providerOf(provider);
      const key = { tenant, userId, provider };
      const { kept } = await read(key);
      const { tokens, at } = isEnding(kept) ? await renewed(key) : kept;
      return { provider, claims: tokens.claims, token: tokens.access, since: at };
    },
    async renew({ tenant, userId, provider, refused }) {
      void providerOf(provider);
      await renewed({ tenant, userId, provider }, refused);
    },
    async list(owner) {
      const found = new Map((await rows.accountsOf(owner)).map(({ provider, sealed }) => [provider, sealed]));
      return Object.keys(providers())
        .sort()
        .map((provider) => {
          const sealed = found.get(provider);
          const kept = sealed === undefined ? undefined : opened({ ...ownerOf(owner), provider }, sealed);
          return view(provider, kept, sealed !== undefined);
        });
    },
    async connect(owner, provider, { claims = [], redirectUrl, clientDocument, browser }) {
      const server = await providerOf(provider);
      const key = { ...ownerOf(owner), provider };
      const row = await rows.readAccount(key);
      const had = row === undefined ? undefined : opened(key, row.sealed);
      const { at, claims: always } = await prepared(provider, server, { redirectUrl, clientDocument });
      const wanted = [...new Set([...always, ...(had?.tokens.claims ?? []), ...claims])].sort();
      const until = clock.now() + SIGN_IN_MS;
      const verifier = newVerifier();
      const signIn: SignIn = {
        ...key,
        verifier,
        redirectUrl,
        claims: wanted,
        until,
        ...(browser === undefined ? {} : { browser }),
        ...(at === undefined ? {} : { at }),
      };
      const state = vault.seal(asJson(signIn), STATE);
      try {
        return { url: await server.signIn({ redirectUrl, state, verifier, claims: wanted, at }), until };
      } catch (error) {
        throw unavailable(provider, error);
      }
    },
    beganBy(state) {
      const signIn = signInOf(state);
      return signIn && { owner: ownerOf(signIn), provider: signIn.provider, browser: signIn.browser };
    },
    async finish(callback) {
      const state = callback.get('state') ?? '';
      const signIn = signInOf(state);
      if (signIn === undefined) throw new TreadleError('sign_in_invalid', { hint: 'begin again' });
      const { provider, verifier, redirectUrl, claims, at } = signIn;
      const server = await providerOf(provider);
      let tokens: Tokens;
      try {
        tokens = await server.finish(callback, { redirectUrl, state, verifier, claims, at });
      } catch (error) {
        if (!(error instanceof AccountRefused)) throw unavailable(provider, error);
        throw new TreadleError('account_unmet', {
          place: provider,
          found: `the answer ${error.message}`,
          wanted: 'a yes',
        });
      }
      const key = { ...ownerOf(signIn), provider };
      const kept: Kept = { tokens, at: clock.now() };
      const sealed = vault.seal(asJson(kept), placeOf(key));
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const row = await rows.readAccount(key);
        if (await rows.writeAccount(key, sealed, row?.revision ?? 0))
          return { owner: ownerOf(signIn), account: view(provider, kept, true) };
      }
      throw new TreadleError('account_unavailable', {
        place: provider,
        found: 'a row that changes all the time',
        hint: 'begin again',
      });
    },
    async disconnect(owner, provider) {
      const server = await providerOf(provider);
      const key = { ...ownerOf(owner), provider };
      const row = await rows.readAccount(key);
      // Here first: whatever the other side says, nothing uses it any more.
      const isGone = await rows.removeAccount(key);
      const kept = row === undefined ? undefined : opened(key, row.sealed);
      if (kept !== undefined) {
        await server.revoke(kept.tokens).catch((error: unknown) => {
          logger.warn('an account could not be taken back at its provider', { provider, why: messageOf(error) });
        });
      }
      return isGone;
    },
  };
}

const MOST_TRIES = 5;

/** What signing in at MCP servers takes is loaded where a bundle has one that wants it. */
async function serverOf(provider: Provider, clock: Clock): Promise<OAuthServer> {
  if (provider.type === 'oauth2') return createOAuthServer(provider, clock);
  const { createMcpSignIn } = await optionalPackage(() => import('../../adapters/accounts/mcp-sign-in.ts'), MCP_CLIENT);
  return createMcpSignIn({ ...provider, clock });
}

async function prepared(provider: string, server: OAuthServer, place: SignInPlace): ReturnType<OAuthServer['prepare']> {
  try {
    return await server.prepare(place);
  } catch (error) {
    throw unavailable(provider, error);
  }
}

function ownerOf({ tenant, userId }: Owner): Owner {
  return { tenant, userId };
}

/** What a sealed row belongs to: moved to another user, it does not open. */
function placeOf({ tenant, userId, provider }: AccountKey): string {
  return canonicalJson([tenant, userId, provider]);
}

function keptOf(value: Json | undefined): Kept | undefined {
  return isObject(value) && isObject(value['tokens']) ? (value as unknown as Kept) : undefined; // nobody else can seal one
}

function asJson(value: Kept | SignIn): Json {
  return toJson(value);
}

function unmet({ provider }: AccountKey): TreadleError {
  return new TreadleError('account_unmet', { place: provider, hint: 'connect it' });
}

/** What the library says may quote what it was sent, so only its kind is told, and nothing is handed on. */
function unavailable(provider: string, error: unknown): TreadleError {
  const found = error instanceof Error ? error.name : 'something that is no error';
  return new TreadleError('account_unavailable', { place: provider, found, hint: 'try again' });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import { canonicalJson, toJson } from '../../base/json.ts';
import { TreadleError } from '../../base/errors.ts';
import { consumer } from '../../assembly/resolve.ts';
import type { AccountProvider } from '../../domain/account.ts';
import type { Bundle } from '../../domain/bundle.ts';
import type { Claim } from '../../domain/grant.ts';
import type { HttpService, McpService, OAuthSettings } from '../../domain/mcp.ts';

/** Where a user may have an account: what a bundle declares, and each MCP server that its users sign in to. */
export type Provider = AccountProvider | McpProvider;

export interface McpProvider {
  readonly type: 'mcp';
  readonly label: string;
  readonly service: HttpService;
  readonly settings: OAuthSettings;
}

export type Providers = Readonly<Record<string, Provider>>;

const known = new WeakMap<Bundle, Providers>();

/** The same value for the same bundle: what was found out about a provider is kept with it. */
export function providersOf(bundle: Bundle): Providers {
  let found = known.get(bundle);
  if (found === undefined) {
    const services = Object.entries(consumer(bundle).block?.mcp?.services ?? {});
    const servers = services.flatMap(([id, service]): [string, McpProvider][] => {
      const settings = signInOf(service);
      if (settings === undefined || service.transport === 'stdio') return [];
      return [[mcpAccount(id), { type: 'mcp', label: service.label ?? id, service, settings }]];
    });
    found = { ...Object.fromEntries(servers), ...bundle.accounts };
    known.set(bundle, found);
  }
  return found;
}

/** What the account of a user at an MCP server is called. */
export function mcpAccount(server: string): string {
  return `mcp.${server}`;
}

/** How users sign in to a server; undefined for one that they do not sign in to themselves. */
export function signInOf(service: McpService): OAuthSettings | undefined {
  if (service.transport === 'stdio' || service.auth?.type !== 'oauth2') return undefined;
  return service.auth.grant === 'client_credentials' ? undefined : service.auth;
}

/** What every tool of a server needs of its user, where users sign in to it. */
export function needsOf(id: string, service: McpService): Claim | undefined {
  return signInOf(service) === undefined ? undefined : { provider: mcpAccount(id), claims: [] };
}

/** What several bundles declare together. Throws `bundle_conflict` for a provider that two of them declare otherwise. */
export function declaredAccounts(bundles: readonly (Readonly<Record<string, Provider>> | undefined)[]): Providers {
  const all = new Map<string, Provider>();
  for (const [provider, one] of bundles.flatMap((bundle) => Object.entries(bundle ?? {}))) {
    const first = all.get(provider) ?? one;
    if (canonicalJson(toJson(first)) !== canonicalJson(toJson(one))) {
      throw new TreadleError('bundle_conflict', {
        place:
          one.type === 'mcp'
            ? `surfaces.as_consumer.mcp.services.${provider.slice('mcp.'.length)}`
            : `accounts.${provider}`,
        found: 'an account that another bundle declares otherwise',
        wanted: 'the same, or another id',
      });
    }
    all.set(provider, first);
  }
  return Object.fromEntries(all);
}

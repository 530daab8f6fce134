import type { Clock, Instant } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, type JsonObject } from '../../base/json.ts';
import { accessBy } from '../../adapters/mcp/access.ts';
import type { ListedTools } from '../../adapters/mcp/listing.ts';
import { createMcpServer } from '../../adapters/mcp/server.ts';
import type { Listing, McpServer, ServerHealth } from '../../adapters/mcp/standing.ts';
import type { Opened, TransportOptions } from '../../adapters/mcp/transport.ts';
import { DEFAULT_CONNECT_TIMEOUT_MS, type McpService } from '../../domain/mcp.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { AccountStore } from '../../kernel/choices.ts';
import type { ConnectedAccount, ToolContext, ToolReturn } from '../../kernel/running-tool.ts';
import type { Logger } from '../../kernel/logger.ts';
import { accountNeeded, toolFailure } from '../../kernel/tool.ts';
import type { Owner } from '../accounts/accounts.ts';
import { askStore, type Asked } from '../accounts/ask-store.ts';
import { BoundedMap } from '../bounded-map.ts';

export interface PersonalServerOptions {
  readonly id: string;
  readonly service: McpService;
  /** What its users' accounts are called. */
  readonly account: string;
  readonly accounts: AccountStore;
  readonly open: (access: Pick<TransportOptions, 'oauth' | 'fetch'>) => Opened;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a server offers one user; `unmet` while they have not signed in, with what it offered them when they last had. */
export type PersonalListing = Listing | { readonly status: 'unmet'; readonly known: ListedTools | undefined };

/**
 * An MCP server that its users sign in to: each has a connection of their own, with their own token.
 *
 * A connection belongs to one sign-in. Nothing that one user's token has brought is ever shown or used for another.
 */
export interface PersonalServer {
  /** Never rejects. */
  listing(owner: Owner): Promise<PersonalListing>;
  call(
    definition: Pick<ToolDefinition, 'effect' | 'inputSchema' | 'remote'>,
    args: JsonObject,
    context: ToolContext,
  ): Promise<ToolReturn>;
  /** Of all its users together. What it offers each of them is theirs alone. */
  readonly health: ServerHealth;
  /** Nothing: there is nobody to ask as. */
  ask(): Promise<void>;
  close(): Promise<void>;
}

/** Users whose connections are kept open. Whoever came longest ago is connected again when they come back. */
const MOST_LINKS = 100;
/** Users of whom it is remembered what the server offered. */
const MOST_KNOWN = 1_000;

interface UserLink {
  readonly server: McpServer;
  readonly since: Instant | undefined;
  calls: number;
}

export function createPersonalServer(options: PersonalServerOptions): PersonalServer {
  const { id, service, account, accounts, clock, logger } = options;
  const timeoutMs = service.connect_timeout_ms ?? DEFAULT_CONNECT_TIMEOUT_MS;
  const links = new Map<string, UserLink>();
  const known = new BoundedMap<string, ListedTools>(MOST_KNOWN);

  function opened({ tenant, userId }: Owner): Promise<Asked<ConnectedAccount>> {
    const unmet = (): never => {
      throw new TreadleError('account_unmet', { place: account });
    };
    return Promise.resolve(
      askStore(() => accounts.open?.({ tenant, userId, provider: account }) ?? unmet(), clock, timeoutMs),
    );
  }

  function linkOf(owner: Owner, { since }: ConnectedAccount): UserLink {
    const key = keyOf(owner);
    const found = links.get(key);
    links.delete(key);
    if (found !== undefined && found.since === since) {
      links.set(key, found); // the last one to go
      return found;
    }
    if (found !== undefined) leave(found); // it was made for whom the user was there before
    const access = accessBy(accounts, { tenant: owner.tenant, userId: owner.userId, provider: account });
    const server = createMcpServer({
      id,
      service,
      open: () => options.open(access),
      clock,
      logger,
      account: { id: account, secrets: access.shown },
    });
    const link: UserLink = { server, since, calls: 0 };
    links.set(key, link);
    for (const [oldest, { calls }] of links) {
      if (links.size <= MOST_LINKS) break;
      const idle = links.get(oldest);
      if (calls > 0 || idle === undefined) continue;
      links.delete(oldest);
      leave(idle);
    }
    return link;
  }

  function leave({ server }: UserLink): void {
    server.close().catch((error: unknown) => logger.debug('an MCP server could not be left', { server: id, error }));
  }

  return {
    async listing(owner) {
      const key = keyOf(owner);
      const before = await opened(owner);
      if (!before.ok)
        return isUnmet(before) ? { status: 'unmet', known: known.get(key) } : down(before.why, known.get(key));
      const listing = await linkOf(owner, before.value).server.listing();
      if (listing.status === 'up') {
        known.set(key, listing.listed);
        return listing;
      }
      // The account may be what was wrong, and be known for it by now.
      const after = await opened(owner);
      return !after.ok && isUnmet(after) ? { status: 'unmet', known: known.get(key) } : listing;
    },
    async call(definition, args, context) {
      const mine = await opened(context);
      if (!mine.ok && isUnmet(mine))
        return accountNeeded(`The user has not connected the ${account} account.`, { account, claims: [] });
      if (!mine.ok) return toolFailure('unreachable', `The ${account} account ${mine.why}.`);
      const link = linkOf(context, mine.value);
      link.calls++;
      try {
        return await link.server.call(definition, args, context);
      } finally {
        link.calls--;
      }
    },
    get health(): ServerHealth {
      const all = [...links.values()].map(({ server }) => server.health);
      return {
        id,
        transport: service.transport === 'stdio' ? 'stdio' : 'http',
        status: all.some(({ status }) => status === 'up') ? 'up' : 'idle',
        isConnected: all.some(({ isConnected }) => isConnected),
        why: `each user signs in to it; ${all.length} are connected`,
        tools: [],
        failures: 0,
      };
    },
    ask: () => Promise.resolve(),
    async close() {
      await Promise.all([...links.values()].map(({ server }) => server.close()));
      links.clear();
    },
  };
}

function keyOf({ tenant, userId }: Owner): string {
  return canonicalJson([tenant, userId]);
}

function isUnmet(asked: Asked): boolean {
  return !asked.ok && asked.cause instanceof TreadleError && asked.cause.code === 'account_unmet';
}

function down(why: string, before: ListedTools | undefined): PersonalListing {
  return { status: 'down', version: 0, why: `the account ${why}`, known: before };
}

import path from 'node:path';
import { shortDigest } from '../../base/digest.ts';
import { isPromise } from '../../base/promise.ts';
import { toJson, type JsonObject } from '../../base/json.ts';
import { schemaLosses } from '../../adapters/models/wire-schema.ts';
import { compileSchema } from '../../adapters/schema/ajv.ts';
import type { McpService } from '../../domain/mcp.ts';
import type { McpTools } from '../../domain/inventory.ts';
import type { AccountStore } from '../../kernel/choices.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import { ownAccess } from '../../adapters/mcp/oauth.ts';
import { ownName } from '../../adapters/mcp/resources.ts';
import { createMcpServer } from '../../adapters/mcp/server.ts';
import type { Listing, McpServer, ServerHealth } from '../../adapters/mcp/standing.ts';
import { openTransport, type TransportOptions } from '../../adapters/mcp/transport.ts';
import { needsOf } from '../accounts/account-providers.ts';
import type { ToolGroup } from './group-members.ts';
import { notAsked, serverId, type Asker, type McpServers } from './mcp-entry.ts';
import { allows, groupOf, handOf, unmetGroup } from './mcp-group.ts';
import { createServerPool, type PooledServer, type ServerPool } from './mcp-pool.ts';
import { isSignIn, signInTool } from './mcp-sign-in-tool.ts';
import { createPersonalServer, type PersonalListing, type PersonalServer } from '../hosting/personal-server.ts';

export interface McpServersOptions {
  readonly services: Readonly<Record<string, McpService>>;
  /** The folder of the bundle: where children start, and what a relative `cwd` is in. */
  readonly folder: string;
  /** `PATH` for children. */
  readonly searchPath: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Users' accounts, for servers that they sign in to. Nobody can when absent. */
  readonly accounts?: AccountStore | undefined;
  /** What other editions of the bundle have. Servers that users sign in to are each edition's own. */
  readonly pool?: ServerPool | undefined;
}

const NOBODY: AccountStore = { claims: () => ({}) };

export function createMcpServers(options: McpServersOptions): McpServers {
  const { services, folder, searchPath, clock, logger, accounts = NOBODY, pool = createServerPool() } = options;
  const servers = new Map<string, PooledServer>();
  const personal = new Map<string, PersonalServer>();

  const serviceOf = (id: string): McpService | undefined => {
    const service = Object.hasOwn(services, id) ? services[id] : undefined;
    if (service?.transport !== 'stdio') return service;
    return { ...service, cwd: path.resolve(folder, service.cwd ?? '.') };
  };

  function serverOf(id: string, service: McpService): McpServer {
    let pooled = servers.get(id);
    if (pooled === undefined) {
      pooled = pool.take(toJson({ id, service }), () => {
        const isOurs = service.transport !== 'stdio' && service.auth?.type === 'oauth2';
        const oauth = isOurs && service.auth?.type === 'oauth2' ? ownAccess(service.auth) : undefined;
        const open = () => openTransport(service, { folder, searchPath, oauth });
        return createMcpServer({ id, service, open, clock, logger });
      });
      servers.set(id, pooled);
    }
    return pooled.server;
  }

  function personalOf(id: string, service: McpService, account: string): PersonalServer {
    let server = personal.get(id);
    if (server === undefined) {
      const open = (access: Pick<TransportOptions, 'oauth' | 'fetch'>) =>
        openTransport(service, { folder, searchPath, ...access });
      server = createPersonalServer({ id, service, account, accounts, open, clock, logger });
      personal.set(id, server);
    }
    return server;
  }

  function named(id: string): { readonly health: ServerHealth; ask(): Promise<unknown> } | undefined {
    const service = serviceOf(id);
    const needs = service === undefined ? undefined : needsOf(id, service);
    if (service === undefined) return undefined;
    return needs === undefined ? serverOf(id, service) : personalOf(id, service, needs.provider);
  }

  // Before the edition that has them connected leaves them.
  for (const id of Object.keys(services)) {
    const service = serviceOf(id);
    if (service !== undefined && needsOf(id, service) === undefined) serverOf(id, service);
  }

  async function personalGroup(
    entry: McpTools,
    service: McpService,
    { owner, asks }: Asker,
  ): Promise<ToolGroup & { readonly version: string }> {
    const id = serverId(entry);
    const needs = needsOf(id, service);
    if (needs === undefined) throw new Error('Treadle bug: nobody signs in to this server');
    const server = personalOf(id, service, needs.provider);
    const listing: PersonalListing =
      owner === undefined ? { status: 'unmet', known: undefined } : await server.listing(owner);
    const version = versionOf(listing, asks);
    const call = server.call.bind(server);
    if (listing.status !== 'unmet') return { ...groupOf(entry, id, listing, call), needs, version };
    if (listing.known !== undefined) {
      // What the user had there is known, and stays away by what it needs.
      return { ...groupOf(entry, id, { status: 'up', version: 0, listed: listing.known }, call), needs, version };
    }
    const standIn =
      asks && owner !== undefined ? signInTool(id, labelOf(id, service), (of) => server.listing(of)) : undefined;
    return { ...unmetGroup(entry, needs, standIn), needs, version };
  }

  return {
    ids: Object.keys(services),
    group(entry, asker) {
      const id = serverId(entry);
      const service = serviceOf(id);
      if (service === undefined) return { ...notAsked(entry), version: 0 };
      if (needsOf(id, service) !== undefined) return personalGroup(entry, service, asker);
      const server = serverOf(id, service);
      const use = (listing: Listing) => ({
        ...groupOf(entry, id, listing, server.call.bind(server)),
        version: listing.version,
      });
      const listing = server.listing();
      return isPromise(listing) ? listing.then(use) : use(listing);
    },
    needs(entry) {
      const service = serviceOf(serverId(entry));
      return service === undefined ? undefined : needsOf(serverId(entry), service);
    },
    hand(entry, definition) {
      const { remote } = definition;
      const id = serverId(entry);
      const service = serviceOf(id);
      if (remote === undefined || service === undefined || id !== remote.server) return undefined;
      const needs = needsOf(id, service);
      const server = needs === undefined ? serverOf(id, service) : personalOf(id, service, needs.provider);
      if (needs !== undefined && isSignIn(definition)) {
        const { hands } = signInTool(id, labelOf(id, service), (of) =>
          personalOf(id, service, needs.provider).listing(of),
        );
        return { definition, ...hands };
      }
      return allows(entry, ownName(remote.name)) ? handOf(definition, server.call.bind(server)) : undefined;
    },
    health: () => Object.keys(services).flatMap((id) => named(id)?.health ?? []),
    async ask(id) {
      const server = named(id);
      await server?.ask();
      return server !== undefined;
    },
    oddities: () => [
      ...[...servers.values()].flatMap(({ server }) => odditiesOf(server)),
      ...[...personal.keys()].map((server) => ({
        server,
        text: 'each user signs in to it, so what it offers is not known here',
      })),
    ],
    async close() {
      const left = [...servers.values()].map((pooled) => pooled.leave());
      await Promise.all([...left, ...[...personal.values()].map((server) => server.close())]);
    },
  };
}

/** The same for users to whom it offers the same, so that they share what is made of it. */
function versionOf(listing: PersonalListing, asks: boolean): string {
  switch (listing.status) {
    case 'up':
      return `up ${toolsOf(listing)}`;
    case 'down':
      return `down ${listing.why} ${toolsOf(listing)}`;
    case 'unmet':
      return listing.known === undefined ? `unmet ${String(asks)}` : `up ${toolsOf({ listed: listing.known })}`;
  }
}

function toolsOf(listing: Pick<Listing & { readonly status: 'up' }, 'listed'> | Listing): string {
  const listed = 'listed' in listing ? listing.listed : listing.known;
  const said = [
    ...(listed?.tools ?? []).map(({ own, digest }) => `${own} ${digest}`),
    ...(listed?.refused ?? []).map(({ name, why }) => `${name} ${why}`),
  ];
  return shortDigest(said.join('\n'));
}

function labelOf(id: string, service: McpService): string {
  return service.transport === 'stdio' ? id : (service.label ?? id);
}

function odditiesOf({ id, last }: McpServer): readonly { readonly server: string; readonly text: string }[] {
  if (last?.status !== 'up') return last === undefined ? [] : [{ server: id, text: `cannot be used: ${last.why}` }];
  const { listed } = last;
  return [
    ...listed.oddities.map((text) => ({ server: id, text })),
    ...listed.refused.map(({ name, why }) => ({
      server: id,
      text: `its tool ${JSON.stringify(name)} cannot be used: ${why}`,
    })),
    ...listed.tools.flatMap(({ own, losses, definition }) =>
      [...losses, ...lossesOf(definition.inputSchema)].map((loss) => ({
        server: id,
        text: `of its tool ${JSON.stringify(own)} this is left out or changed: ${loss}`,
      })),
    ),
  ];
}

/** What a model is not told of a schema; for one that cannot be used at all, that is the loss. */
function lossesOf(schema: JsonObject): readonly string[] {
  try {
    compileSchema(schema);
    return schemaLosses(schema).map((loss) => `of its input schema, ${loss}`);
  } catch (error) {
    return [
      `its input schema cannot be used, so no call will fit: ${error instanceof Error ? error.message : String(error)}`,
    ];
  }
}

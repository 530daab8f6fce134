import path from 'node:path';
import { isPromise } from '../base/promise.ts';
import type { JsonObject } from '../base/json.ts';
import { schemaLosses } from '../adapters/models/wire-schema.ts';
import { compileSchema } from '../adapters/schema/ajv.ts';
import type { McpService } from '../domain/mcp.ts';
import type { McpTools } from '../domain/inventory.ts';
import type { ToolDefinition } from '../domain/tool.ts';
import type { Clock, Logger, Tool } from '../kernel/ports.ts';
import { ownAccess } from '../adapters/mcp/oauth.ts';
import { checkOf, type RemoteTool } from '../adapters/mcp/remote-tool.ts';
import { ONLY_WHEN_NAMED, ownName } from '../adapters/mcp/resources.ts';
import { createMcpServer, type Listing, type McpServer } from '../adapters/mcp/server.ts';
import { openTransport, type TransportOptions } from '../adapters/mcp/transport.ts';
import type { CompiledTool } from './catalog.ts';
import { EVERYTHING, type ToolGroup } from './grant.ts';
import { notAsked, serverId, type McpServers } from './mcp-entry.ts';

export interface McpServersOptions {
  readonly services: Readonly<Record<string, McpService>>;
  /** The folder of the bundle: where children start, and what a relative `cwd` is in. */
  readonly folder: string;
  /** `PATH` for children. */
  readonly searchPath: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Who shows a server of `auth: oauth2` who we are. */
  readonly oauth?: ((id: string, service: McpService) => TransportOptions['oauth']) | undefined;
}

export function createMcpServers({
  services,
  folder,
  searchPath,
  clock,
  logger,
  oauth,
}: McpServersOptions): McpServers {
  const servers = new Map<string, McpServer>();
  const own = new Map<string, TransportOptions['oauth']>();

  /** Undefined for a server that asks for none. Throws where a person would have to sign in and nobody can. */
  function accessOf(id: string, service: McpService): TransportOptions['oauth'] {
    if (service.transport === 'stdio' || service.auth?.type !== 'oauth2') return undefined;
    const given = oauth?.(id, service) ?? own.get(id);
    if (given !== undefined) return given;
    if (service.auth.grant !== 'client_credentials')
      throw new Error('a person has to sign in first, and nobody can here');
    const access = ownAccess(service.auth);
    own.set(id, access);
    return access;
  }

  function serverOf(entry: McpTools): McpServer | undefined {
    return serverNamed(serverId(entry));
  }

  function serverNamed(id: string): McpServer | undefined {
    const service = Object.hasOwn(services, id) ? services[id] : undefined;
    if (service === undefined) return undefined;
    let server = servers.get(id);
    if (server === undefined) {
      const inside =
        service.transport === 'stdio' ? { ...service, cwd: path.resolve(folder, service.cwd ?? '.') } : service;
      const open = () => openTransport(inside, { folder, searchPath, oauth: accessOf(id, inside) });
      server = createMcpServer({ id, service: inside, open, clock, logger });
      servers.set(id, server);
    }
    return server;
  }

  return {
    ids: Object.keys(services),
    group(entry) {
      const server = serverOf(entry);
      if (server === undefined) return { ...notAsked(entry), version: 0 };
      const use = (listing: Listing) => ({ ...groupOf(entry, server, listing), version: listing.version });
      const listing = server.listing();
      return isPromise(listing) ? listing.then(use) : use(listing);
    },
    hand(entry, definition) {
      const { remote } = definition;
      const server = serverOf(entry);
      if (remote === undefined || server?.id !== remote.server || !allows(entry, ownName(remote.name)))
        return undefined;
      return handOf(server, definition);
    },
    health: () => Object.keys(services).flatMap((id) => serverNamed(id)?.health ?? []),
    async ask(id) {
      const server = serverNamed(id);
      await server?.ask();
      return server !== undefined;
    },
    oddities: () =>
      [...servers.values()].flatMap(({ id, last }) => {
        if (last?.status !== 'up')
          return last === undefined ? [] : [{ server: id, text: `cannot be used: ${last.why}` }];
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
      }),
    async close() {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
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

function allows({ allowed }: McpTools, own: string): boolean {
  return allowed === undefined ? !ONLY_WHEN_NAMED.has(own) : allowed.includes(own);
}

function groupOf(entry: McpTools, server: McpServer, listing: Listing): ToolGroup {
  const id = server.id;
  if (listing.status === 'down') {
    const why = `the MCP server ${id} cannot be used: ${listing.why}`;
    const known = listing.known?.tools.map(({ own }) => own).filter((own) => allows(entry, own));
    const names = entry.allowed ?? known ?? [];
    // A server that was never reached is named itself: the model should know that something is missing.
    const missing = (names.length === 0 ? [EVERYTHING] : names).map((own) => ({ own, why }));
    return { locked: false, tools: [], remote: { missing, isOpen: entry.allowed === undefined } };
  }
  const { tools, refused } = listing.listed;
  const missing = (entry.allowed ?? refused.map(({ name }) => name)).flatMap((own) => {
    if (tools.some((tool) => tool.own === own)) return [];
    const reason = refused.find(({ name }) => name === own)?.why;
    return [
      {
        own,
        why: `the MCP server ${id} ${reason === undefined ? 'does not offer it' : `offers it in a form that cannot be used: ${reason}`}`,
      },
    ];
  });
  return {
    locked: false,
    tools: tools.filter(({ own }) => allows(entry, own)).map((tool) => compiled(server, tool)),
    remote: { missing, isOpen: false },
  };
}

function compiled(server: McpServer, { own, definition }: RemoteTool): CompiledTool {
  return { own, definition, hands: handsOf(server, definition) };
}

function handOf(server: McpServer, definition: ToolDefinition): Tool {
  return { definition, ...handsOf(server, definition) };
}

function handsOf(server: McpServer, definition: RemoteTool['definition']): CompiledTool['hands'] {
  return {
    validate: (args) => checkOf(definition.inputSchema)(args),
    run: (args, context) => server.call(definition, args, context),
  };
}

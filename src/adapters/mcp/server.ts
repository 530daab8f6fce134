import { SdkHttpError, type Client, type ElicitResult } from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_TTL_SECONDS, type McpService } from '../../domain/mcp.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ToolContext, ToolReturn } from '../../kernel/running-tool.ts';
import { accountNeeded, toolFailure } from '../../kernel/tool.ts';
import { lackingClaims } from './access.ts';
import { Calls } from './calls.ts';
import { openLink, reason, until, type Link } from './link.ts';
import { isEmptyDiff, isMethodNotFound, listDiff, listTools, toolsPage, type ListedTools } from './listing.ts';
import { extraTools } from './resources.ts';
import { withoutSecrets } from './secrets.ts';
import type { Listing, McpServer, ServerHealth } from './standing.ts';
import type { Opened } from './transport.ts';

export interface McpServerOptions {
  readonly id: string;
  readonly service: McpService;
  readonly open: () => Opened;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of a server that somebody has signed in to: the account, and what nobody else may read of it. */
  readonly account?: { readonly id: string; readonly secrets: () => readonly string[] } | undefined;
}

const MOST_ROUNDS = 3;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

export function createMcpServer(options: McpServerOptions): McpServer {
  const { id, service, clock, logger } = options;
  const timeoutMs = service.connect_timeout_ms ?? DEFAULT_CONNECT_TIMEOUT_MS;
  const ttlMs = (service.ttl_seconds ?? DEFAULT_TTL_SECONDS) * 1_000;
  const hide = withoutSecrets(service, options.account?.secrets);
  const calls = new Calls(id, clock, logger);
  let link: Link | undefined;
  let connecting: Promise<Link> | undefined;
  let asking: Promise<Listing> | undefined;
  let last: Listing | undefined;
  let listed: ListedTools | undefined;
  let listedAt = 0;
  let isStale = true;
  let version = 0;
  let failures = 0;
  let retryAt = 0;
  let closed = false;

  function connect(): Promise<Link> {
    if (link?.isOpen() === true) return Promise.resolve(link);
    if (closed) return Promise.reject(new Error('this process is shutting down'));
    connecting ??= openLink({
      id,
      service,
      open: options.open,
      clock,
      logger,
      timeoutMs,
      onListChanged: () => {
        isStale = true;
      },
      onElicit: (params): ElicitResult => calls.elicit(params),
      onClosed: () => {
        isStale = true;
      },
    })
      .then(async (opened) => {
        if (closed) {
          await opened.close();
          throw new Error('this process is shutting down');
        }
        link = opened;
        return opened;
      })
      .finally(() => {
        connecting = undefined;
      });
    return connecting;
  }

  async function ask(): Promise<Listing> {
    const stop = new AbortController();
    let release = (): void => undefined;
    try {
      const { client } = await connect();
      release = clock.after(timeoutMs, () => stop.abort(new Error(`no list of tools within ${timeoutMs} ms`)));
      let found: ListedTools | undefined;
      // Some servers add tools right after the greeting, and say so while the first list is under way.
      for (let round = 0; found === undefined || (isStale && round < MOST_ROUNDS); round++) {
        isStale = false; // a change that is announced from now on is another one
        found = await list(client, stop.signal);
      }
      return up(found);
    } catch (error) {
      return down(error);
    } finally {
      release();
    }
  }

  async function list(client: Client, signal: AbortSignal): Promise<ListedTools> {
    const found = await listTools(id, async (cursor) => {
      const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
      try {
        return await until(client.request(request, toolsPage, { signal, timeout: timeoutMs }), signal);
      } catch (error) {
        if (cursor === undefined && isMethodNotFound(error)) return { tools: [] };
        throw error;
      }
    });
    const extra = extraTools(id, client.getServerCapabilities() ?? {}, found.tools);
    return { ...found, tools: [...found.tools, ...extra] };
  }

  function up(found: ListedTools): Listing {
    failures = 0;
    listedAt = clock.now();
    const diff = listed === undefined ? undefined : listDiff(listed, found);
    if (diff === undefined || !isEmptyDiff(diff) || last?.status !== 'up') {
      version++;
      const fields = { server: id, tools: found.tools.length, ...diff };
      logger.info(
        diff === undefined ? 'an MCP server was asked for its tools' : 'the tools of an MCP server changed',
        fields,
      );
      for (const oddity of found.oddities) logger.warn('an MCP server has an odd list', { server: id, oddity });
      for (const refused of found.refused)
        logger.warn('a tool of an MCP server cannot be used', { server: id, ...refused });
      listed = found;
      last = { status: 'up', version, listed: found };
    }
    return last;
  }

  function down(error: unknown): Listing {
    const why = hide(reason(error));
    isStale = true;
    retryAt = clock.now() + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
    failures++;
    logger.warn('an MCP server cannot be used', { server: id, why, attempts: failures });
    if (link?.isOpen() === true && listed !== undefined && last?.status === 'up') return last; // it runs, and did not list
    if (last?.status !== 'down' || last.why !== why) last = { status: 'down', version: ++version, why, known: listed };
    return last;
  }

  async function invoke(
    target: Parameters<McpServer['call']>[0],
    args: JsonObject,
    context: ToolContext,
  ): Promise<ToolReturn> {
    let opened: Link;
    try {
      opened = await until(connect(), context.signal);
    } catch (error) {
      if (context.signal.aborted) throw error;
      const lacking = needed(error);
      if (lacking !== undefined) return lacking;
      down(error);
      return toolFailure('unreachable', `The MCP server ${id} cannot be reached: ${hide(reason(error))}`);
    }
    try {
      const outputSchema = listed?.tools.find(({ own }) => own === target.remote?.name)?.outputSchema;
      return await calls.run(opened.client, target, args, outputSchema, context);
    } catch (error) {
      if (context.signal.aborted) throw error;
      if (isLostSession(error)) throw error;
      return needed(error) ?? failed(error, opened);
    }
  }

  /** The server did nothing, because of the account. */
  function needed(error: unknown): ToolReturn | undefined {
    const claims = options.account === undefined ? undefined : lackingClaims(error);
    if (options.account === undefined || claims === undefined) return undefined;
    const { id: account } = options.account;
    const what = claims.length === 0 ? `the ${account} account` : `${claims.join(', ')} in the ${account} account`;
    return accountNeeded(`The MCP server ${id} wants ${what}, which the user has not given.`, { account, claims });
  }

  function failed(error: unknown, { isOpen, lastWords }: Link): ToolReturn {
    const words = isOpen() ? '' : (lastWords().split('\n').at(-1) ?? '');
    const why = hide(`${reason(error)}${words === '' ? '' : `; it wrote: ${words.slice(0, 300)}`}`);
    if (calls.wasAnswered(error)) return toolFailure('remote_error', `The MCP server ${id} refused: ${why}`);
    return toolFailure('connection_lost', `The MCP server ${id} did not answer: ${why}`, { uncertain: true });
  }

  return {
    id,
    get last() {
      return last;
    },
    get health(): ServerHealth {
      return {
        id,
        transport: service.transport === 'stdio' ? 'stdio' : 'http',
        status: last?.status ?? 'idle',
        isConnected: link?.isOpen() === true,
        why: last?.status === 'down' ? last.why : undefined,
        tools: listed?.tools.map(({ own }) => own) ?? [],
        listedAt: listed === undefined ? undefined : listedAt,
        retryAt: last?.status === 'down' && retryAt > clock.now() ? retryAt : undefined,
        failures,
      };
    },
    async ask() {
      retryAt = 0;
      isStale = true;
      return this.listing();
    },
    listing() {
      if (asking !== undefined) return asking;
      const now = clock.now();
      const isCurrent = !isStale && link?.isOpen() === true && (ttlMs === 0 || now - listedAt < ttlMs);
      if (last !== undefined && (isCurrent || closed || now < retryAt)) return last;
      asking = ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    async call(target, args, context) {
      try {
        return await invoke(target, args, context);
      } catch (error) {
        if (context.signal.aborted || !isLostSession(error)) throw error;
        // The server forgot the session, so it did nothing with the call: a new one is safe.
        await link?.close();
        link = undefined;
        return invoke(target, args, context);
      }
    },
    async close() {
      closed = true;
      const opening = connecting;
      if (opening !== undefined) await opening.catch(() => undefined);
      await link?.close();
    },
  };
}

function isLostSession(error: unknown): boolean {
  return error instanceof SdkHttpError && error.status === 404;
}

// A server as others know it. Nothing here is of the package for MCP, which whoever compiles against us may not have.
import type { Instant } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { MaybePromise } from '../../base/promise.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { ToolContext, ToolReturn } from '../../kernel/running-tool.ts';
import type { ListedTools } from './listing.ts';

/** What a server offers at the moment, or why it offers nothing. */
export type Listing =
  | { readonly status: 'up'; readonly version: number; readonly listed: ListedTools }
  /** `known`: what it offered when it last did. */
  | {
      readonly status: 'down';
      readonly version: number;
      readonly why: string;
      readonly known: ListedTools | undefined;
    };

/** How a server stands, for whoever looks after it. */
export interface ServerHealth {
  readonly id: string;
  readonly transport: 'stdio' | 'http';
  /** `idle`: nobody has asked it yet. */
  readonly status: 'idle' | 'up' | 'down';
  readonly isConnected: boolean;
  /** Why it is down. */
  readonly why?: string | undefined;
  /** Names of its tools as it last listed them. */
  readonly tools: readonly string[];
  readonly listedAt?: Instant | undefined;
  /** Until then it is not asked again. */
  readonly retryAt?: Instant | undefined;
  /** Attempts in a row that failed. */
  readonly failures: number;
}

/**
 * One MCP server of a bundle. Nothing is connected before somebody needs it.
 *
 * A server may lie, hang, crash or vanish: what comes of it is a listing that says so, or a failed observation. Its list
 * of tools changes only where `listing` is asked, which is when a turn begins.
 */
export interface McpServer {
  readonly id: string;
  /** At once where nothing has to be asked; else within the connect timeout. Never rejects. */
  listing(): MaybePromise<Listing>;
  /** The listing that the last turn was begun with. */
  readonly last: Listing | undefined;
  readonly health: ServerHealth;
  /** Asks it now, also one that is to be left alone for a while. Never rejects. */
  ask(): Promise<Listing>;
  /** Runs a tool as it was described when the turn began. Aborting the context's signal tells the server. */
  call(
    definition: Pick<ToolDefinition, 'effect' | 'inputSchema' | 'remote'>,
    args: JsonObject,
    context: ToolContext,
  ): Promise<ToolReturn>;
  close(): Promise<void>;
}

// What others know of a server. Nothing here is of the package for MCP, which whoever compiles against us may not have.
import type { Instant } from '../../base/clock.ts';
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

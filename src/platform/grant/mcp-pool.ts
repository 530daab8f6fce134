import type { Json } from '../../base/json.ts';
import { digest } from '../../base/digest.ts';
import type { McpServer } from '../../adapters/mcp/standing.ts';

/** A server for as long as one edition of a bundle has it. */
export interface PooledServer {
  readonly server: McpServer;
  /** Ends its connection where no other edition has it. */
  leave(): Promise<void>;
}

/**
 * The servers of the editions of one bundle. An edit that leaves a declaration as it was keeps the connection: a child would
 * lose all that it holds, such as an open browser, and the next turn would wait for a new one.
 */
export interface ServerPool {
  take(declaration: Json, make: () => McpServer): PooledServer;
}

export function createServerPool(): ServerPool {
  const held = new Map<string, { readonly server: McpServer; editions: number }>();
  return {
    take(declaration, make) {
      const key = digest(declaration);
      const one = held.get(key) ?? { server: make(), editions: 0 };
      held.set(key, one);
      one.editions++;
      let isLeft = false;
      return {
        server: one.server,
        async leave() {
          if (isLeft) return;
          isLeft = true;
          one.editions--;
          if (one.editions > 0) return;
          held.delete(key);
          await one.server.close();
        },
      };
    },
  };
}

import { FetchRefusal, type GuardedFetchInit } from '../../kernel/fetch.ts';
import { createGuardedRequests, GuardRefusal, type GuardOptions } from './guarded-requests.ts';

export interface GuardedFetchOptions extends GuardOptions {
  /** Bytes of one reply. */
  readonly mostBytes: number;
}

export interface GuardedFetcher {
  fetch(url: string | URL, init: GuardedFetchInit & { readonly signal: AbortSignal }): Promise<Response>;
  close(): Promise<void>;
}

/** The web's own `fetch` for tools, through the guard. */
export function createGuardedFetch({ mostBytes, ...guard }: GuardedFetchOptions): GuardedFetcher {
  const requests = createGuardedRequests(guard);
  return {
    async fetch(given, init) {
      const url = typeof given === 'string' ? URL.parse(given) : given;
      if (url === null) throw new FetchRefusal(`${JSON.stringify(given)} is not an address`);
      try {
        const reply = await requests.send({ ...init, url, mostBytes });
        const isEmpty = reply.status === 204 || reply.status === 205 || reply.status === 304;
        const response = new Response(isEmpty ? null : reply.bytes, {
          status: reply.status,
          statusText: reply.statusText,
          headers: [...reply.headers],
        });
        Object.defineProperty(response, 'url', { value: reply.url.href });
        return response;
      } catch (error) {
        throw error instanceof GuardRefusal ? new FetchRefusal(error.message, error.sent) : error;
      }
    },
    close: () => requests.close(),
  };
}

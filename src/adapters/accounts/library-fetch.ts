import { createGuardedFetch, type GuardedFetchOptions } from '../net/guarded-fetch.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The guarded `fetch` as libraries want one that speak to authorization servers. */
export function libraryFetch({ ms, ...guard }: GuardedFetchOptions & { readonly ms: number }): Fetch {
  const guarded = createGuardedFetch(guard);
  return (url, { method, headers, body, signal } = {}) => {
    const deadline = AbortSignal.timeout(ms);
    return guarded.fetch(url, {
      headers: Object.fromEntries(new Headers(headers)),
      signal: signal === undefined || signal === null ? deadline : AbortSignal.any([signal, deadline]),
      ...(method === undefined ? {} : { method }),
      ...(body === undefined || body === null ? {} : { body: textOf(body) }),
    });
  };
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('only texts and forms are sent');
}

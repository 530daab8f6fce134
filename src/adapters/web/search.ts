import { parseJson } from '../../base/json.ts';
import { createGuardedRequests, GuardRefusal, type GuardedRequests } from '../net/guarded-requests.ts';
import { codeOf } from '../services/api.ts';
import { bravePages } from './brave.ts';
import type { SearchOutcome, WebHit, WebQuery } from '../../kernel/web.ts';
import type { SearchWire } from './query.ts';
import { searxngPages } from './searxng.ts';
import { tavilyPages } from './tavily.ts';

/** Who is asked. */
export type SearchProvider =
  | { readonly provider: 'searxng'; readonly url: string }
  | { readonly provider: 'brave' | 'tavily'; readonly api_key: string; readonly url?: string | undefined };

export interface WebSearch {
  readonly search: (query: WebQuery, asker: { readonly signal: AbortSignal }) => Promise<SearchOutcome>;
}

/** A search engine that an operator has named: it is asked wherever it is, also in their own network. */
export function createWebSearch(provider: SearchProvider): WebSearch {
  const { url } = provider;
  let requests: GuardedRequests | undefined;
  return {
    search(query, { signal }) {
      requests ??= createGuardedRequests({ allowHosts: url === undefined ? [] : [new URL(url).host] });
      return searchWeb(provider, query, { requests, signal });
    },
  };
}

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_SNIPPET = 500;

/** Asks a search engine. Rejects for nothing but being given up. */
async function searchWeb(
  provider: SearchProvider,
  query: WebQuery,
  { requests, signal }: { readonly requests: GuardedRequests; readonly signal: AbortSignal },
): Promise<SearchOutcome> {
  const wire = wireOf(provider, query);
  const name = provider.provider;
  try {
    const { url, method, headers, body } = wire;
    const reply = await requests.send({
      url,
      ...(method && { method }),
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      secret: Object.keys(headers),
      signal,
      mostBytes: MOST_BYTES,
    });
    if (reply.status === 429)
      return { ok: false, code: 'busy', why: `${name} answers no more at the moment: try later` };
    if (reply.status < 200 || reply.status > 299)
      return {
        ok: false,
        code: 'http_status',
        why: `${name} answered ${`${reply.status} ${reply.statusText}`.trim()}`,
      };
    const hits = wire.hits.safeParse(read(reply.bytes));
    if (!hits.success) return { ok: false, code: 'bad_answer', why: `${name} answered with no list of results` };
    return { ok: true, hits: hits.data.slice(0, query.count).map(shortened) };
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof GuardRefusal)
      return { ok: false, code: 'refused', why: `${name} was not asked: ${error.message}` };
    const code = codeOf(error);
    return { ok: false, code: 'unreachable', why: `${name} cannot be reached${code === '' ? '' : ` (${code})`}` };
  }
}

function wireOf(provider: SearchProvider, query: WebQuery): SearchWire {
  switch (provider.provider) {
    case 'searxng':
      return searxngPages(provider.url, query);
    case 'brave':
      return bravePages(provider, query);
    case 'tavily':
      return tavilyPages(provider, query);
  }
}

function read(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder().decode(bytes), 'answer');
  } catch {
    return undefined;
  }
}

/** Engines mark what matched with tags. */
function shortened({ title, url, snippet, published }: WebHit): WebHit {
  return { title: plain(title), url, snippet: plain(snippet).slice(0, MOST_SNIPPET).toWellFormed(), published };
}

function plain(text: string): string {
  return text
    .replace(/<\/?(strong|b|em|mark)>/gi, '')
    .replace(/\s+/g, ' ')
    .trim();
}

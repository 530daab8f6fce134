import { z } from 'zod';
import type { WebQuery } from '../../kernel/web.ts';
import type { SearchWire } from './query.ts';

const ADDRESS = 'https://api.tavily.com/search';

const answer = z.object({
  results: z.array(
    z.object({
      title: z.string(),
      url: z.url(),
      content: z.string().nullish(),
      published_date: z.string().nullish(),
    }),
  ),
});

/** docs.tavily.com/documentation/api-reference/endpoint/search: at most 20 results. It takes no language. */
export function tavilyPages(
  { api_key, url = ADDRESS }: { readonly api_key: string; readonly url?: string | undefined },
  { query, count, freshness, sites }: WebQuery,
): SearchWire {
  return {
    url: new URL(url),
    method: 'POST',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      query,
      max_results: count,
      ...(freshness !== undefined && { time_range: freshness }),
      ...(sites !== undefined && sites.length > 0 && { include_domains: sites }),
    }),
    hits: answer.transform(({ results }) =>
      results.map(({ title, url: at, content, published_date }) => ({
        title,
        url: at,
        snippet: content ?? '',
        published: published_date ?? undefined,
      })),
    ),
  };
}

import { z } from 'zod';
import type { WebQuery } from '../../kernel/web.ts';
import { withSites, type SearchWire } from './query.ts';

const answer = z.object({
  results: z.array(
    z.object({
      title: z.string().default(''),
      url: z.url(),
      content: z.string().nullish(),
      publishedDate: z.string().nullish(),
    }),
  ),
});

/** docs.searxng.org/dev/search_api.html; the instance must have `json` among its formats. */
export function searxngPages(base: string, query: WebQuery): SearchWire {
  const url = new URL(`${base.replace(/\/+$/, '')}/search`);
  url.searchParams.set('q', withSites(query));
  url.searchParams.set('format', 'json');
  if (query.freshness !== undefined) url.searchParams.set('time_range', query.freshness);
  if (query.language !== undefined) url.searchParams.set('language', query.language);
  return {
    url,
    headers: {},
    hits: answer.transform(({ results }) =>
      results.map(({ title, url: at, content, publishedDate }) => ({
        title,
        url: at,
        snippet: content ?? '',
        published: publishedDate ?? undefined,
      })),
    ),
  };
}

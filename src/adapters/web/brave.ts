import { z } from 'zod';
import type { WebQuery } from '../../kernel/web.ts';
import { withSites, type SearchWire } from './query.ts';

const ADDRESS = 'https://api.search.brave.com/res/v1/web/search';

const FRESHNESS = { day: 'pd', week: 'pw', month: 'pm', year: 'py' } as const;

const answer = z.object({
  // Absent where nothing was found.
  web: z
    .object({
      results: z.array(
        z.object({
          title: z.string(),
          url: z.url(),
          description: z.string().nullish(),
          page_age: z.string().nullish(),
        }),
      ),
    })
    .optional(),
});

/** api-dashboard.search.brave.com/app/documentation/web-search: at most 20 results. */
export function bravePages(
  { api_key, url: base = ADDRESS }: { readonly api_key: string; readonly url?: string | undefined },
  query: WebQuery,
): SearchWire {
  const url = new URL(base);
  url.searchParams.set('q', withSites(query));
  url.searchParams.set('count', String(query.count));
  if (query.freshness !== undefined) url.searchParams.set('freshness', FRESHNESS[query.freshness]);
  if (query.language !== undefined) url.searchParams.set('search_lang', query.language);
  return {
    url,
    headers: { 'x-subscription-token': api_key },
    hits: answer.transform(({ web }) =>
      (web?.results ?? []).map(({ title, url: at, description, page_age }) => ({
        title,
        url: at,
        snippet: description ?? '',
        published: page_age ?? undefined,
      })),
    ),
  };
}

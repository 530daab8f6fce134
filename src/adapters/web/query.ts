import type { z } from 'zod';
import type { WebHit, WebQuery } from '../../kernel/web.ts';

/** How one provider is asked, and where its hits are in what it answers. */
export interface SearchWire {
  readonly url: URL;
  readonly method?: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly hits: z.ZodType<readonly WebHit[]>;
}

/** Every engine understands this. */
export function withSites({ query, sites = [] }: WebQuery): string {
  return sites.length === 0 ? query : `${query} (${sites.map((site) => `site:${site}`).join(' OR ')})`;
}

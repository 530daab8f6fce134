import type { z } from 'zod';

export interface Hit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly published?: string | undefined;
}

export interface Query {
  readonly query: string;
  readonly count: number;
  readonly freshness?: 'day' | 'week' | 'month' | 'year' | undefined;
  /** ISO 639-1. */
  readonly language?: string | undefined;
  readonly sites?: readonly string[] | undefined;
}

/** How one provider is asked, and where its hits are in what it answers. */
export interface SearchWire {
  readonly url: URL;
  readonly method?: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly hits: z.ZodType<readonly Hit[]>;
}

/** Every engine understands this. */
export function withSites({ query, sites = [] }: Query): string {
  return sites.length === 0 ? query : `${query} (${sites.map((site) => `site:${site}`).join(' OR ')})`;
}

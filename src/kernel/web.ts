/** A page as it can be read. */
export interface WebPage {
  /** Where it came from in the end. */
  readonly url: string;
  readonly title?: string | undefined;
  readonly byline?: string | undefined;
  readonly published?: string | undefined;
  /** Markdown of a page or a document, the text as it is of anything else that is text. */
  readonly text: string;
  /** For people and models, such as that a page has no main text. */
  readonly note?: string | undefined;
}

export type WebOutcome =
  | { readonly ok: true; readonly page: WebPage }
  /** An address of a picture. */
  | { readonly ok: true; readonly image: { readonly mediaType: string; readonly data: string; readonly url: string } }
  | { readonly ok: false; readonly code: string; readonly why: string };

/** One thing that a search found. */
export interface WebHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly published?: string | undefined;
}

export interface WebQuery {
  readonly query: string;
  readonly count: number;
  readonly freshness?: 'day' | 'week' | 'month' | 'year' | undefined;
  /** ISO 639-1. */
  readonly language?: string | undefined;
  readonly sites?: readonly string[] | undefined;
}

export type SearchOutcome =
  | { readonly ok: true; readonly hits: readonly WebHit[] }
  | { readonly ok: false; readonly code: string; readonly why: string };

/** US dollars per million tokens. A part that is absent costs what `input` costs, but for `cacheWriteLong`, which is unknown. */
export interface Rates {
  readonly input: string;
  readonly output: string;
  readonly cacheRead?: string | undefined;
  readonly cacheWrite?: string | undefined;
  readonly cacheWriteLong?: string | undefined;
}

export interface ModelPrice {
  /** The most that one answer can be, where the provider says so. */
  readonly maxOutput?: number | undefined;
  /** US dollars per thousand searches of the web that the provider makes by itself. */
  readonly search?: string | undefined;
  /** In the order of their first days in UTC; the first of them has none. */
  readonly rates: readonly (Rates & {
    readonly from?: string | undefined;
    /** The whole call is charged at these when its input is larger than `above` tokens. */
    readonly long?: (Rates & { readonly above: number }) | undefined;
  })[];
}

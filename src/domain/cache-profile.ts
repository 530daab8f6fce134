import type { ModelRef } from './agent.ts';

/** How a provider caches prompts, and by which means a narrowing can reach its models. */
export interface CacheProfile {
  /**
   * `explicit`: what is marked, read and written as billed. `automatic`: whatever begins the same, without a word about
   * writing. `unknown`: nothing is expected of it.
   */
  readonly kind: 'explicit' | 'automatic' | 'unknown';
  /** Markers that one request may hold. */
  readonly markers: number;
  /** Blocks that are searched for something written earlier: from a marker backwards, its own included. */
  readonly lookBack: number;
  /** Milliseconds that something lives after it was last used, and the longer time that can be asked for. */
  readonly shortMs: number;
  readonly longMs: number | undefined;
  /** Shorter prompts are not cached. */
  readonly leastTokens: number;
  /** Tokens come in pieces of this size; a difference of one piece means nothing. */
  readonly block: number;
  /** Takes the names that may be called beside the whole catalogue, so that the catalogue need not change. */
  readonly masks: boolean;
  /** Searches tools that are kept out of the prompt by itself, and joins what it finds where it was looked for. */
  readonly searches: boolean;
}

const MINUTE_MS = 60_000;

const UNKNOWN: CacheProfile = {
  kind: 'unknown',
  markers: 0,
  lookBack: 0,
  shortMs: 5 * MINUTE_MS,
  longMs: undefined,
  leastTokens: 0,
  block: 1,
  masks: false,
  searches: false,
};

/** Caches of the kind that OpenAI has: 5 to 10 minutes, pieces of 128 tokens from 1,024 on. */
const AUTOMATIC: CacheProfile = { ...UNKNOWN, kind: 'automatic', leastTokens: 1_024, block: 128 };

const PROFILES: Readonly<Record<string, CacheProfile>> = {
  anthropic: {
    kind: 'explicit',
    markers: 4,
    lookBack: 20,
    shortMs: 5 * MINUTE_MS,
    longMs: 60 * MINUTE_MS,
    leastTokens: 1_024,
    block: 128,
    masks: false,
    searches: true,
  },
  openai: { ...AUTOMATIC, masks: true, searches: true },
  azure: { ...AUTOMATIC, masks: true },
  google: { ...AUTOMATIC, block: 1_024 },
  'google-vertex': { ...AUTOMATIC, block: 1_024 },
  deepseek: { ...AUTOMATIC, leastTokens: 64, block: 64, shortMs: 60 * MINUTE_MS },
  xai: AUTOMATIC,
  moonshotai: AUTOMATIC,
};

/** What is known of a model's provider. What is not known costs nothing that could be told. */
export function cacheProfile(ref: Pick<ModelRef, 'provider' | 'options'> & { readonly model?: string }): CacheProfile {
  const { provider, model = '', options } = ref;
  const known = Object.hasOwn(PROFILES, provider) ? PROFILES[provider] : undefined;
  if (known === undefined) return UNKNOWN;
  // Only the Responses API takes allowed names and searches.
  if (options?.['api'] === 'chat') return known.masks ? { ...known, masks: false, searches: false } : known;
  return known.searches && SEARCHES[provider]?.test(model) !== true ? { ...known, searches: false } : known;
}

/** The models of these providers that search: older ones refuse the request. */
const SEARCHES: Readonly<Record<string, RegExp>> = {
  anthropic: /^claude-(opus|sonnet|haiku|fable)-(4-[5-9]|[5-9])(?!\d)/,
  openai: /^gpt-(5\.([4-9]|\d{2})|[6-9])/,
};

/** Characters of text that make about one token, for what nobody has counted yet. */
const CHARACTERS_PER_TOKEN = 4;

export function roughTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

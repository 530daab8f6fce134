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
  google: { ...AUTOMATIC, leastTokens: 4_096, block: 1_024 },
  'google-vertex': { ...AUTOMATIC, leastTokens: 4_096, block: 1_024 },
  deepseek: { ...AUTOMATIC, leastTokens: 64, block: 64, shortMs: 60 * MINUTE_MS },
  xai: AUTOMATIC,
  moonshotai: AUTOMATIC,
};

/** What is known of a model's provider. What is not known costs nothing that could be told. */
export function cacheProfile(ref: Pick<ModelRef, 'provider' | 'options'> & { readonly model?: string }): CacheProfile {
  const { provider, model = '' } = ref;
  const known = Object.hasOwn(PROFILES, provider) ? PROFILES[provider] : undefined;
  if (known === undefined) return UNKNOWN;
  return withMeans({ ...known, leastTokens: leastTokensOf(provider, model) ?? known.leastTokens }, ref);
}

function withMeans(
  known: CacheProfile,
  { provider, model = '', options }: Parameters<typeof cacheProfile>[0],
): CacheProfile {
  // Only the Responses API takes allowed names and searches.
  if (options?.['api'] === 'chat') return known.masks ? { ...known, masks: false, searches: false } : known;
  return known.searches && SEARCHES[provider]?.test(model) !== true ? { ...known, searches: false } : known;
}

/**
 * The prompts that a model's cache begins at, where they are not its provider's usual ones
 * (platform.claude.com/docs/en/build-with-claude/prompt-caching, ai.google.dev/gemini-api/docs/caching).
 */
const LEAST_TOKENS: Readonly<Record<string, readonly (readonly [models: RegExp, tokens: number])[]>> = {
  anthropic: [
    [/^claude-(opus-4-[56]|haiku-4-5)(?!\d)/, 4_096],
    [/^claude-(opus-4-7(?!\d)|3-5-haiku|3-haiku|haiku-3)/, 2_048],
    [/^claude-(opus|fable|mythos)-5(?!\d)/, 512],
  ],
  google: [[/^gemini-2\.5-/, 2_048]],
  'google-vertex': [[/^gemini-2\.5-/, 2_048]],
};

function leastTokensOf(provider: string, model: string): number | undefined {
  const rows = Object.hasOwn(LEAST_TOKENS, provider) ? LEAST_TOKENS[provider] : undefined;
  return rows?.find(([models]) => models.test(model))?.[1];
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

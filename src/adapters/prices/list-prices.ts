import type { ModelPrice, Rates } from './model-price.ts';

/** When the rows below were last held against their sources. */
export const PRICES_REVISED = '2026-11-30';

/** Tokens above which OpenAI charges the whole request at other rates. */
const OPENAI_LONG = 272_000;
const GOOGLE_LONG = 200_000;

/**
 * US dollars per thousand searches of the web that providers make by themselves.
 *
 * Anthropic: platform.claude.com/docs/en/about-claude/pricing. OpenAI: developers.openai.com/api/docs/pricing, the search
 * without preview. Google: ai.google.dev/gemini-api/docs/pricing, each query of Gemini 3 and later.
 */
export const SEARCH_PRICES: Readonly<Record<string, string>> = { anthropic: '10', openai: '10', google: '14' };

/**
 * List prices of models in US dollars per million tokens, by provider and model.
 *
 * Only what a source says. A model that is not here has no known price; a bundle can give it one under `prices`.
 */
export const LIST_PRICES: Readonly<Record<string, Readonly<Record<string, ModelPrice>>>> = {
  // https://platform.claude.com/docs/en/about-claude/pricing, as read by several price lists up to 2026-10-24, which agree.
  anthropic: {
    'claude-fable-5-1': { maxOutput: 128_000, rates: [claude('10', '50', '0.25', '12.50', '20')] },
    'claude-mythos-5-1': { maxOutput: 128_000, rates: [claude('10', '50', '0.25', '12.50', '20')] },
    'claude-fable-5': { maxOutput: 128_000, rates: [claude('10', '50', '1', '12.50', '20')] },
    'claude-opus-5-5': { maxOutput: 128_000, rates: [claude('4', '20', '0.20', '5', '8')] },
    'claude-opus-5': { maxOutput: 128_000, rates: [claude('5', '25', '0.50', '6.25', '10')] },
    'claude-opus-4-8': { maxOutput: 128_000, rates: [claude('5', '25', '0.50', '6.25', '10')] },
    'claude-opus-4-7': { maxOutput: 128_000, rates: [claude('5', '25', '0.50', '6.25', '10')] },
    'claude-opus-4-6': { maxOutput: 128_000, rates: [claude('5', '25', '0.50', '6.25', '10')] },
    'claude-opus-4-5': { maxOutput: 64_000, rates: [claude('5', '25', '0.50', '6.25', '10')] },
    'claude-opus-4-1': { maxOutput: 32_000, rates: [claude('15', '75', '1.50', '18.75', '30')] },
    'claude-opus-4-0': { maxOutput: 32_000, rates: [claude('15', '75', '1.50', '18.75', '30')] },
    'claude-sonnet-5-5': {
      maxOutput: 128_000,
      rates: [
        claude('2', '10', '0.20', '2.50', '4'),
        { from: '2026-10-07', ...claude('2', '10', '0.10', '2.50', '4') },
      ],
    },
    'claude-sonnet-5': { maxOutput: 128_000, rates: [claude('2', '10', '0.20', '2.50', '4')] },
    'claude-sonnet-4-6': { maxOutput: 64_000, rates: [claude('3', '15', '0.30', '3.75', '6')] },
    'claude-sonnet-4-5': { maxOutput: 64_000, rates: [claude('3', '15', '0.30', '3.75', '6')] },
    'claude-sonnet-4-0': { maxOutput: 64_000, rates: [claude('3', '15', '0.30', '3.75', '6')] },
    'claude-haiku-5-5': {
      maxOutput: 128_000,
      rates: [
        {
          ...claude('0.10', '0.50', '0.01', '0.125', '0.20'),
          long: { above: 100_000, ...claude('0.50', '2.50', '0.05', '0.625', '1') },
        },
      ],
    },
    'claude-haiku-4-5': { maxOutput: 64_000, rates: [claude('1', '5', '0.10', '1.25', '2')] },
  },
  // https://developers.openai.com/api/docs/pricing: GPT-6 as read by several price lists up to 2026-11-18, which agree;
  // the others from models.dev, revision f3fc692 of 2026-07-02. Standard tier.
  openai: {
    'gpt-6.2-astra': gpt(['8', '40', '0.40', '10'], ['16', '60', '0.80', '20']),
    'gpt-6.2-sol': gpt(['2', '10', '0.10', '2.50'], ['4', '15', '0.20', '5']),
    'gpt-6.1-sol': gpt(['2', '10', '0.10', '2.50'], ['4', '15', '0.20', '5']),
    'gpt-6-astra': gpt(['10', '50', '1', '12.50'], ['20', '75', '2', '25']),
    'gpt-6-sol': gpt(['2', '10', '0.20', '2.50'], ['4', '15', '0.40', '5']),
    'gpt-6-luna': gpt(['0.10', '0.50', '0.01', '0.125'], ['0.20', '0.75', '0.02', '0.25']),
    'gpt-5.5': gpt(['5', '30', '0.50'], ['10', '45', '1']),
    'gpt-5.5-pro': gpt(['30', '180'], ['60', '270']),
    'gpt-5.4': gpt(['2.50', '15', '0.25'], ['5', '22.50', '0.50']),
    'gpt-5.4-mini': gpt(['0.75', '4.50', '0.075']),
    'gpt-5.4-nano': gpt(['0.20', '1.25', '0.02']),
    'gpt-5.3-codex': gpt(['1.75', '14', '0.175']),
    'gpt-5.2': gpt(['1.75', '14', '0.175']),
    'gpt-5.2-pro': gpt(['21', '168']),
    'gpt-5.1': gpt(['1.25', '10', '0.125']),
    'gpt-5': gpt(['1.25', '10', '0.125']),
    'gpt-5-mini': gpt(['0.25', '2', '0.025']),
    'gpt-5-nano': gpt(['0.05', '0.40', '0.005']),
    'gpt-4.1': { maxOutput: 32_768, rates: [{ input: '2', output: '8', cacheRead: '0.50' }] },
    'gpt-4.1-mini': { maxOutput: 32_768, rates: [{ input: '0.40', output: '1.60', cacheRead: '0.10' }] },
    'gpt-4.1-nano': { maxOutput: 32_768, rates: [{ input: '0.10', output: '0.40', cacheRead: '0.025' }] },
    'gpt-4o': { maxOutput: 16_384, rates: [{ input: '2.50', output: '10', cacheRead: '1.25' }] },
    'gpt-4o-mini': { maxOutput: 16_384, rates: [{ input: '0.15', output: '0.60', cacheRead: '0.075' }] },
    o3: { maxOutput: 100_000, rates: [{ input: '2', output: '8', cacheRead: '0.50' }] },
    'o4-mini': { maxOutput: 100_000, rates: [{ input: '1.10', output: '4.40', cacheRead: '0.275' }] },
  },
  // https://ai.google.dev/gemini-api/docs/pricing: Gemini 4 and 3.6 to 3.8 as read by several price lists in October and
  // November 2026, with the changes they announce; the others from models.dev, revision f3fc692 of 2026-07-02. Paid tier.
  google: {
    'gemini-4-argon': {
      maxOutput: 65_536,
      rates: [
        { input: '2', output: '10', cacheRead: '0.10' },
        { from: '2026-12-01', input: '4', output: '20', cacheRead: '0.20' },
      ],
    },
    'gemini-4-neon': { maxOutput: 65_536, rates: [{ input: '3', output: '15', cacheRead: '0.15' }] },
    'gemini-4-hydrogen': { maxOutput: 65_536, rates: [{ input: '1.50', output: '7.50', cacheRead: '0.075' }] },
    'gemini-3.8-flash': flash(),
    'gemini-3.7-flash': flash(),
    'gemini-3.6-flash': flash(),
    'gemini-3.5-flash': { maxOutput: 65_536, rates: [{ input: '1.50', output: '9', cacheRead: '0.15' }] },
    'gemini-3.1-pro-preview': {
      maxOutput: 65_536,
      rates: [
        {
          ...{ input: '2', output: '12', cacheRead: '0.20' },
          long: { above: GOOGLE_LONG, input: '4', output: '18', cacheRead: '0.40' },
        },
      ],
    },
    'gemini-3.1-flash-lite': { maxOutput: 65_536, rates: [{ input: '0.25', output: '1.50', cacheRead: '0.025' }] },
    'gemini-3-flash-preview': { maxOutput: 65_536, rates: [{ input: '0.50', output: '3', cacheRead: '0.05' }] },
    'gemini-2.5-pro': {
      maxOutput: 65_536,
      rates: [
        {
          ...{ input: '1.25', output: '10', cacheRead: '0.125' },
          long: { above: GOOGLE_LONG, input: '2.50', output: '15', cacheRead: '0.25' },
        },
      ],
    },
    'gemini-2.5-flash': { maxOutput: 65_536, rates: [{ input: '0.30', output: '2.50', cacheRead: '0.03' }] },
    'gemini-2.5-flash-lite': { maxOutput: 65_536, rates: [{ input: '0.10', output: '0.40', cacheRead: '0.01' }] },
  },
  // models.dev, revision f3fc692 of 2026-07-02, for the rest.
  deepseek: {
    'deepseek-v4-pro': { maxOutput: 384_000, rates: [{ input: '0.435', output: '0.87', cacheRead: '0.003625' }] },
    'deepseek-v4-flash': { maxOutput: 384_000, rates: [{ input: '0.14', output: '0.28', cacheRead: '0.0028' }] },
    'deepseek-chat': { maxOutput: 384_000, rates: [{ input: '0.14', output: '0.28', cacheRead: '0.0028' }] },
  },
  xai: {
    'grok-4.3': {
      maxOutput: 30_000,
      rates: [
        {
          ...{ input: '1.25', output: '2.50', cacheRead: '0.20' },
          long: { above: 200_000, input: '2.50', output: '5', cacheRead: '0.40' },
        },
      ],
    },
  },
  mistral: {
    'mistral-large-latest': { maxOutput: 262_144, rates: [{ input: '0.50', output: '1.50' }] },
    'mistral-medium-latest': { rates: [{ input: '0.40', output: '2' }] },
    'mistral-small-latest': { maxOutput: 256_000, rates: [{ input: '0.15', output: '0.60' }] },
    'devstral-latest': { maxOutput: 262_144, rates: [{ input: '0.40', output: '2' }] },
  },
  moonshotai: {
    'kimi-k2.6': { maxOutput: 262_144, rates: [{ input: '0.95', output: '4', cacheRead: '0.16' }] },
    'kimi-k2.5': { maxOutput: 262_144, rates: [{ input: '0.60', output: '3', cacheRead: '0.10' }] },
  },
  groq: {
    'openai/gpt-oss-120b': { maxOutput: 65_536, rates: [{ input: '0.15', output: '0.60', cacheRead: '0.075' }] },
    'openai/gpt-oss-20b': { maxOutput: 65_536, rates: [{ input: '0.075', output: '0.30', cacheRead: '0.0375' }] },
    'llama-3.3-70b-versatile': { maxOutput: 32_768, rates: [{ input: '0.59', output: '0.79' }] },
  },
};

function claude(input: string, output: string, cacheRead: string, cacheWrite: string, cacheWriteLong: string): Rates {
  return { input, output, cacheRead, cacheWrite, cacheWriteLong };
}

type Row = readonly [input: string, output: string, cacheRead?: string, cacheWrite?: string];

function gpt(row: Row, long?: Row): ModelPrice {
  const rates = ratesOf(row);
  return {
    maxOutput: 128_000,
    rates: [long === undefined ? rates : { ...rates, long: { above: OPENAI_LONG, ...ratesOf(long) } }],
  };
}

function ratesOf([input, output, cacheRead, cacheWrite]: Row): Rates {
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

/** Google's Flash models at half price until the end of 2026. */
function flash(): ModelPrice {
  return {
    maxOutput: 65_536,
    rates: [
      { input: '0.75', output: '3.75', cacheRead: '0.075' },
      { from: '2027-01-01', input: '1.50', output: '7.50', cacheRead: '0.15' },
    ],
  };
}

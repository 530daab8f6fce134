import type { LanguageModelV4 } from '@ai-sdk/provider';
import { closest, distance } from 'fastest-levenshtein';
import { TreadleError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { ModelRef } from '../../domain/agent.ts';
import {
  anthropicDialect,
  azureResponsesDialect,
  compatibleDialect,
  googleDialect,
  openaiChatDialect,
  openaiResponsesDialect,
  otherDialect,
  type Dialect,
} from './dialect.ts';
import { KEY_VARIABLES } from './keys.ts';
import { chatUrl, isLocal, LOCAL_SERVERS, localUrl, type Environment } from './local-servers.ts';

export type Fetch = typeof globalThis.fetch;

export interface ProviderContext {
  readonly environment: Environment;
  /** Instead of the platform's own. */
  readonly fetch?: Fetch | undefined;
  /** Imports a package that the user installed. */
  readonly importPackage: (name: string) => Promise<unknown>;
}

/** A provider's model, and what our adapter must know of it. */
export interface OpenedModel {
  readonly languageModel: LanguageModelV4;
  readonly dialect: Dialect;
  readonly url: string | undefined;
  readonly secrets: readonly string[];
}

type Opener = (ref: ModelRef, context: ProviderContext) => Promise<OpenedModel>;

/** Each package is loaded when a model of it is opened, and not before. */
const BUILT_IN: Readonly<Record<string, Opener>> = {
  async anthropic(ref, { environment, fetch }) {
    const apiKey = needKey(ref, environment, KEY_VARIABLES.anthropic);
    const url = baseUrl(ref) ?? environment['ANTHROPIC_BASE_URL'] ?? 'https://api.anthropic.com/v1';
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const provider = createAnthropic({ apiKey, baseURL: url, ...optional({ fetch }) });
    return { languageModel: provider(ref.model), dialect: anthropicDialect, url, secrets: [apiKey] };
  },
  async openai(ref, { environment, fetch }) {
    const apiKey = needKey(ref, environment, KEY_VARIABLES.openai);
    const url = baseUrl(ref) ?? environment['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1';
    const { createOpenAI } = await import('@ai-sdk/openai');
    const provider = createOpenAI({ apiKey, baseURL: url, ...optional({ fetch }) });
    const chat = ref.options?.['api'] === 'chat';
    return {
      languageModel: chat ? provider.chat(ref.model) : provider.responses(ref.model),
      dialect: chat ? openaiChatDialect : openaiResponsesDialect,
      url,
      secrets: [apiKey],
    };
  },
  async google(ref, { environment, fetch }) {
    const apiKey = needKey(ref, environment, KEY_VARIABLES.google);
    const url = baseUrl(ref) ?? 'https://generativelanguage.googleapis.com/v1beta';
    const { createGoogle } = await import('@ai-sdk/google');
    const provider = createGoogle({ apiKey, baseURL: url, ...optional({ fetch }) });
    return { languageModel: provider(ref.model), dialect: googleDialect, url, secrets: [apiKey] };
  },
  async 'openai-compatible'(ref, context) {
    const given = baseUrl(ref);
    const place = `model ${ref.provider}/${ref.model}`;
    if (given === undefined)
      throw new TreadleError('bundle_invalid', { place, wanted: 'base_url, where the server is' });
    return openCompatible(ref, chatUrl(given, undefined, place), undefined, context);
  },
};

/** Providers that need no package beyond ours. */
export const KNOWN_PROVIDERS: readonly string[] = [...Object.keys(BUILT_IN), ...Object.keys(LOCAL_SERVERS), 'scripted'];

/** Providers with a package `@ai-sdk/<name>`, for a hint to somebody who has not installed it. */
const PACKAGED = [
  ...['alibaba', 'amazon-bedrock', 'azure', 'cerebras', 'cohere', 'deepinfra', 'deepseek', 'fireworks', 'gateway'],
  ...['google-vertex', 'groq', 'huggingface', 'mistral', 'moonshotai', 'perplexity', 'togetherai', 'vercel', 'xai'],
];

/**
 * Opens the model of a reference.
 *
 * Throws `model_no_key` naming the variable, `model_unknown_provider` naming the nearest provider, or `bundle_invalid`.
 */
export async function openModel(ref: ModelRef, context: ProviderContext): Promise<OpenedModel> {
  const { provider } = ref;
  const builtIn = Object.hasOwn(BUILT_IN, provider) ? BUILT_IN[provider] : undefined;
  if (builtIn !== undefined) return builtIn(ref, context);
  if (isLocal(provider)) {
    const url = localUrl(provider, context.environment, ref.options);
    return openCompatible(ref, url, context.environment[LOCAL_SERVERS[provider].key], context);
  }
  return openPackage(ref, context);
}

async function openCompatible(
  ref: ModelRef,
  url: string,
  ownKey: string | undefined,
  { environment, fetch }: ProviderContext,
): Promise<OpenedModel> {
  const apiKey = ref.options?.['apiKeyEnv'] === undefined ? ownKey : needKey(ref, environment, []);
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: ref.provider,
    baseURL: url,
    includeUsage: true,
    supportsStructuredOutputs: ref.options?.['structuredOutputs'] === true,
    ...optional({ apiKey, fetch }),
  });
  return {
    languageModel: provider(ref.model),
    dialect: compatibleDialect(ref.provider, url),
    url,
    secrets: apiKey === undefined ? [] : [apiKey],
  };
}

// ── Packages the user installed ──────────────────────────────────────────────────────────────────────────────────

const PACKAGE_NAME = /^(@[a-z\d][\w.-]*\/)?[a-z\d][\w.-]*$/;

async function openPackage(
  ref: ModelRef,
  { environment, fetch, importPackage }: ProviderContext,
): Promise<OpenedModel> {
  const { provider } = ref;
  if (!PACKAGE_NAME.test(provider)) throw unknownProvider(provider);
  const module = await importFirst(provider, importPackage);
  const short = provider.replace(/^@ai-sdk\//, '');
  const variable = keyVariable(ref) ?? `${short.replaceAll(/[^a-z\d]+/gi, '_').toUpperCase()}_API_KEY`;
  // A package may take other credentials than a key, so a missing one is its own to complain about.
  const apiKey = keyVariable(ref) === undefined ? environment[variable] : needKey(ref, environment, [variable]);
  const create = factory(module, short);
  if (create === undefined) {
    throw new TreadleError('model_unknown_provider', {
      place: `package ${provider}`,
      wanted: 'a package that exports an AI SDK provider',
    });
  }
  const made: unknown = create({ ...optional({ apiKey, baseURL: baseUrl(ref), fetch }) });
  const languageModel = typeof made === 'function' ? (made as (model: string) => unknown)(ref.model) : undefined; // a provider is called with a model’s id
  if (!isLanguageModel(languageModel)) {
    throw new TreadleError('model_unknown_provider', {
      place: `package ${provider}`,
      wanted: 'language models of the AI SDK’s specification v4; update the package',
    });
  }
  const key = languageModel.provider.split('.')[0] ?? short;
  return {
    languageModel,
    dialect: languageModel.provider === 'azure.responses' ? azureResponsesDialect : otherDialect(key),
    url: baseUrl(ref),
    secrets: apiKey === undefined ? [] : [apiKey],
  };
}

async function importFirst(provider: string, importPackage: (name: string) => Promise<unknown>): Promise<unknown> {
  const names = provider.includes('/') ? [provider] : [`@ai-sdk/${provider}`, provider];
  for (const name of names) {
    try {
      return await importPackage(name);
    } catch (cause) {
      const missing =
        isObject(cause) && (cause['code'] === 'ERR_MODULE_NOT_FOUND' || cause['code'] === 'MODULE_NOT_FOUND');
      if (missing) continue;
      throw new TreadleError('model_unknown_provider', {
        place: `package ${name}`,
        found: cause instanceof Error ? cause.message : String(cause),
        wanted: 'a package that can be loaded',
        cause,
      });
    }
  }
  throw unknownProvider(provider);
}

type Create = (settings: Record<string, unknown>) => unknown;

/** `createGroq` of `@ai-sdk/groq`; where the name tells nothing, the first `create…` there is. */
function factory(module: unknown, name: string): Create | undefined {
  if (!isObject(module)) return undefined;
  const wanted = `create${name.replaceAll(/[^a-z\d]/gi, '')}`.toLowerCase();
  const creators = Object.keys(module).filter((key) => /^create[A-Z]/.test(key) && typeof module[key] === 'function');
  const key = creators.find((one) => one.toLowerCase() === wanted) ?? creators[0];
  return key === undefined ? undefined : (module[key] as Create); // a function, just looked
}

function isLanguageModel(value: unknown): value is LanguageModelV4 {
  return isObject(value) && value['specificationVersion'] === 'v4' && typeof value['doStream'] === 'function';
}

function unknownProvider(provider: string): TreadleError {
  if (PACKAGED.includes(provider)) {
    return new TreadleError('model_unknown_provider', {
      found: `"${provider}"`,
      hint: `its package is not installed: npm install @ai-sdk/${provider}`,
    });
  }
  const nearest = closest(provider, [...KNOWN_PROVIDERS, ...PACKAGED]);
  const near = distance(provider, nearest) <= 3;
  return new TreadleError('model_unknown_provider', {
    found: `"${provider}"`,
    wanted: `one of ${KNOWN_PROVIDERS.join(', ')}, or an installed AI SDK package`,
    hint: near ? `did you mean "${nearest}"?` : undefined,
  });
}

// ── Settings ─────────────────────────────────────────────────────────────────────────────────────────────────────

function baseUrl({ options }: ModelRef): string | undefined {
  const value = options?.['baseUrl'];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function keyVariable({ options }: ModelRef): string | undefined {
  const value = options?.['apiKeyEnv'];
  return typeof value === 'string' ? value : undefined;
}

/** The key, from the variable the model names or the provider's own. Throws `model_no_key` naming it. */
function needKey(ref: ModelRef, environment: Environment, own: readonly string[]): string {
  const named = keyVariable(ref);
  const variables = named === undefined ? own : [named];
  const key = variables.map((name) => environment[name]?.trim()).find((value) => value !== undefined && value !== '');
  if (key !== undefined) return key;
  throw new TreadleError('model_no_key', {
    place: `model ${ref.provider}/${ref.model}`,
    wanted: `the environment variable ${variables[0] ?? 'of its key'}`,
    hint: 'set it, or choose another model',
  });
}

/** The settings that are there: a package tells an absent one from one that is undefined. */
function optional<T extends object>(settings: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>; // only undefined was removed
  };
}

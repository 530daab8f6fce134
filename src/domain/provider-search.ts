import { isObject, type Json } from '../base/json.ts';
import type { ModelRef } from './agent.ts';
import type { Block, ModelRequest } from './model.ts';
import type { ToolDefinition } from './tool.ts';

/**
 * Models whose provider searches the web by itself while they answer. Older ones refuse the request, and Gemini before 3
 * takes the search in place of all other tools.
 */
const SEARCHES: Readonly<Record<string, RegExp>> = {
  anthropic: /^claude-(3-[57]|(opus|sonnet|haiku|fable|mythos)-)/,
  openai: /^(gpt-(4o|4\.1|[5-9])|o[3-9])/,
  google: /^gemini-([3-9]|\d{2})/,
};

/** Why the provider of a model makes no such search; undefined where it does. */
export function whyNoSearch(
  { provider, model, options }: Pick<ModelRef, 'provider' | 'model' | 'options'>,
  { sites = [], notSites = [] }: NonNullable<ToolDefinition['native']>,
): string | undefined {
  if (SEARCHES[provider]?.test(model) !== true) return 'has no search of its own';
  if (provider === 'openai' && options?.['api'] === 'chat') return 'has no search of its own in Chat Completions';
  if (provider === 'google' && sites.length + notSites.length > 0) return 'cannot hold its own search to sites';
  return undefined;
}

/** The search that the provider may make in this call: none where it has none, or where it may not be called. */
export function searchIn({
  model,
  tools,
  allowed,
}: Pick<ModelRequest, 'model' | 'tools' | 'allowed'>): Search | undefined {
  for (const { name, native } of tools) {
    if (native === undefined || allowed?.includes(name) === false) continue;
    if (whyNoSearch(model, native) === undefined) return { name, ...native };
  }
  return undefined;
}

export type Search = NonNullable<ToolDefinition['native']> & { readonly name: string };

/** What is declared to every provider as a function, which we carry out. */
export function ownTools(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  let own = owned.get(tools);
  if (own === undefined) {
    own = tools.some(({ native }) => native !== undefined) ? tools.filter(({ native }) => native === undefined) : tools;
    owned.set(tools, own);
  }
  return own;
}

const owned = new WeakMap<readonly ToolDefinition[], readonly ToolDefinition[]>();

/** One thing that a provider did on the web, as people read it. */
export interface ProviderAct {
  readonly arguments: Json;
  /** The same form as that of the tool `web_search`. */
  readonly results: readonly WebFind[];
  readonly failed?: string;
}

interface WebFind {
  /** Absent where the provider says the address alone. */
  readonly title?: string;
  readonly url: string;
  readonly published?: string;
}

/**
 * What a provider searched and opened while it answered. What an answer cites and no search has told of belongs to the last
 * of them; a provider that tells of sources alone has searched once.
 */
export function providerActs(content: readonly Block[]): readonly ProviderAct[] {
  const acts = new Map<string, ProviderAct>();
  const cited = new Map<string, WebFind>();
  for (const { kind, role, call, data } of content.filter((one) => one.type === 'provider')) {
    if (!isObject(data)) continue;
    if (kind.endsWith('.source')) for (const find of findsIn([data])) cited.set(pageOf(find), find);
    if (call === undefined || !isSearch(data['name'])) continue;
    const { arguments: given } = acts.get(call) ?? { arguments: {} };
    if (role === 'call') acts.set(call, { arguments: data['input'] ?? given, results: [] });
    else if (role === 'result') acts.set(call, resultOf(data['result'] ?? null, given, data['failed'] === true));
  }
  const told = [...acts.values()];
  const known = new Set(told.flatMap(({ results }) => results).map(pageOf));
  const untold = [...cited.values()].filter((find) => !known.has(pageOf(find)));
  if (told.length === 0 && untold.length > 0) return [{ arguments: {}, results: untold }];
  const titled = (find: WebFind): WebFind => ({ ...cited.get(pageOf(find)), ...find });
  return told.map((act, index) => ({
    ...act,
    results: [...act.results.map(titled), ...(index === told.length - 1 ? untold : [])],
  }));
}

/** OpenAI marks the addresses that it cites as its own recommendation. */
function pageOf({ url }: WebFind): string {
  return url.replace(/[?&]utm_source=openai$/, '');
}

function isSearch(name: Json | undefined): boolean {
  return typeof name === 'string' && /^(server:)?(web_search|google_search)/i.test(name);
}

function resultOf(result: Json, given: Json, hasFailed: boolean): ProviderAct {
  if (hasFailed) {
    const code = isObject(result) ? result['errorCode'] : undefined;
    return { arguments: given, results: [], failed: typeof code === 'string' ? code : 'its provider says no more' };
  }
  if (isList(result)) return { arguments: given, results: findsIn(result) };
  const { action = null, sources = null }: Readonly<Record<string, Json>> = isObject(result) ? result : {};
  const isUnsaid = isObject(given) && Object.keys(given).length === 0;
  return {
    arguments: isUnsaid && action !== null ? action : given,
    results: isList(sources) ? findsIn(sources) : findsIn([action]),
  };
}

function findsIn(list: readonly Json[]): WebFind[] {
  return list.flatMap((one) => {
    if (!isObject(one) || typeof one['url'] !== 'string') return [];
    const { url, title, pageAge } = one;
    return [
      {
        url,
        ...(typeof title === 'string' && title !== '' && { title }),
        ...(typeof pageAge === 'string' && { published: pageAge }),
      },
    ];
  });
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { isObject } from '../../base/json.ts';
import type { AssistantBlock, Message, ModelRequest } from '../../domain/model.ts';
import { searchIn } from '../../domain/provider-search.ts';
import type { Dialect } from './dialect.ts';

/**
 * The transcript without earlier searches of the provider, where it may not search any more: Anthropic refuses what was
 * done with a tool that it is not told of. OpenAI and Google want back what belongs to their thoughts.
 */
export function stillSearching(request: ModelRequest, { key, webSearch }: Dialect): readonly Message[] {
  if (key !== 'anthropic' || webSearch === undefined || searchIn(request) !== undefined) return request.messages;
  const isSearch = (one: AssistantBlock): boolean =>
    one.type === 'provider' && isObject(one.data) && one.call !== undefined && one.data['name'] === webSearch.name;
  const last = request.messages.length - 1; // what is under way there is continued
  return request.messages.map((message, index) =>
    index < last && message.role === 'assistant' && message.content.some(isSearch)
      ? { ...message, content: message.content.filter((one) => !isSearch(one)) }
      : message,
  );
}

/** Counts what a provider searched by itself, in the parts of one answer: each such search is billed. */
export class SearchCount {
  #called = 0;
  #grounded = 0;

  /** A result of the provider's own tool. OpenAI opens pages by the same tool, for which it bills nothing. */
  result(name: string, result: unknown): void {
    if (!/^(web_search|server:google_search)/i.test(name)) return;
    const action = isObject(result) ? result['action'] : undefined;
    if (!isObject(action) || action['type'] === 'search') this.#called++;
  }

  /** What Google says with its answer: the queries that it has made. */
  grounding(metadata: unknown): void {
    const google = isObject(metadata) ? metadata['google'] : undefined;
    const grounding = isObject(google) ? google['groundingMetadata'] : undefined;
    const queries = isObject(grounding) ? grounding['webSearchQueries'] : undefined;
    if (Array.isArray(queries)) this.#grounded = queries.length;
  }

  /** The provider's own figure counts before ours. Undefined: it did not search. */
  of({ raw }: LanguageModelV4Usage): number | undefined {
    const used = isObject(raw) ? raw['server_tool_use'] : undefined;
    const billed = isObject(used) ? used['web_search_requests'] : undefined;
    const count = typeof billed === 'number' ? billed : this.#grounded || this.#called;
    return count === 0 ? undefined : count;
  }
}

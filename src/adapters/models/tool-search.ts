import { isObject, type Json } from '../../base/json.ts';
import { promptTools } from '../../domain/deferred.ts';
import type { AssistantBlock, ModelRequest } from '../../domain/model.ts';
import type { Dialect } from './dialect.ts';

const NOTHING: ReadonlySet<string> = new Set();

/** Names of the tools that the provider searches in this request. */
export function searchedNames({ tools }: ModelRequest): ReadonlySet<string> {
  if (promptTools(tools).length === tools.length) return NOTHING;
  return new Set(tools.filter(({ deferred }) => deferred === true).map(({ name }) => name));
}

/**
 * What an earlier search of the provider found, less what this request does not have: a provider refuses a reference to a
 * tool that it is not given. Where nothing is searched any more, the search has no place either.
 */
export function stillSearched(
  block: AssistantBlock,
  { key, search }: Dialect,
  searched: ReadonlySet<string>,
): AssistantBlock | undefined {
  if (block.type !== 'provider' || search === undefined || !block.kind.startsWith(`${key}.`)) return block;
  const { data, role } = block;
  if (!isObject(data) || data['name'] !== search.name) return block;
  if (searched.size === 0) return undefined;
  if (role !== 'result' || data['result'] === undefined) return block;
  return { ...block, data: { ...data, result: less(data['result'], searched) } };
}

/** Anthropic hands out references, OpenAI an object with the definitions. */
function less(result: Json, searched: ReadonlySet<string>): Json {
  const kept = (list: readonly Json[]): Json => list.filter((one) => isIn(one, searched));
  if (isList(result)) return kept(result);
  const tools = isObject(result) ? result['tools'] : undefined;
  return isObject(result) && tools !== undefined && isList(tools) ? { ...result, tools: kept(tools) } : result;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isIn(found: Json, searched: ReadonlySet<string>): boolean {
  if (!isObject(found)) return true;
  const name = found['toolName'] ?? found['name'];
  return typeof name !== 'string' || searched.has(name);
}

import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { isObject } from '../../base/json.ts';
import type { Usage } from '../../domain/usage.ts';

/**
 * Usage in parts that never overlap, absent where the provider did not report them.
 *
 * The packages fill what is missing with zero, so the provider's own figures (`raw`) say whether a zero was reported.
 */
export function billedUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage {
  const figures = new Map<string, number>();
  collect(raw, figures);
  const usage: Usage = {};
  const put = (name: keyof Usage, value: number | undefined, reported: boolean): void => {
    if (value !== undefined && (value > 0 || reported || raw === undefined)) usage[name] = value;
  };
  // DeepSeek and Moonshot have names of their own, which the Chat Completions package does not read.
  const foreign =
    inputTokens.cacheRead === 0 ? first(figures, ['prompt_cache_hit_tokens', 'cached_tokens']) : undefined;
  const cacheRead = foreign ?? inputTokens.cacheRead;
  put('cacheRead', cacheRead, mentions(figures, /cache.?(read|hit)|cached/i));

  const long = figures.get('ephemeral_1h_input_tokens') ?? 0;
  const cacheWrite = inputTokens.cacheWrite === undefined ? undefined : inputTokens.cacheWrite - long;
  put('cacheWrite', cacheWrite, mentions(figures, /cache_creation|cache.?write/i));
  if (long > 0) usage.cacheWriteLong = long;

  const { total } = inputTokens;
  const fresh = foreign === undefined ? inputTokens.noCache : undefined;
  put('input', fresh ?? (total === undefined ? undefined : total - (cacheRead ?? 0) - (cacheWrite ?? 0) - long), true);

  const reasoning = outputTokens.reasoning;
  put('reasoning', reasoning, mentions(figures, /reasoning|thinking|thought/i));
  const separate = reasoningIsExtra(figures);
  const text = outputTokens.text ?? minus(outputTokens.total, reasoning);
  put('output', separate ? outputTokens.total : text, true);
  return usage;
}

/** xAI counts thinking beside the completion instead of within it; its total tells. */
function reasoningIsExtra(figures: ReadonlyMap<string, number>): boolean {
  const [prompt, completion, total] = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map((name) =>
    figures.get(name),
  );
  const reasoning = figures.get('reasoning_tokens') ?? 0;
  if (prompt === undefined || completion === undefined || total === undefined || reasoning === 0) return false;
  return total === prompt + completion + reasoning;
}

function minus(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined ? undefined : total - (part ?? 0);
}

/** Every number of a provider's usage by its name, however deep. */
function collect(value: unknown, into: Map<string, number>): void {
  if (!isObject(value)) return;
  for (const [name, item] of Object.entries(value)) {
    if (typeof item === 'number' && !into.has(name)) into.set(name, item);
    else collect(item, into);
  }
}

function mentions(figures: ReadonlyMap<string, number>, name: RegExp): boolean {
  for (const known of figures.keys()) if (name.test(known)) return true;
  return false;
}

function first(figures: ReadonlyMap<string, number>, names: readonly string[]): number | undefined {
  return names.map((name) => figures.get(name)).find((value) => value !== undefined && value > 0);
}

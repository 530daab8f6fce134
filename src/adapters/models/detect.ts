import { isObject } from '../../base/json.ts';
import type { ModelRef } from '../../domain/agent.ts';
import { DEFAULT_MODELS } from './default-models.ts';
import { KEY_VARIABLES } from './keys.ts';
import { LOCAL_SERVERS, localUrl, type Environment, type LocalName } from './local-servers.ts';
import type { Fetch } from './providers.ts';

export interface DetectOptions {
  /** How long a local server may take to answer. */
  readonly timeoutMs?: number;
  readonly fetch?: Fetch;
}

/**
 * Which real model could be used right now, without a choice of anybody: that of the first provider whose key is set,
 * else the first chat model of a local server that answers. All servers are asked at once; none is started.
 */
export async function detect(
  environment: Environment,
  { timeoutMs = 300, fetch = globalThis.fetch }: DetectOptions = {},
): Promise<ModelRef | undefined> {
  for (const [provider, model] of Object.entries(DEFAULT_MODELS)) {
    const variables: readonly string[] = KEY_VARIABLES[provider as keyof typeof DEFAULT_MODELS]; // its own keys
    if (variables.some((name) => (environment[name] ?? '').trim() !== '')) return { provider, model };
  }
  const names = Object.keys(LOCAL_SERVERS) as LocalName[]; // its own keys
  const found = await Promise.all(names.map((name) => firstModel(name, environment, timeoutMs, fetch)));
  return found.find((ref) => ref !== undefined);
}

/** What a server may list besides models that talk. */
const NOT_CHAT = /embed|rerank|whisper|\btts\b|\bbge\b|\bclip\b|moderation|diffusion|\bflux\b/i;

async function firstModel(
  name: LocalName,
  environment: Environment,
  timeoutMs: number,
  fetch: Fetch,
): Promise<ModelRef | undefined> {
  try {
    const url = localUrl(name, environment, undefined);
    const key = environment[LOCAL_SERVERS[name].key];
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/models`, { headers, signal: AbortSignal.timeout(timeoutMs) });
    const body: unknown = response.ok ? await response.json() : undefined;
    // Many a server listens on 8000 or 8080: only one that lists models is one of ours.
    const listed: readonly unknown[] = isObject(body) && Array.isArray(body['data']) ? body['data'] : [];
    const ids = listed.flatMap((one) => (isObject(one) && typeof one['id'] === 'string' ? [one['id']] : []));
    const model = ids.find((id) => !NOT_CHAT.test(id));
    return model === undefined ? undefined : { provider: name, model };
  } catch {
    return undefined; // nobody there, or nobody we know
  }
}

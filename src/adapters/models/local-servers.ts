import { TreadleError } from '../../base/errors.ts';
import type { ModelRef } from '../../domain/agent.ts';

/** Variables by name, handed in: an adapter reads no environment of its own. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface LocalServer {
  readonly port: number;
  /** The variable that says where it is instead. */
  readonly variable: string;
  /** The variable of a key, for servers that were started with one. */
  readonly key: string;
}

/** Model servers that people run themselves, on the ports they listen on by default. */
export const LOCAL_SERVERS = {
  ollama: { port: 11434, variable: 'OLLAMA_HOST', key: 'OLLAMA_API_KEY' },
  lmstudio: { port: 1234, variable: 'LMSTUDIO_BASE_URL', key: 'LMSTUDIO_API_KEY' },
  llamacpp: { port: 8080, variable: 'LLAMACPP_BASE_URL', key: 'LLAMACPP_API_KEY' },
  vllm: { port: 8000, variable: 'VLLM_BASE_URL', key: 'VLLM_API_KEY' },
} as const satisfies Readonly<Record<string, LocalServer>>;

export type LocalName = keyof typeof LOCAL_SERVERS;

export function isLocal(name: string): name is LocalName {
  return Object.hasOwn(LOCAL_SERVERS, name);
}

/** Where a local server's Chat Completions API is: the model's `baseUrl`, the variable, or this machine. */
export function localUrl(name: LocalName, environment: Environment, options: ModelRef['options']): string {
  const { port, variable } = LOCAL_SERVERS[name];
  const given = options?.['baseUrl'];
  const text = typeof given === 'string' ? given : (environment[variable] ?? '');
  return chatUrl(text.trim() === '' ? `http://127.0.0.1:${port}` : text.trim(), port, variable);
}

/**
 * A base URL as people write it: `http://host`, `host:port`, `:port` or `0.0.0.0`, with `/v1` added where there is no
 * path. Throws `bundle_invalid` naming `place`.
 */
export function chatUrl(text: string, port: number | undefined, place: string): string {
  const withScheme = /^https?:\/\//i.test(text) ? text : `http://${text.startsWith(':') ? '127.0.0.1' : ''}${text}`;
  if (!URL.canParse(withScheme)) {
    throw new TreadleError('bundle_invalid', { place, found: text, wanted: 'a URL such as http://127.0.0.1:11434' });
  }
  const url = new URL(withScheme);
  // An address to listen on, not to call.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  // A URL says its port by its scheme; a bare host means the server's usual one. `URL` drops a port that is its scheme's.
  const isBare = withScheme !== text && !/:\d+(\/|$)/.test(text);
  if (isBare && port !== undefined) url.port = String(port);
  return `${url.origin}${url.pathname === '/' ? '/v1' : url.pathname.replace(/\/+$/, '')}${url.search}`;
}

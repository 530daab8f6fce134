import { readJson } from '../json.ts';
import { currentKey } from './key.ts';

/** What the server refused, in its own words. Status 0: it was not reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, detail: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** Makes a mutation safe to send twice. */
  readonly key?: string;
  readonly signal?: AbortSignal | undefined;
  /** It is sent also when the page goes away meanwhile. */
  readonly keepalive?: boolean;
}

/** Sends a request and gives the response. Throws `ApiError` for anything but success. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', query = {}, body, key, signal, keepalive = false } = options;
  const url = new URL(`/api/v1${path}`, location.origin);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const headers = new Headers({ accept: 'application/json' });
  const credential = currentKey();
  if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (key !== undefined) headers.set('idempotency-key', key);
  let response: Response;
  try {
    const request: RequestInit = { method, headers, signal: signal ?? null, keepalive };
    if (body !== undefined) request.body = JSON.stringify(body);
    response = await fetch(url, request);
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ApiError(0, 'unreachable', 'The server cannot be reached.');
  }
  if (response.ok) return response;
  throw await refusal(response);
}

/** The same, read as JSON. The server is ours, and its replies are typed by its own description. */
export async function call<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await send(path, options);
  return (response.status === 204 ? undefined : await response.json()) as T; // see above
}

async function refusal(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { error } = readJson(text) as { error?: { code?: string; message?: string } }; // looked at field by field
    if (typeof error?.code === 'string')
      return new ApiError(response.status, error.code, error.message ?? error.code, error);
  } catch {
    // A proxy's page, perhaps: its status says enough.
  }
  return new ApiError(response.status, 'unexpected', `The server answered with ${response.status}.`);
}

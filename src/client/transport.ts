import { withQuery, type Query } from './address.ts';
import { ClientError } from './client-error.ts';
import { readRefusal, readReply } from './reply.ts';
import { elapsed, reasonOf, sleep } from './wait.ts';

/** The `fetch` of the platform, or one that behaves like it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly base: string;
  readonly key: string | undefined;
  readonly fetch: Fetch;
  /** For one request, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** For one call with all its retries. */
  readonly deadlineMs: number;
  /** A number from 0 to 1 that spreads retries. */
  readonly fraction: () => number;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** From the base on, with a slash before it. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Of a change: one key for one logical call, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** In a browser: it is sent also when the page goes away meanwhile. */
  readonly keepalive?: boolean | undefined;
}

export interface Transport {
  /** Sends a call until it succeeds, is refused, or time is up. Gives the body. */
  send(call: Call): Promise<unknown>;
  /** Opens a stream of server-sent events. Not retried: the reader knows where to go on. */
  open(path: string, query: Query, signal: AbortSignal): Promise<Response>;
}

const MOST_REDIRECTS = 5;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 15_000;

export function createTransport(options: TransportOptions): Transport {
  const { base, key, requestTimeoutMs, deadlineMs, fraction } = options;

  function headersOf(call: Call, accept: string): Record<string, string> {
    return {
      accept,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
      ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
    };
  }

  /** Follows redirects of reads, within the server: the key goes nowhere else, and a change is sent once. */
  async function exchange(call: Call, accept: string, signal: AbortSignal): Promise<Response> {
    let url = base + withQuery(call.path, call.query);
    for (let redirects = 0; ; redirects++) {
      const response = await options.fetch(url, {
        method: call.method,
        headers: headersOf(call, accept),
        redirect: 'manual',
        signal,
        ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
        ...(call.keepalive === true && { keepalive: true }),
      });
      // 0 is a redirect that a browser hides.
      const { status } = response;
      if (status !== 0 && (status < 300 || status > 399 || status === 304)) return response;
      await response.body?.cancel();
      const location = response.headers.get('location');
      const next = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
      const isSafe = call.method === 'GET' && redirects < MOST_REDIRECTS && next?.origin === new URL(base).origin;
      if (!isSafe)
        throw new ClientError('redirect_refused', 'The server sends the call elsewhere, where it is not sent.');
      url = next.href;
    }
  }

  async function once(call: Call): Promise<unknown> {
    const timeout = AbortSignal.timeout(requestTimeoutMs);
    const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]);
    try {
      return await readReply(await exchange(call, 'application/json', signal));
    } catch (error) {
      if (error instanceof ClientError) throw error;
      if (call.signal?.aborted === true) throw reasonOf(call.signal);
      if (timeout.aborted)
        throw new ClientError('request_timeout', `No answer within ${requestTimeoutMs} ms.`, { retryable: true });
      const why = error instanceof Error ? (messageOf(error.cause) ?? error.message) : String(error);
      throw new ClientError('transport_error', `The server cannot be reached: ${why}`, {
        retryable: true,
        cause: error,
      });
    }
  }

  return {
    async send(call) {
      const until = elapsed() + deadlineMs;
      // Once a change may have been made, only the server's word on the same key can say that it was not.
      let mayBeDone = false;
      for (let attempt = 0; ; attempt++) {
        try {
          return await once(call);
        } catch (error) {
          if (!(error instanceof ClientError)) throw error;
          if (isUnclear(error)) mayBeDone = true;
          const pause = isRepeatable(error) && isOnce(call, error) ? pauseBefore(attempt, error, fraction()) : Infinity;
          if (elapsed() + pause < until) {
            await sleep(pause, call.signal);
            continue;
          }
          if (!mayBeDone || call.idempotencyKey === undefined || !isRepeatable(error))
            throw keyed(error, call.idempotencyKey);
          throw new ClientError(
            'outcome_unknown',
            `Whether the server has done it is not known. The same call with the key ${call.idempotencyKey} is done once: ${error.message}`,
            { status: error.status, idempotencyKey: call.idempotencyKey, retryable: true, cause: error },
          );
        }
      }
    },
    async open(path, query, signal) {
      const response = await exchange({ method: 'GET', path, query }, 'text/event-stream', signal);
      if (!response.ok) throw await readRefusal(response);
      return response;
    },
  };
}

/** Sending it again cannot make a second thing of it: a POST without a key must surely not have been done before. */
function isOnce({ method, idempotencyKey }: Call, error: ClientError): boolean {
  return method !== 'POST' || idempotencyKey !== undefined || !isUnclear(error);
}

/** The server may have done it. */
function isUnclear({ code, status }: ClientError): boolean {
  const isLost = code === 'transport_error' || code === 'request_timeout';
  const isGarbled = code === 'invalid_response' || code === 'response_too_large';
  return isLost || isGarbled || status >= 500 || code === 'idempotency_in_progress';
}

function isRepeatable({ code, status }: ClientError): boolean {
  if (code === 'transport_error' || code === 'request_timeout' || code === 'idempotency_in_progress') return true;
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

function pauseBefore(attempt: number, { retryAfter }: ClientError, fraction: number): number {
  if (retryAfter !== undefined) return retryAfter * 1_000;
  return Math.min(FIRST_RETRY_MS * 2 ** attempt, LONGEST_RETRY_MS) * (0.75 + fraction / 2);
}

function keyed(error: ClientError, idempotencyKey: string | undefined): ClientError {
  if (idempotencyKey === undefined) return error;
  const { code, message, status, retryable, retryAfter, field, details, cause } = error;
  return new ClientError(code, message, { status, retryable, retryAfter, field, details, cause, idempotencyKey });
}

function messageOf(cause: unknown): string | undefined {
  return cause instanceof Error && cause.message !== '' ? cause.message : undefined;
}

import { APICallError, AISDKError } from '@ai-sdk/provider';
import type { Instant } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import type { ModelFailure } from '../../domain/model.ts';
import { retryAfterMs } from '../net/retry-after.ts';

type FailureClass = ModelFailure['class'];

export interface FailureContext {
  /** `provider/model`. */
  readonly name: string;
  /** Where the model is, for the message of a server that does not answer. */
  readonly url: string | undefined;
  /** Never to appear in a message. */
  readonly secrets: readonly string[];
  readonly now: Instant;
}

/** What went wrong with a call, as data: whether to try again, try the next model, or tell a person. */
export function failureOf(error: unknown, context: FailureContext): ModelFailure {
  const found = look(error);
  const waitMs = found.headers === undefined ? undefined : retryAfter(found.headers, context.now);
  const failureClass = classOf(error, found);
  const unreachable = failureClass === 'network' && found.status === undefined && context.url !== undefined;
  const message = unreachable
    ? `No answer from ${publicUrl(context.url)}: ${found.cause ?? found.message}`
    : found.message;
  const { status } = found;
  const http = APICallError.isInstance(error) && status !== undefined ? ` (HTTP ${status})` : '';
  return {
    class: failureClass,
    message: clean(unreachable ? message : `${context.name}: ${message}${http}`, context.secrets),
    ...(status !== undefined && { status }),
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  };
}

interface Found {
  readonly message: string;
  readonly status: number | undefined;
  /** Everything the provider said about it, for words that are known. */
  readonly words: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** What the network said, at the bottom of the causes. */
  readonly cause: string | undefined;
  readonly codes: readonly string[];
}

/** An error may be an AI SDK error, an event of the stream, or whatever a server put into its body. */
function look(error: unknown): Found {
  const codes: string[] = [];
  let cause: string | undefined;
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') codes.push(at.code);
    codes.push(at.name);
    cause = at.message === '' ? cause : at.message;
  }
  const given = isObject(error) ? error : {};
  const body = typeof given['responseBody'] === 'string' ? given['responseBody'] : '';
  const status = [given['statusCode'], given['status'], given['code']].find((one): one is number => isStatus(one));
  const message = typeof given['message'] === 'string' ? given['message'] : '';
  const words = [message, given['type'], given['code'], body].filter((one) => typeof one === 'string').join(' ');
  return {
    // A proxy's error page is not a message for people.
    message:
      message === '' ? (typeof error === 'string' ? error : 'The provider reported an error.') : shorten(message),
    status: status ?? statusOfWords(words),
    words,
    headers: APICallError.isInstance(error) ? error.responseHeaders : undefined,
    cause: error instanceof Error && error.cause !== undefined ? cause : undefined,
    codes,
  };
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599;
}

/** Errors inside a stream carry the words of an HTTP status instead of the status. */
function statusOfWords(words: string): number | undefined {
  if (/overloaded_error|\bUNAVAILABLE\b/.test(words)) return 529;
  if (/rate_limit_error|rate_limit_exceeded|\bRESOURCE_EXHAUSTED\b/.test(words)) return 429;
  if (/authentication_error|\bUNAUTHENTICATED\b/.test(words)) return 401;
  if (/permission_error|\bPERMISSION_DENIED\b/.test(words)) return 403;
  return /\bapi_error\b|\bserver_error\b|\bINTERNAL\b/.test(words) ? 500 : undefined;
}

/** How servers say that the prompt does not fit, each in its own words. */
const TOO_LONG = [
  /prompt is too long/i, // Anthropic
  /request_too_large/, // Anthropic, 413
  /context[_ ]length[_ ]exceeded|exceeds the context window/i, // OpenAI
  /maximum context length/i, // OpenAI, vLLM, OpenRouter, Mistral
  /input token count.*exceeds the maximum/i, // Google
  /maximum prompt length is/i, // xAI
  /reduce the length of the messages/i, // Groq
  /exceed(s|ed)? the available context size|exceed_context_size/i, // llama.cpp
  /greater than the context length|context size has been exceeded/i, // LM Studio
  /exceeded max context length|input length exceeds/i, // Ollama
  /exceeded model token limit/i, // Moonshot
  /context window exceeds limit/i, // MiniMax
  /input is too long/i, // Bedrock
];

/** A bill that is not paid does not go away by waiting. */
const UNPAID = /insufficient_quota|credit balance is too low|billing_hard_limit/i;

function classOf(error: unknown, { status, words, codes }: Found): FailureClass {
  if (codes.includes('AbortError')) return 'aborted';
  if (codes.some((code) => /^TimeoutError$|TIMEDOUT|_TIMEOUT$/.test(code))) return 'timeout';
  if (status !== undefined && status >= 300) return classOfStatus(status, words);
  if (codes.includes('AI_LoadAPIKeyError')) return 'auth';
  if (codes.some((code) => /^AI_(Unsupported|Invalid(Prompt|Argument))/.test(code))) return 'bad_request';
  if (codes.some((code) => NETWORK_CODES.test(code)) || /fetch failed|terminated|^Cannot connect/.test(words))
    return 'network';
  if (TOO_LONG.some((pattern) => pattern.test(words))) return 'context_length';
  // A 200 that cannot be read, and events that are not what they should be.
  if (
    codes.some((code) =>
      /^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|APICall)Error$/.test(code),
    )
  ) {
    return 'protocol';
  }
  if (error instanceof Error && !AISDKError.isInstance(error)) return 'protocol';
  return 'unknown';
}

const NETWORK_CODES =
  /^(ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_SOCKET|CERT_|ERR_TLS|ERR_SSL)/;

function classOfStatus(status: number, words: string): FailureClass {
  if (status === 413 || ((status === 400 || status === 422 || status === 500) && isTooLong(words)))
    return 'context_length';
  if (status === 401 || status === 403 || UNPAID.test(words)) return 'auth';
  if (status === 404) return 'not_found';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 429) return 'rate_limit';
  if (status === 503 || status === 529) return 'overloaded';
  if (status >= 500) return 'server';
  // Google answers a wrong key with 400.
  if (status === 400 && /api key not valid|API_KEY_INVALID/i.test(words)) return 'auth';
  return status >= 400 ? 'bad_request' : 'protocol';
}

function isTooLong(words: string): boolean {
  return TOO_LONG.some((pattern) => pattern.test(words));
}

/** Retry-After in seconds or as a date; OpenAI and Anthropic also send milliseconds. */
function retryAfter(headers: Readonly<Record<string, string>>, now: Instant): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  return retryAfterMs(headers['retry-after'], now);
}

const MESSAGE_MAX = 500;

function shorten(text: string): string {
  return text.length <= MESSAGE_MAX ? text : `${text.slice(0, MESSAGE_MAX).toWellFormed()}…`;
}

/** Keys in the shapes that providers give them, for the ones that come back in a message half hidden or from elsewhere. */
const KEY_SHAPES = /\b(sk|xai|gsk|pk|rk)-[\w*.-]{6,}|\bAIza[\w-]{10,}|\bBearer\s+[\w.~+/-]{6,}=*/g;

function clean(message: string, secrets: readonly string[]): string {
  let text = message;
  for (const secret of secrets) if (secret.length >= 4) text = text.replaceAll(secret, '[redacted]');
  return text.replaceAll(KEY_SHAPES, '[redacted]').toWellFormed();
}

/** Scheme, host and path: a query may hold a key. */
export function publicUrl(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return 'the server';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname === '/' ? '' : pathname}`;
}

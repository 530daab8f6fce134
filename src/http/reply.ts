import type { HttpContext } from './context.ts';
import type { Refusal } from './refusal.ts';
import { RETRYABLE, type ErrorReply } from './wire.ts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** What pages of other sites may send and read, where they are let in at all. */
export const CORS_HEADERS = {
  allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'],
  allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'X-Request-Id'],
  exposeHeaders: ['Idempotency-Replayed', 'Retry-After', 'X-Request-Id'],
};

/** Nothing here is for a frame, a cache, or a guess at its type. A page that needs more says so itself. */
export function setSafeHeaders(context: HttpContext): void {
  context.header('X-Request-Id', context.get('requestId'));
  context.header('X-Content-Type-Options', 'nosniff');
  context.header('Cache-Control', 'no-store');
  context.header('Referrer-Policy', 'no-referrer');
  context.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
}

export function errorBody({ code, message, detail }: Refusal, requestId: string): ErrorReply {
  const { retryAfter, field, details } = detail;
  return {
    error: {
      code,
      message,
      retryable: RETRYABLE.has(code),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(field === undefined ? {} : { field }),
      ...(details === undefined ? {} : { details }),
      requestId,
    },
  };
}

export function answerRefusal(context: HttpContext, refusal: Refusal): Response {
  const { retryAfter, headers } = refusal.detail;
  if (retryAfter !== undefined) context.header('Retry-After', String(retryAfter));
  if (refusal.status === 401) context.header('WWW-Authenticate', 'Bearer');
  for (const [name, value] of Object.entries(headers ?? {})) context.header(name, value);
  return context.json(errorBody(refusal, context.get('requestId')), refusal.status as ContentfulStatusCode); // of the table, all of which have a body
}

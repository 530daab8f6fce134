/** What else the server said about a refusal. */
export interface ClientErrorDetail {
  /** HTTP status; 0 where no status describes it: never reached, an unsafe redirect, an answer that makes no sense. */
  readonly status?: number;
  /** The key of the call. The same call sent again with it is done once, whatever became of the first one. */
  readonly idempotencyKey?: string | undefined;
  /** The same call may succeed later. */
  readonly retryable?: boolean;
  /** Seconds to wait before that. */
  readonly retryAfter?: number | undefined;
  /** The part of the body or query that is wrong. */
  readonly field?: string | undefined;
  /** More of it, by code: the price of a change, all that is wrong with a bundle. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/**
 * A call that came to nothing. Branch on `code`, never on the message.
 *
 * The codes are the server's, and these of the client: `outcome_unknown` (a change may or may not have been made: send
 * it again with `idempotencyKey`), `transport_error`, `request_timeout`, `invalid_response`, `response_too_large`,
 * `redirect_refused`, `not_modified`, `api_error` (an error without a code), `invalid_option`, `run_awaiting_input` and
 * `run_timeout` (nothing happened for so long; the run goes on), `already_reading`.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: string;
  readonly status: number;
  readonly idempotencyKey: string | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly field: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: string, message: string, detail: ClientErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.status = detail.status ?? 0;
    this.idempotencyKey = detail.idempotencyKey;
    this.retryable = detail.retryable ?? false;
    this.retryAfter = detail.retryAfter;
    this.field = detail.field;
    this.details = detail.details;
  }
}

import { TreadleError, type ErrorCode } from '../base/errors.ts';
import { WIRE_ERRORS, type WireErrorCode } from './wire.ts';

export interface RefusalDetail {
  readonly field?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  /** What a program may want to know, besides the code. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Instead of the code's own: 400 or 422, for what is wrong with a body. */
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/** A request that is answered with an error. The message may be read by anybody: it holds no path and no secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: WireErrorCode;
  readonly status: number;
  readonly detail: RefusalDetail;

  constructor(code: WireErrorCode, message?: string, detail: RefusalDetail = {}) {
    super(message ?? WIRE_ERRORS[code].about, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.status = detail.status ?? WIRE_ERRORS[code].status;
    this.detail = detail;
  }
}

/** Codes of the house that the wire has another word for. */
const OTHER_WORDS: Partial<Record<ErrorCode, WireErrorCode>> = {
  run_unknown: 'not_found',
  conversation_unknown: 'not_found',
  note_unknown: 'not_found',
  conversation_busy: 'run_active',
  json_invalid: 'invalid_request',
  log_version: 'log_unavailable',
  log_fenced: 'log_unavailable',
};

/** Whatever was thrown, as the reply to it. What nobody expected tells nothing of itself. */
export function refusalOf(problem: unknown): Refusal {
  if (problem instanceof Refusal) return problem;
  if (!TreadleError.is(problem)) return new Refusal('internal_error', undefined, { cause: problem });
  const word = OTHER_WORDS[problem.code] ?? problem.code;
  if (!isWireCode(word)) return new Refusal('internal_error', undefined, { cause: problem });
  const { status } = WIRE_ERRORS[word];
  if (status >= 500) {
    const retryAfter = word === 'log_locked' ? 1 : undefined;
    return new Refusal(word, undefined, { cause: problem, retryAfter }); // its own words would name a file
  }
  const field = status === 400 || status === 422 ? problem.detail.place : undefined;
  const { data: details } = problem.detail;
  const retryAfterMs = details?.['retryAfterMs'];
  const retryAfter = typeof retryAfterMs === 'number' ? Math.ceil(retryAfterMs / 1000) : undefined;
  const words = word === 'not_found' ? undefined : wordsOf(problem);
  return new Refusal(word, words, { field, details, retryAfter, cause: problem });
}

function wordsOf({ detail: { found, wanted, hint } }: TreadleError): string | undefined {
  const parts = [found && `found ${found}`, wanted && `wanted ${wanted}`].filter((part) => part !== undefined);
  if (parts.length === 0) return hint;
  return `${parts.join(', ')}${hint === undefined ? '' : `; ${hint}`}`;
}

function isWireCode(code: string): code is WireErrorCode {
  return Object.hasOwn(WIRE_ERRORS, code);
}

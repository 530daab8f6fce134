import { z } from 'zod';

/**
 * Every code that a reply of the server may carry, with its status. A code never changes its meaning and is never reused.
 *
 * A client branches on the code, never on the message.
 */
export const WIRE_ERRORS = {
  invalid_request: {
    status: 400,
    about: 'The request is malformed: `field` says where. 422 for a body that is JSON and does not fit.',
  },
  invalid_cursor: { status: 400, about: 'The cursor is malformed, was altered, or belongs to something else.' },
  invalid_idempotency_key: { status: 400, about: 'The key is not 1 to 160 of `A-Za-z0-9._:-`.' },
  nothing_pending: { status: 400, about: 'No approval is open.' },
  answer_invalid: { status: 400, about: 'An answer does not fit what was asked; the request stays open.' },
  invalid_token: { status: 401, about: 'No usable key: absent, ill-formed, unknown, revoked or out of date.' },
  insufficient_scope: { status: 403, about: 'The key lacks the scope. Do not retry.' },
  compute_forbidden: { status: 403, about: 'The key is for a sandbox, and no run is any of its business.' },
  host_refused: { status: 403, about: 'Without keys, the server answers to this machine under its own names only.' },
  origin_refused: { status: 403, about: 'A page of another site sent this, and the server has no keys to tell it by.' },
  sign_in_invalid: { status: 400, about: 'The sign-in was not begun here, is over, or belongs to somebody else.' },
  account_unknown: { status: 404, about: 'There is no account of this name to connect.' },
  account_unmet: { status: 409, about: 'The account is not connected, or the sign-in was refused.' },
  account_unavailable: { status: 503, about: 'The authorization server or the store of accounts cannot be reached.' },
  not_found: { status: 404, about: 'It does not exist or is not yours; the two are not told apart.' },
  request_unknown: { status: 404, about: 'The run has no approval or question with this id.' },
  prompt_unknown: { status: 404, about: 'The run has no model call with this number.' },
  ticket_unknown: { status: 404, about: 'The run does not wait for a computation with this ticket.' },
  event_source_unknown: {
    status: 404,
    about: 'The agent hears nothing from this service, or takes no events of it from outside.',
  },
  method_not_allowed: { status: 405, about: 'The path knows other methods: `Allow` lists them.' },
  ambiguous_request: { status: 409, about: 'Several approvals or questions are open: answer them by id.' },
  digest_mismatch: { status: 409, about: 'The answer is bound to something else than what is asked now.' },
  request_answered: { status: 409, about: 'Somebody else answered otherwise.' },
  request_withdrawn: { status: 409, about: 'The approval or question was taken back.' },
  nothing_to_resume: { status: 409, about: 'The run was neither stopped nor ended by a limit.' },
  run_active: { status: 409, about: 'The run is being driven at this moment. Stop it first.' },
  bundle_not_served: { status: 409, about: 'The run belongs to a bundle that this server does not serve.' },
  confirmation_required: {
    status: 409,
    about: 'The change would make a warm prompt cold. `details` has its price and what can be decided.',
  },
  selection_conflict: { status: 409, about: 'Somebody else changes the same choices all the time. Ask again.' },
  idempotency_conflict: { status: 409, about: 'The key was used for another request.' },
  idempotency_in_progress: { status: 409, about: 'The first request with this key is still at work. Ask again later.' },
  request_expired: { status: 410, about: 'The approval or question was not answered in time.' },
  body_too_large: { status: 413, about: 'The body is larger than the server takes.' },
  unsupported_media_type: { status: 415, about: 'A body has to be `application/json`.' },
  bundle_invalid: {
    status: 422,
    about: 'The text is no bundle that could be served here. `details.problems` has all that is wrong with it.',
  },
  image_refused: {
    status: 422,
    about: 'What the address leads to is not shown: it is no image, too large, not public, or not there.',
  },
  agent_unknown: { status: 422, about: 'No agent that is served has this name.' },
  input_invalid: { status: 422, about: 'A message is empty, too large or malformed.' },
  input_refused: { status: 422, about: 'A gate refused the message: `details.gate` says which.' },
  rate_limit_exceeded: { status: 429, about: 'Too many requests. `Retry-After` says how long to wait.' },
  cold_turns_exhausted: {
    status: 429,
    about: 'You have made warm prompts cold as often as the operator allows in an hour.',
  },
  headers_too_large: { status: 431, about: 'The headers are larger than the server takes.' },
  internal_error: { status: 500, about: 'A fault of the server. It is in its log under the request id.' },
  log_corrupt: { status: 500, about: 'The log holds data that cannot be read back.' },
  log_locked: { status: 503, about: 'The log is busy. Ask again.' },
  log_unavailable: { status: 503, about: 'The log cannot be reached.' },
  selection_unavailable: {
    status: 503,
    about: 'Choices cannot be read or written. Turns go on with what was last used.',
  },
  identity_unavailable: { status: 503, about: 'The keys of the identity provider cannot be fetched.' },
  shutting_down: { status: 503, about: 'The server is about to end. Another one, or the next, goes on.' },
  too_many_streams: { status: 503, about: 'The server follows as many runs as it can.' },
  package_missing: { status: 501, about: 'The server lacks a package that this takes. Its log says which.' },
  log_full: { status: 507, about: 'The log cannot grow: the disk is full or the file is read-only.' },
} as const satisfies Record<string, { readonly status: number; readonly about: string }>;

export type WireErrorCode = keyof typeof WIRE_ERRORS;

/** Asked again, unchanged, these may well succeed. */
export const RETRYABLE: ReadonlySet<WireErrorCode> = new Set([
  'idempotency_in_progress',
  'selection_conflict',
  'selection_unavailable',
  'rate_limit_exceeded',
  'log_locked',
  'log_unavailable',
  'identity_unavailable',
  'shutting_down',
  'too_many_streams',
]);

export const errorReply = z
  .object({
    error: z.object({
      code: z.string().meta({ description: 'One of the list in the documentation.' }),
      message: z.string().meta({ description: 'For people. It may change.' }),
      retryable: z.boolean().meta({ description: 'The same request may succeed later.' }),
      retryAfter: z.number().optional().meta({ description: 'Seconds to wait, as in `Retry-After`.' }),
      field: z.string().optional().meta({ description: 'The parameter or the path in the body that is wrong.' }),
      details: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({ description: 'What the code says there is to know.' }),
      requestId: z.string().meta({ description: 'As in `X-Request-Id`: what the server logs calls this request.' }),
    }),
  })
  .meta({ id: 'Error' });
export type ErrorReply = z.infer<typeof errorReply>;

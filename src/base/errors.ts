/**
 * Every code a caller, an operator or a client may meet. A code never changes its meaning and is never reused; the
 * sentence beside it is what `docs/errors.md` prints.
 */
export const ERROR_CODES = {
  json_invalid: 'Text that had to be JSON is not.',
  bundle_unreadable: 'A bundle or a file it names cannot be read.',
  bundle_yaml: 'A bundle is not well-formed YAML.',
  bundle_unknown_key: 'A bundle has a key that nothing reads.',
  bundle_invalid: 'A value in a bundle has the wrong type, shape or range.',
  bundle_not_supported: 'A bundle uses a capability that this version does not have yet.',
  bundle_unknown_name: 'A bundle names an agent, tool, model, role or plugin that does not exist.',
  bundle_env_missing: 'A bundle needs an environment variable that is not set.',
  bundle_conflict: 'Two parts of a bundle contradict each other.',
  tool_module: 'A tool module cannot be loaded or exports something that is not a tool.',
  tool_schema: 'A JSON Schema of a tool or a gate cannot be compiled.',
  service_document: 'The document of a service cannot be used.',
  plugin_config: 'A plugin was given a configuration it does not accept.',
  plugin_failed: 'A plugin failed while it was being set up.',
  package_missing: 'A package that only some use, and that this needs, is not installed.',
  model_unknown_provider: 'A model names a provider that Treadle does not know.',
  model_no_key: 'A model needs an API key that is not set.',
  model_unreachable: 'A model server does not answer.',
  script_invalid: 'A script for the scripted model is not well-formed.',
  log_locked: 'The log is locked by another process for longer than the wait allows.',
  log_corrupt: 'The log holds data that cannot be read back.',
  log_full: 'The log cannot grow: the disk is full or the file is read-only.',
  log_unavailable: 'The log cannot be opened or reached.',
  log_version: 'The log was written by a newer version of Treadle.',
  log_fenced: 'A worker tried to write after it lost its lease.',
  conversation_unknown: 'There is no conversation with this id.',
  conversation_busy: 'Another worker is driving this conversation.',
  request_unknown: 'There is no open approval or question with this id.',
  request_answered: 'The approval or question was answered, cancelled or has expired.',
  answer_invalid: 'An answer does not fit what was asked.',
  input_invalid: 'A message is empty, too large or malformed.',
  input_refused: 'A gate refused the message.',
  run_unknown: 'There is no run with this id, or it is not yours.',
  run_active: 'The run is being driven at this moment.',
  agent_unknown: 'No bundle that is served has an agent with this name.',
  bundle_not_served: 'The run belongs to a bundle that this process does not serve.',
  insufficient_scope: 'The key does not have the scope that this needs.',
  compute_forbidden: 'Code in a sandbox may not start, read or steer runs.',
  invalid_request: 'A parameter is unknown, malformed or out of range.',
  invalid_cursor: 'A cursor is malformed, was altered, or belongs to something else.',
  idempotency_conflict: 'The same idempotency key was used for another request.',
  request_expired: 'The approval or question was not answered in time.',
  request_withdrawn: 'The approval or question was taken back.',
  digest_mismatch: 'The answer is bound to something else than what is asked now.',
  ambiguous_request: 'Several approvals or questions are open and the answer does not say which it means.',
  nothing_pending: 'No approval is open.',
  nothing_to_resume: 'The run was neither stopped nor ended by a limit, so there is nothing to resume.',
  prompt_unknown: 'The run has no model call with this number.',
  ticket_unknown: 'The run does not wait for a computation with this ticket.',
  event_source_unknown: 'The agent hears nothing from this service, or takes no events of it from outside.',
  confirmation_required: 'A change would make a warm prompt cold, and nobody has decided that it may.',
  cold_turns_exhausted: 'The user has made warm prompts cold as often as the operator allows in an hour.',
  selection_unavailable: 'The choices of users cannot be read or written at the moment.',
  selection_conflict: 'Somebody else changes the same choices all the time.',
  note_unknown: 'There is no note with this id, or it is not yours.',
  account_unknown: 'There is no account of this name that users may connect.',
  account_unmet: 'The account is not connected, or has to be connected anew.',
  account_unavailable: 'The authorization server or the store of accounts cannot be reached at the moment.',
  sign_in_invalid: 'The sign-in was not begun here, is over, or belongs to somebody else.',
  export_invalid: 'What is to be imported is no export, was altered, or is not whole.',
  address_unavailable: 'The server cannot listen at this address.',
  budgets_invalid: 'A file of budgets cannot be read, or holds something that is not one.',
  suite_invalid: 'A suite of cases cannot be read, or holds something that is not one.',
  usage: 'The command line has an unknown option, a missing argument or a value out of range.',
  timeout: 'The work did not finish within the time it was given.',
} as const satisfies Record<string, string>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorDetail {
  /** Where: `agents/desk.yaml:14  agents.main.tools[2]`, a path, an option. */
  readonly place?: string | undefined;
  readonly found?: string | undefined;
  readonly wanted?: string | undefined;
  /** What to do about it, as a sentence without a full stop. */
  readonly hint?: string | undefined;
  /** The same for programs, where a sentence does not hold it. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('treadle.error');

/**
 * A mistake of a caller or an operator: a stable `code`, the place, what was found, what was wanted, what to do.
 *
 * Expected outcomes (a tool failed, a gate refused) are data in the log and never thrown.
 */
export class TreadleError extends Error {
  override readonly name = 'TreadleError';
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, detail: ErrorDetail = {}) {
    super(sentence(code, detail), detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.detail = detail;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for a TreadleError of any copy of this package: two versions may be installed side by side. */
  static is(value: unknown): value is TreadleError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

function sentence(code: ErrorCode, { place, found, wanted, hint }: ErrorDetail): string {
  let text = place === undefined ? '' : `${place}: `;
  if (found === undefined && wanted === undefined) text += ERROR_CODES[code].replace(/\.$/, '');
  else if (found === undefined) text += `wanted ${wanted ?? ''}`;
  else text += wanted === undefined ? `found ${found}` : `found ${found}, wanted ${wanted}`;
  return `${text}${hint === undefined ? '' : `; ${hint}`} (${code})`;
}

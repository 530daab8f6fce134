/** What a tool may say of a request: the part of the web's `RequestInit` that the guard can answer for. */
export interface GuardedFetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Names of headers that only the first host may see. `authorization` and `cookie` always are. */
  readonly secret?: readonly string[];
  /** Ends this one request. The tool's own signal always does. */
  readonly signal?: AbortSignal;
}

/**
 * Requests to the public internet and to what the bundle allows besides, for addresses that others may have chosen.
 *
 * The reply is the web's own, read to its end and no longer than the bundle allows; `url` is where it came from after
 * redirects. Rejects with a `FetchRefusal` where the guard says no, and with what the network says otherwise.
 */
export type GuardedFetch = (url: string | URL, init?: GuardedFetchInit) => Promise<Response>;

/** The guard said no. `sent`: to the answer, after the request had gone out. */
export class FetchRefusal extends Error {
  override readonly name = 'FetchRefusal';
  readonly code = 'refused';
  readonly sent: boolean;

  constructor(message: string, sent = false) {
    super(message);
    this.sent = sent;
  }
}

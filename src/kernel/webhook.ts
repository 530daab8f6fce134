import type { Clock } from '../base/clock.ts';

/** `gone`: nobody there will ever take anything again. */
export type Sent =
  | { readonly state: 'taken'; readonly status?: number | undefined }
  | { readonly state: 'gone'; readonly status?: number | undefined }
  /** `retryAfterMs`: what the endpoint asks to be left alone for. */
  | {
      readonly state: 'failed';
      readonly why: string;
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
    };

export interface WebhookOptions {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly allowHosts: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** An endpoint that takes signed messages. */
export interface Webhook {
  /** The same `id` for every attempt. Never rejects. */
  post(id: string, body: string): Promise<Sent>;
  close(): Promise<void>;
}

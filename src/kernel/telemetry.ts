import type { Instant } from '../base/clock.ts';

/** What a span or a figure is labelled with. Values that are undefined are left out. */
export type Labels = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A span as others can point to it, from any process: 32 and 16 hexadecimal digits. */
export interface SpanRef {
  readonly traceId: string;
  readonly spanId: string;
}

export interface SpanStart {
  readonly name: string;
  /** `client` for a call to something that runs elsewhere. */
  readonly kind: 'internal' | 'client';
  readonly at: Instant;
  readonly labels: Labels;
  /** The span it belongs to: one that is open here, or one that was named by agreement. */
  readonly parent: OpenSpan | SpanRef;
  readonly links?: readonly SpanRef[];
}

export interface OpenSpan {
  readonly ref: SpanRef;
  set(labels: Labels): void;
  event(name: string, at: Instant, labels?: Labels): void;
  /** `error` is a short word for what went wrong. */
  end(at: Instant, error?: { readonly type: string; readonly message?: string | undefined }): void;
}

/** A distribution that values are added to. Boundaries are upper bounds, in the unit. */
export interface Histogram {
  readonly name: string;
  readonly about: string;
  readonly unit: string;
  readonly boundaries: readonly number[];
}

/** Where spans and figures of a process go. Never throws. */
export interface Telemetry {
  start(span: SpanStart): OpenSpan;
  record(histogram: Histogram, value: number, labels: Labels): void;
}

import type { Instant } from '../../base/clock.ts';
import type { Histogram, Labels, OpenSpan, Telemetry } from '../../kernel/telemetry.ts';

/** A span that is open, and what its time is measured with. */
export interface Running {
  readonly span: OpenSpan;
  readonly at: Instant;
  readonly labels: Labels;
}

/** One slice of a turn, as this process drives it. */
export interface Slice extends Running {
  readonly agent: string;
  call: (Running & { endedAt?: Instant }) | undefined;
  plan: Running | undefined;
  memory: Running | undefined;
  readonly tools: Map<string, Running>;
}

/** The slice that an event belongs to; undefined when its turn is not driven here. */
export type SliceOf = (event: { readonly conversationId: string }) => Slice | undefined;

export function recordTime(
  telemetry: Telemetry,
  histogram: Histogram,
  from: Instant,
  to: Instant,
  labels: Labels,
): void {
  telemetry.record(histogram, Math.max(0, to - from) / 1000, labels);
}

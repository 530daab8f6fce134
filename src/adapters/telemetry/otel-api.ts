import {
  context,
  metrics,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Histogram as OtelHistogram,
  type MeterProvider,
  type Span,
  type TracerProvider,
} from '@opentelemetry/api';
import type { Histogram, Labels, OpenSpan, SpanRef, Telemetry } from '../../kernel/telemetry.ts';

export interface OtelTelemetryOptions {
  /** Instead of those that the program has registered. */
  readonly tracers?: TracerProvider | undefined;
  readonly meters?: MeterProvider | undefined;
}

const SCOPE = 'treadle';

/**
 * Spans and figures by the OpenTelemetry API. Where the program has registered no SDK they go nowhere and cost next to
 * nothing.
 */
export function createOtelTelemetry({ tracers, meters }: OtelTelemetryOptions = {}): Telemetry {
  const tracer = (tracers ?? trace).getTracer(SCOPE);
  const meter = (meters ?? metrics).getMeter(SCOPE);
  const histograms = new Map<string, OtelHistogram>();
  const contexts = new WeakMap<OpenSpan, Context>();

  function histogramOf({ name, about, unit, boundaries }: Histogram): OtelHistogram {
    let made = histograms.get(name);
    if (made === undefined) {
      const advice = { explicitBucketBoundaries: [...boundaries] };
      made = meter.createHistogram(name, { description: about, unit, advice });
      histograms.set(name, made);
    }
    return made;
  }

  function within(parent: OpenSpan | SpanRef): Context {
    const known = 'end' in parent ? contexts.get(parent) : undefined;
    if (known !== undefined) return known;
    const ref = 'end' in parent ? parent.ref : parent;
    return trace.setSpanContext(context.active(), { ...ref, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  }

  return {
    start({ name, kind, at, labels, parent, links = [] }) {
      const options = {
        kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        startTime: at,
        attributes: attributesOf(labels),
        links: links.map((ref) => ({ context: { ...ref, traceFlags: TraceFlags.SAMPLED, isRemote: true } })),
      };
      const inside = within(parent);
      const span = tracer.startSpan(name, options, inside);
      const open = openSpan(span);
      contexts.set(open, trace.setSpan(inside, span));
      return open;
    },
    record(histogram, value, labels) {
      histogramOf(histogram).record(value, attributesOf(labels));
    },
  };
}

function openSpan(span: Span): OpenSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    ref: { traceId, spanId },
    set(labels) {
      span.setAttributes(attributesOf(labels));
    },
    event(name, at, labels = {}) {
      span.addEvent(name, attributesOf(labels), at);
    },
    end(at, error) {
      if (error !== undefined) {
        span.setAttribute('error.type', error.type);
        span.setStatus({
          code: SpanStatusCode.ERROR,
          ...(error.message === undefined ? {} : { message: error.message }),
        });
      }
      span.end(at);
    },
  };
}

function attributesOf(labels: Labels): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(labels)) {
    if (value === undefined) continue;
    attributes[name] = typeof value === 'object' ? [...value] : value;
  }
  return attributes;
}

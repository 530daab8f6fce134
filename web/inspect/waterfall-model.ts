import type { WireEntry } from '../api/types.ts';
import { dataOf } from '../state/entries.ts';

export type SpanKind = 'call' | 'failed' | 'action' | 'below' | 'outside' | 'wait';

/** Something that took time. Milliseconds since 1970. */
export interface Span {
  readonly id: string;
  readonly kind: SpanKind;
  readonly label: string;
  /** The label is the name of a tool. */
  readonly isName: boolean;
  readonly detail: string;
  readonly from: number;
  /** Undefined while it goes on. */
  readonly to: number | undefined;
  /** Number of the model call that it belongs to, where it says. */
  readonly iteration: number | undefined;
  readonly isBad: boolean;
  /** The action that the log knows it by. */
  readonly action?: string;
  /** The run below that it waits for. */
  readonly run?: string;
}

/** Model calls, actions and waits for people, in the order in which they began. */
export function spansOf(entries: readonly WireEntry[]): readonly Span[] {
  const spans: Span[] = [];
  let iteration: number | undefined;
  for (const entry of entries) {
    const call = dataOf(entry, 'call');
    if (call !== undefined) {
      iteration = call.iteration;
      for (const [index, attempt] of call.attempts.entries()) {
        // What somebody stopped, or said something over, did not fail.
        const isCut = attempt.failure?.class === 'aborted';
        const isBad = attempt.failure !== undefined && !isCut;
        const again = index === 0 ? '' : `, attempt ${index + 1}`;
        spans.push({
          id: `${entry.id}-${index}`,
          kind: isBad ? 'failed' : 'call',
          label: `${call.purpose ?? `call ${call.iteration}`}${again}${isCut ? ', cut off' : ''}`,
          isName: false,
          detail: `${attempt.provider} ${call.served ?? attempt.model}${attempt.failure === undefined ? '' : `: ${attempt.failure.message}`}`,
          from: attempt.at,
          to: attempt.ms === undefined ? undefined : attempt.at + attempt.ms,
          iteration,
          isBad,
        });
      }
    }
    const action = dataOf(entry, 'action');
    if (action === undefined) continue;
    for (const request of action.requests)
      spans.push({
        id: `${entry.id}-${request.request}`,
        kind: 'wait',
        label: `${action.name} waits`,
        isName: true,
        action: entry.id,
        detail: request.answer === undefined ? request.question : `${request.answer.by}: ${request.answer.decision}`,
        from: request.at,
        to: request.answeredAt,
        iteration,
        isBad: false,
      });
    if (action.startedAt !== undefined)
      spans.push({
        id: entry.id,
        kind: action.waits === undefined ? 'action' : action.waits.kind === 'subagent' ? 'below' : 'outside',
        label: action.name,
        isName: true,
        action: entry.id,
        detail: action.observation?.error?.message ?? action.observation?.outcome ?? action.state,
        from: action.startedAt,
        to: action.ms === undefined ? undefined : action.startedAt + action.ms,
        iteration,
        isBad: action.observation !== undefined && action.observation.outcome !== 'ok',
        ...(action.waits?.kind === 'subagent' ? { run: action.waits.run } : {}),
      });
  }
  return spans.sort((left, right) => left.from - right.from);
}

/** Milliseconds by kind. What ran at the same time counts for each of them. */
export function timeByKind(spans: readonly Span[], now: number): Readonly<Record<SpanKind, number>> {
  const sums = { call: 0, failed: 0, action: 0, below: 0, outside: 0, wait: 0 };
  for (const { kind, from, to } of spans) sums[kind] += Math.max(0, (to ?? now) - from);
  return sums;
}

/** Round points of time for an axis: at most so many, as far from one another as their words are long. */
export function ticksOf(
  scale: Scale,
  from: number,
  to: number,
  most: number,
): readonly { readonly at: number; readonly ms: number }[] {
  const whole = to - from;
  if (whole <= 0) return [];
  const rough = whole / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  // Nothing is told of parts of a millisecond.
  const step = Math.max(1, power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10));
  const ticks: { at: number; ms: number }[] = [];
  for (let ms = 0; ms <= whole; ms += step) {
    const at = scale.at(from + ms);
    const last = ticks.at(-1);
    // Points that fall into a cut would stand on one another, and the last one beyond the edge.
    if (last === undefined || (at - last.at > 0.6 / most && at < 1 - 0.3 / most)) ticks.push({ at, ms });
  }
  return ticks;
}

/** Time on the drawing: long stretches in which only a person was waited for are drawn short. */
export interface Scale {
  /** 0 to 1. */
  readonly at: (time: number) => number;
  /** Where time was cut out, 0 to 1, and how much of it in milliseconds. */
  readonly cuts: readonly { readonly at: number; readonly ms: number }[];
  /** Milliseconds in which something was done. */
  readonly busyMs: number;
}

/** A stretch of idle time is drawn as at most this share of the busy time. */
const IDLE_SHARE = 0.08;

export function scaleOf(spans: readonly Span[], from: number, to: number): Scale {
  const busy = merged(
    spans.filter((one) => one.kind !== 'wait').map((one) => [one.from, one.to ?? to] as const),
    from,
    to,
  );
  const busyMs = busy.reduce((sum, [start, end]) => sum + end - start, 0);
  const longestIdle = Math.max(busyMs * IDLE_SHARE, 1);
  // Points of real time and where they stand on the drawing, in milliseconds drawn.
  const points: (readonly [number, number])[] = [[from, 0]];
  const cuts: { at: number; ms: number }[] = [];
  let drawn = 0;
  let last = from;
  for (const [start, end] of [...busy, [to, to] as const]) {
    const idle = start - last;
    const shown = Math.min(idle, longestIdle);
    if (idle > shown) cuts.push({ at: drawn + shown / 2, ms: idle });
    drawn += shown;
    points.push([start, drawn]);
    drawn += end - start;
    points.push([end, drawn]);
    last = end;
  }
  const total = Math.max(drawn, 1);
  return {
    busyMs,
    cuts: cuts.map(({ at, ms }) => ({ at: at / total, ms })),
    at: (time) => {
      for (let index = 1; index < points.length; index++) {
        const [rightTime, right] = points[index] ?? [0, 0];
        const [leftTime, left] = points[index - 1] ?? [0, 0];
        if (time > rightTime && index < points.length - 1) continue;
        const share = rightTime === leftTime ? 1 : Math.min(1, Math.max(0, (time - leftTime) / (rightTime - leftTime)));
        return (left + share * (right - left)) / total;
      }
      return 0;
    },
  };
}

function merged(
  spans: readonly (readonly [number, number])[],
  from: number,
  to: number,
): readonly (readonly [number, number])[] {
  const inside = spans
    .map(([start, end]) => [Math.max(from, start), Math.min(to, Math.max(start, end))] as const)
    .filter(([start, end]) => end >= start)
    .sort(([left], [right]) => left - right);
  const out: [number, number][] = [];
  for (const [start, end] of inside) {
    const last = out.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else out.push([start, end]);
  }
  return out;
}

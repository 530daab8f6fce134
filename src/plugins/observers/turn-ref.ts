import { digest } from '../../base/digest.ts';
import type { SpanRef } from '../../kernel/telemetry.ts';

/** The trace of a turn, and the place in it that all its spans hang from: the same in every process. */
export function turnRef(conversationId: string, turnId: string): SpanRef {
  const hash = digest(`treadle turn ${conversationId} ${turnId}`);
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

import type { Instant } from '../../base/clock.ts';
import type { EventOf } from '../../domain/event.ts';
import type { Host } from '../../kernel/plugin.ts';
import type { Telemetry } from '../../kernel/telemetry.ts';
import { turnRef } from './turn-ref.ts';

/** Requests to people that are remembered until they are answered. */
const WAITS_MAX = 1_000;

/** A span for each wait for a person: beside the slices of the turn, which end when nothing but a person is left. */
export function tellWaits(host: Pick<Host, 'on'>, telemetry: Telemetry): void {
  const waits = new Map<string, { readonly at: Instant; readonly kind: string }>();
  const patient = { patient: true };

  host.on(
    'hitl.requested',
    ({ conversationId, at, payload: { request, kind } }) => {
      waits.set(`${conversationId}/${request}`, { at, kind });
      if (waits.size > WAITS_MAX) for (const oldest of waits.keys()) return void waits.delete(oldest);
    },
    patient,
  );
  const answered = (
    { conversationId, turnId, at, payload }: EventOf<'hitl.responded'> | EventOf<'hitl.cancel'>,
    decision: string,
  ): void => {
    const name = `${conversationId}/${payload.request}`;
    const wait = waits.get(name);
    waits.delete(name);
    if (wait === undefined || turnId === undefined) return;
    const span = telemetry.start({
      name: `wait ${wait.kind}`,
      kind: 'internal',
      at: wait.at,
      labels: {
        'gen_ai.conversation.id': conversationId,
        'treadle.wait.kind': wait.kind,
        'treadle.wait.request': payload.request,
        'treadle.wait.decision': decision,
      },
      parent: turnRef(conversationId, turnId),
    });
    span.end(at);
  };
  host.on('hitl.responded', (fact) => answered(fact, fact.payload.decision), patient);
  host.on('hitl.cancel', (fact) => answered(fact, fact.payload.reason), patient);
}

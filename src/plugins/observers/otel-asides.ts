import type { Host } from '../../kernel/plugin.ts';
import type { Labels, OpenSpan, Telemetry } from '../../kernel/telemetry.ts';
import type { Slice, SliceOf } from './otel-slice.ts';

/** A span for each plan and each compaction, with the calls that they make; what was recalled is an event. */
export function tellAsides(host: Pick<Host, 'on'>, telemetry: Telemetry, slice: SliceOf): void {
  const patient = { patient: true };

  host.on(
    'plan.request',
    (fact) => {
      const open = slice(fact);
      if (open === undefined) return;
      const labels: Labels = { 'gen_ai.operation.name': 'plan', 'gen_ai.agent.name': open.agent };
      open.plan = {
        span: telemetry.start({
          name: `plan ${open.agent}`,
          kind: 'internal',
          at: fact.at,
          labels,
          parent: open.span,
        }),
        at: fact.at,
        labels,
      };
    },
    patient,
  );
  host.on(
    'plan.result',
    (fact) => {
      const open = slice(fact);
      const { error, steps } = fact.payload;
      open?.plan?.span.set({ 'treadle.plan.steps': steps.length });
      open?.plan?.span.end(fact.at, error === undefined ? undefined : { type: 'plan_failed', message: error });
      if (open !== undefined) open.plan = undefined;
    },
    patient,
  );

  host.on(
    'memory.compact.request',
    (fact) => {
      const open = slice(fact);
      if (open === undefined) return;
      const labels: Labels = { 'gen_ai.agent.name': open.agent, 'treadle.memory.why': fact.payload.why };
      const span = telemetry.start({
        name: `compact ${open.agent}`,
        kind: 'internal',
        at: fact.at,
        labels,
        parent: open.span,
      });
      open.memory?.span.end(fact.at, { type: 'interrupted' });
      open.memory = { span, at: fact.at, labels };
    },
    patient,
  );
  host.on(
    'memory.compacted',
    (fact) => {
      const open = slice(fact);
      const { through, error } = fact.payload;
      open?.memory?.span.set({ 'treadle.memory.turns': through });
      open?.memory?.span.end(fact.at, error === undefined ? undefined : { type: 'compaction_failed', message: error });
      if (open !== undefined) open.memory = undefined;
    },
    patient,
  );
  host.on(
    'memory.recalled',
    (fact) => {
      const { notes, total, problem } = fact.payload;
      slice(fact)?.span.event('treadle.memory.recalled', fact.at, {
        'treadle.memory.notes': notes.length,
        'treadle.memory.total': total,
        'error.type': problem === undefined ? undefined : 'store',
      });
    },
    patient,
  );
}

/** What a planner or a memory asks a model lies within what it was asked for. */
export function aboveCall({ span, plan, memory }: Slice, purpose: string): OpenSpan {
  if (purpose === 'plan') return plan?.span ?? span;
  return purpose === 'compact' ? (memory?.span ?? span) : span;
}

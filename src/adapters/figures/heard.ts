import { Counter, Histogram, type Registry } from 'prom-client';
import type { Instant } from '../../base/clock.ts';
import type { Usage } from '../../domain/usage.ts';
import type { Bus } from '../../kernel/bus.ts';
import { boundedLabel } from './bounded-label.ts';

/** What is under way in one conversation. */
interface Underway {
  call: { readonly provider: string; readonly model: string; readonly at: Instant } | undefined;
  readonly tools: Map<string, { readonly tool: string; readonly at: Instant }>;
}

const TOKEN_KINDS: Readonly<Record<Exclude<keyof Usage, 'searches'>, string>> = {
  input: 'input',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWriteLong: 'cache_write_long',
  output: 'output',
  reasoning: 'reasoning',
};

/** Figures of what agents do, as this process hears it. */
export function heardFigures(registers: Registry[], buckets: number[]): { attach(bus: Pick<Bus, 'on'>): () => void } {
  const provider = boundedLabel(30);
  const model = boundedLabel(200);
  const tool = boundedLabel(300);
  const gate = boundedLabel(50);
  const counter = <T extends string>(name: string, help: string, labelNames: T[]): Counter<T> =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <T extends string>(name: string, help: string, labelNames: T[]): Histogram<T> =>
    new Histogram({ name, help, labelNames, buckets, registers });

  const turns = counter('treadle_turns_ended_total', 'Turns that ended, by status.', ['status', 'stop']);
  const calls = counter(
    'treadle_model_calls_total',
    'Model calls that are over, each attempt one. The outcome is ok or the class of the failure.',
    ['provider', 'model', 'outcome'],
  );
  const callTime = histogram('treadle_model_call_seconds', 'Time from a model call to the end of its answer.', [
    'provider',
    'model',
  ]);
  const tokens = counter('treadle_model_tokens_total', 'Tokens as billed, in kinds that do not overlap.', [
    'provider',
    'model',
    'kind',
  ]);
  const actions = counter('treadle_tool_calls_total', 'Actions that have their observation, by its outcome.', [
    'tool',
    'outcome',
  ]);
  const toolTime = histogram('treadle_tool_call_seconds', 'Time that a tool ran.', ['tool']);
  const asked = counter('treadle_requests_opened_total', 'Questions to people that were asked.', ['kind']);
  const answered = counter('treadle_requests_closed_total', 'Questions to people that were answered or taken back.', [
    'decision',
  ]);
  const verdicts = counter('treadle_gate_verdicts_total', 'What gates said that was more than nothing.', [
    'gate',
    'verdict',
  ]);

  function attach(bus: Pick<Bus, 'on'>): () => void {
    const underway = new Map<string, Underway>();
    const of = (id: string): Underway => {
      let one = underway.get(id);
      if (one === undefined) underway.set(id, (one = { call: undefined, tools: new Map() }));
      return one;
    };
    const settle = (id: string): void => {
      const one = underway.get(id);
      if (one?.call === undefined && one?.tools.size === 0) underway.delete(id);
    };
    const options = { source: 'figures', patient: true };
    const ends = [
      bus.on('agent.turn.start', ({ conversationId }) => void underway.delete(conversationId), options),
      bus.on(
        'agent.turn.end',
        ({ conversationId, payload: { status, stop } }) => {
          underway.delete(conversationId);
          turns.inc({ status, stop });
        },
        options,
      ),
      bus.on(
        'llm.request',
        ({ conversationId, at, payload }) => {
          of(conversationId).call = {
            provider: provider(payload.model.provider),
            model: model(payload.model.model),
            at,
          };
        },
        options,
      ),
      bus.on(
        'llm.response',
        ({ conversationId, at, payload }) => {
          const mine = of(conversationId);
          const { call } = mine;
          mine.call = undefined;
          settle(conversationId);
          if (call === undefined) return;
          const names = { provider: call.provider, model: call.model };
          calls.inc({ ...names, outcome: payload.failure?.class ?? 'ok' });
          callTime.observe(names, Math.max(0, at - call.at) / 1000);
          for (const [part, kind] of Object.entries(TOKEN_KINDS)) {
            const count = payload.usage[part as keyof Usage] ?? 0; // the keys of TOKEN_KINDS
            if (count > 0) tokens.inc({ ...names, kind }, count);
          }
        },
        options,
      ),
      bus.on(
        'tool.invoke',
        ({ conversationId, at, payload }) => {
          of(conversationId).tools.set(payload.action, { tool: tool(payload.name), at });
        },
        options,
      ),
      bus.on(
        'tool.result',
        ({ conversationId, at, payload: { action, outcome } }) => {
          const mine = of(conversationId);
          const ran = mine.tools.get(action);
          mine.tools.delete(action);
          settle(conversationId);
          // A name that the model made up is no tool of ours, and must not become a label.
          actions.inc({ tool: ran?.tool ?? 'none', outcome });
          if (ran !== undefined) toolTime.observe({ tool: ran.tool }, Math.max(0, at - ran.at) / 1000);
        },
        options,
      ),
      bus.on('hitl.requested', ({ payload: { kind } }) => asked.inc({ kind }), options),
      bus.on('hitl.responded', ({ payload: { decision } }) => answered.inc({ decision }), options),
      bus.on('hitl.cancel', () => answered.inc({ decision: 'cancelled' }), options),
      bus.on(
        'gate.verdict',
        ({ payload }) => verdicts.inc({ gate: gate(payload.gate), verdict: payload.verdict }),
        options,
      ),
    ];
    return () => {
      for (const end of ends) end();
      underway.clear();
    };
  }
  return { attach };
}

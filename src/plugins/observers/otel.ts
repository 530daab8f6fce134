import { z } from 'zod';
import type { Instant } from '../../base/clock.ts';
import { key } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import type { Labels, SpanRef, Telemetry } from '../../kernel/telemetry.ts';
import { inputTokens, outputTokens } from '../../domain/usage-sum.ts';
import { aboveCall, tellAsides } from './otel-asides.ts';
import { recordTime, type Slice } from './otel-slice.ts';
import { tellTools } from './otel-tools.ts';
import { tellWaits } from './otel-waits.ts';
import { turnRef } from './turn-ref.ts';
import { answerContent, requestContent } from './gen-ai-content.ts';
import {
  AGENT_DURATION,
  OPERATION_DURATION,
  providerName,
  TOKEN_USAGE,
  turnUsageLabels,
  usageLabels,
} from './gen-ai.ts';

const config = z.strictObject({
  content: key(
    z.boolean(),
    'Whether spans carry what people, models and tools said. Whoever reads the traces reads it all.',
    { default: false },
  ),
});

/** Runs that others have begun, remembered until they end. */
const CHILDREN_MAX = 1_000;

/**
 * Tells OpenTelemetry what an agent does: a span for each slice of a turn, each attempt at a model call, each tool that ran and
 * each wait for a person, and for planning and compaction with the calls that they make, by the semantic conventions for
 * generative AI. Verdicts of gates are events.
 *
 * All spans of a turn are in one trace, whose id is made of the run and the turn: slices in several processes join without
 * having met, and a restart does not break a trace in two.
 */
export const otelObserver = definePlugin({
  id: 'observer.otel',
  about: 'Sends traces and metrics of turns, model calls and tools to OpenTelemetry.',
  config,
  setup(host, { content = false }) {
    const { telemetry } = host;
    if (telemetry === undefined) {
      host.logger.warn('observer.otel is active and nothing here takes its spans');
      return;
    }
    const slices = new Map<string, Slice>();
    const asked = new Map<string, Labels>();
    const parents = new Map<string, SpanRef>();
    const patient = { patient: true };

    const recordTurn = (from: Instant, to: Instant, labels: Labels): void =>
      recordTime(telemetry, AGENT_DURATION, from, to, labels);

    function slice(event: { readonly conversationId: string }): Slice | undefined {
      return slices.get(event.conversationId);
    }

    function close(
      id: string,
      at: Instant,
      labels: Labels,
      error?: { readonly type: string; readonly message?: string | undefined },
    ): void {
      const open = slices.get(id);
      if (open === undefined) return;
      slices.delete(id);
      asked.delete(id);
      for (const one of [open.call, open.plan, open.memory, ...open.tools.values()])
        one?.span.end(at, { type: 'interrupted' });
      open.span.set(labels);
      open.span.end(at, error);
      recordTurn(open.at, at, { ...open.labels, 'error.type': error?.type });
    }

    host.on(
      'agent.turn.start',
      (fact) => {
        const { conversationId: id, turnId = '', agentPath, at, payload } = fact;
        close(id, at, {});
        const agent = agentPath.slice(agentPath.lastIndexOf('/') + 1);
        const resumed = payload.resumed === true;
        const above = parents.get(id);
        const labels = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agent };
        const span = telemetry.start({
          name: `invoke_agent ${agent}`,
          kind: 'internal',
          at,
          labels: {
            ...labels,
            'gen_ai.agent.version': payload.agent?.bundle,
            'gen_ai.conversation.id': id,
            'treadle.turn.id': turnId,
            'treadle.turn.resumed': resumed,
            'treadle.agent.path': agentPath,
          },
          parent: turnRef(id, turnId),
          links: [...(resumed ? [turnRef(id, turnId)] : []), ...(above === undefined ? [] : [above])],
        });
        slices.set(id, {
          span,
          at,
          labels,
          agent,
          call: undefined,
          plan: undefined,
          memory: undefined,
          tools: new Map(),
        });
      },
      patient,
    );

    host.on(
      'agent.turn.end',
      ({ conversationId, at, payload }) => {
        const { status, stop, iterations, toolCalls, usage, error } = payload;
        const failed = status === 'error' ? { type: error?.code ?? 'error', message: error?.message } : undefined;
        close(
          conversationId,
          at,
          {
            'treadle.turn.status': status,
            'treadle.turn.stop': stop,
            'treadle.turn.iterations': iterations,
            'treadle.turn.tool_calls': toolCalls,
            ...turnUsageLabels(usage),
          },
          failed,
        );
      },
      patient,
    );

    host.on('io.status', ({ conversationId, at, payload }) => {
      // With a detail it is a pause in mid-turn; without one the worker lets go.
      if ((payload.state === 'waiting' && payload.detail === undefined) || payload.state === 'idle')
        close(conversationId, at, { 'treadle.turn.status': 'waiting' });
    });

    if (content) {
      host.before('before:llm.request', ({ request }, { conversation }) => {
        asked.set(conversation.id, requestContent(request));
        return undefined;
      });
    }

    host.on(
      'llm.request',
      (fact) => {
        const open = slice(fact);
        if (open === undefined) return;
        const { model, purpose = 'decide', attempt, role } = fact.payload;
        const labels: Labels = {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': providerName(model.provider),
          'gen_ai.request.model': model.model,
        };
        const span = telemetry.start({
          name: `chat ${model.model}`,
          kind: 'client',
          at: fact.at,
          labels: {
            ...labels,
            'gen_ai.conversation.id': fact.conversationId,
            'gen_ai.request.stream': true,
            'treadle.llm.purpose': purpose,
            'treadle.llm.attempt': attempt,
            'treadle.llm.role': role,
            'treadle.iteration': fact.iteration,
            ...asked.get(fact.conversationId),
          },
          parent: aboveCall(open, purpose),
        });
        open.call?.span.end(fact.at, { type: 'interrupted' });
        open.call = { span, at: fact.at, labels };
      },
      patient,
    );

    host.on('llm.stream.end', (event) => {
      const call = slice(event)?.call;
      if (call !== undefined) call.endedAt = event.at;
    });

    host.on(
      'llm.response',
      (fact) => {
        const open = slice(fact);
        const call = open?.call;
        if (open === undefined || call === undefined) return;
        open.call = undefined;
        const { usage, failure, served, providerId, stop, raw = stop } = fact.payload;
        const at = call.endedAt ?? fact.at;
        const error =
          failure === undefined
            ? undefined
            : { type: String(failure.status ?? failure.class), message: failure.message };
        call.span.set({
          'gen_ai.response.model': served ?? call.labels['gen_ai.request.model'],
          'gen_ai.response.id': providerId,
          'gen_ai.response.finish_reasons': failure === undefined ? [raw] : undefined,
          ...usageLabels(usage),
          ...(content ? { 'gen_ai.output.messages': answerContent(fact.payload.content, raw) } : {}),
        });
        call.span.end(at, error);
        const labels = { ...call.labels, 'gen_ai.response.model': served };
        recordTime(telemetry, OPERATION_DURATION, call.at, at, { ...labels, 'error.type': error?.type });
        recordTokens(telemetry, usage, labels);
      },
      patient,
    );

    tellTools(host, telemetry, { slice, content });
    tellAsides(host, telemetry, slice);

    host.on(
      'gate.verdict',
      (fact) => {
        const { question, gate, verdict, code, action } = fact.payload;
        slice(fact)?.span.event('treadle.gate.verdict', fact.at, {
          'treadle.gate.question': question,
          'treadle.gate.id': gate,
          'treadle.gate.verdict': verdict,
          'treadle.gate.code': code,
          'gen_ai.tool.call.id': action,
        });
      },
      patient,
    );

    tellWaits(host, telemetry);

    host.on(
      'subagent.started',
      (fact) => {
        const tool = fact.payload.action === undefined ? undefined : slice(fact)?.tools.get(fact.payload.action);
        parents.set(
          fact.payload.conversation,
          (tool ?? slice(fact))?.span.ref ?? turnRef(fact.conversationId, fact.turnId ?? ''),
        );
        if (parents.size > CHILDREN_MAX) for (const oldest of parents.keys()) return void parents.delete(oldest);
      },
      patient,
    );
    host.on('subagent.ended', (fact) => void parents.delete(fact.payload.conversation), patient);

    return () => {
      for (const id of [...slices.keys()]) close(id, host.clock.now(), {});
    };
  },
});

function recordTokens(telemetry: Telemetry, usage: Parameters<typeof inputTokens>[0], labels: Labels): void {
  const [input, output] = [inputTokens(usage), outputTokens(usage)];
  if (input > 0) telemetry.record(TOKEN_USAGE, input, { ...labels, 'gen_ai.token.type': 'input' });
  if (output > 0) telemetry.record(TOKEN_USAGE, output, { ...labels, 'gen_ai.token.type': 'output' });
}

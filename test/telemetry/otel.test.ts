// What OpenTelemetry is told of turns: the real loop, the plugin as bundles activate it, and the SDK's exporters in memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { createOtelTelemetry } from '../../src/adapters/telemetry/otel-api.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Reply } from '../../src/adapters/models/script.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openRequests } from '../../src/domain/conversation.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { install } from '../../src/kernel/plugin.ts';
import { toolApproval } from '../../src/plugins/gates/tool-approval.ts';
import { otelObserver } from '../../src/plugins/observers/otel.ts';
import { webhookObserver } from '../../src/plugins/observers/webhook.ts';
import { turnRef } from '../../src/plugins/observers/turn-ref.ts';
import { aHouse, aTool, type House, type HouseOptions } from '../support/house.ts';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

interface Watched {
  readonly house: House;
  readonly spans: () => readonly ReadableSpan[];
  readonly points: () => Promise<
    readonly { readonly name: string; readonly attributes: object; readonly sum: number; readonly count: number }[]
  >;
}

function watched(
  { more, ...options }: HouseOptions & { readonly more?: (bus: Bus) => void } = {},
  config: object = {},
): Watched {
  const exporter = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 1_000_000 });
  const meters = new MeterProvider({ readers: [reader] });
  const telemetry = createOtelTelemetry({ tracers, meters });
  const house = aHouse({
    ...options,
    plugins(bus) {
      install(toolApproval, {}, { bus, clock: systemClock, logger });
      install(otelObserver, config, { bus, clock: systemClock, logger, telemetry });
      more?.(bus);
    },
  });
  return {
    house,
    spans: () => exporter.getFinishedSpans(),
    async points() {
      await meters.forceFlush();
      const seen = figures.getMetrics().flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap(({ metrics }) =>
          metrics.flatMap(({ descriptor, dataPoints }) =>
            dataPoints.map(({ attributes, value }) => {
              const { sum = 0, count } = value as { sum?: number; count: number }; // histograms are all there is
              return { name: descriptor.name, attributes, sum, count };
            }),
          ),
        ),
      );
      await meters.shutdown();
      return seen;
    },
  };
}

const named = (spans: readonly ReadableSpan[]): string[] => spans.map(({ name }) => name);
const look: Reply = {
  actions: [{ name: 'look', arguments: { at: 'secret' } }],
  usage: { input: 100, cacheRead: 50, output: 20 },
};
const done: Reply = { text: 'all done', usage: { input: 10, cacheRead: 150, cacheWrite: 5, output: 7, reasoning: 3 } };
const tools = [aTool('look', () => 'seen')];

test('a turn is a span with a span for each model call and each tool, in one trace', async () => {
  const { house, spans } = watched({ script: [look, done], tools });
  await house.ask('go');
  const all = spans();
  assert.deepEqual(named(all), ['chat scripted', 'execute_tool look', 'chat scripted', 'invoke_agent main']);
  const [first, tool, , turn] = all;
  assert.ok(all.every((span) => span.spanContext().traceId === turnRef('c1', 't1').traceId));
  assert.equal(turn?.parentSpanContext?.spanId, turnRef('c1', 't1').spanId);
  for (const span of [first, tool]) assert.equal(span?.parentSpanContext?.spanId, turn.spanContext().spanId);
  assert.deepEqual([first?.kind, tool?.kind, turn.kind], [SpanKind.CLIENT, SpanKind.INTERNAL, SpanKind.INTERNAL]);
});

test('spans carry the names of the conventions', async () => {
  const { house, spans } = watched({ script: [look, done], tools });
  await house.ask('go');
  const [, tool, chat, turn] = spans();
  assert.deepEqual(chat?.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'scripted',
    'gen_ai.request.model': 'scripted',
    'gen_ai.response.model': 'scripted',
    'gen_ai.conversation.id': 'c1',
    'gen_ai.request.stream': true,
    'gen_ai.response.finish_reasons': ['finished'],
    'gen_ai.usage.input_tokens': 165,
    'gen_ai.usage.output_tokens': 10,
    'gen_ai.usage.cache_read.input_tokens': 150,
    'gen_ai.usage.cache_write.input_tokens': 5,
    'gen_ai.usage.reasoning.output_tokens': 3,
    'treadle.llm.purpose': 'decide',
    'treadle.llm.attempt': 1,
    'treadle.llm.role': 'balanced',
    'treadle.iteration': 2,
  });
  assert.deepEqual(
    [
      tool?.attributes['gen_ai.tool.name'],
      tool?.attributes['gen_ai.tool.call.id'],
      tool?.attributes['treadle.tool.outcome'],
    ],
    ['look', 't1-1-1', 'ok'],
  );
  assert.deepEqual(
    [
      turn?.attributes['gen_ai.agent.name'],
      turn?.attributes['treadle.turn.status'],
      turn?.attributes['treadle.turn.iterations'],
    ],
    ['main', 'completed', 2],
  );
});

test('usage is counted once: on model calls, and under another name on the turn (B118)', async () => {
  const { house, spans } = watched({ script: [look, done], tools });
  await house.ask('go');
  const sum = (name: string): number =>
    spans().reduce((total, { attributes }) => total + Number(attributes[name] ?? 0), 0);
  assert.deepEqual([sum('gen_ai.usage.input_tokens'), sum('gen_ai.usage.output_tokens')], [315, 30]);
  assert.deepEqual([sum('treadle.turn.usage.input_tokens'), sum('treadle.turn.usage.output_tokens')], [315, 30]);
});

test('each attempt has its span, and one that failed says why', async () => {
  const { house, spans, points } = watched({
    script: [{ fault: 'auth' }],
    agent: {
      models: [
        { provider: 'google', model: 'a' },
        { provider: 'xai', model: 'b' },
      ],
    },
  });
  await house.ask('go');
  const [first, second, turn] = spans();
  assert.deepEqual(named(spans()), ['chat a', 'chat b', 'invoke_agent main']);
  assert.deepEqual(
    [first?.attributes['gen_ai.provider.name'], second?.attributes['gen_ai.provider.name']],
    ['gcp.gemini', 'x_ai'],
  );
  assert.deepEqual([first?.attributes['error.type'], first?.status.code], ['401', SpanStatusCode.ERROR]);
  assert.deepEqual([turn?.attributes['error.type'], turn?.status.code], ['model_auth', SpanStatusCode.ERROR]);
  const durations = (await points()).filter(({ name }) => name === 'gen_ai.client.operation.duration');
  assert.deepEqual(
    durations.map(({ attributes }) => (attributes as Record<string, unknown>)['error.type']),
    ['401', '401'],
  );
});

test('a turn that waits is a slice that ends, a wait, and a slice that goes on in the same trace from another process', async () => {
  const log = createMemoryLog({ clock: systemClock });
  const script: Reply[] = [look, done];
  const held = [aTool('look', () => 'seen', { approval: 'ask' })];
  const first = watched({ script, tools: held, log });
  await first.house.ask('go');
  assert.deepEqual(named(first.spans()), ['chat scripted', 'invoke_agent main']);
  assert.equal(first.spans()[1]?.attributes['treadle.turn.status'], 'waiting');
  const second = watched({ script, tools: held, log });
  const [open] = openRequests((await second.house.fold()).turn!);
  const answer = { request: open!.request, decision: 'allow', by: 'ana' } as const;
  const { fact } = log.post('c1', { type: 'hitl.responded', payload: answer, turnId: 't1' });
  first.house.bus.deliver(fact);
  await second.house.drive({ owner: 'w2' });
  assert.deepEqual(named(second.spans()), ['execute_tool look', 'chat scripted', 'invoke_agent main']);
  const turn = second.spans()[2];
  assert.equal(turn?.spanContext().traceId, first.spans()[1]?.spanContext().traceId);
  assert.deepEqual(
    [turn?.attributes['treadle.turn.resumed'], turn?.links[0]?.context.spanId],
    [true, turnRef('c1', 't1').spanId],
  );
  const wait = first.spans()[2];
  assert.deepEqual([wait?.name, wait?.attributes['treadle.wait.decision']], ['wait action', 'allow']);
  assert.equal(wait?.spanContext().traceId, turn?.spanContext().traceId);
});

test('a verdict is an event, and a refused action is one too', async () => {
  const { house, spans } = watched({ script: [{ actions: [{ name: 'nothing', arguments: {} }] }, done], tools });
  await house.ask('go');
  const turn = spans().at(-1);
  assert.deepEqual(
    turn?.events.map(({ name, attributes }) => [name, attributes?.['error.type']]),
    [['treadle.tool.not_run', 'not_allowed']],
  );
});

test('what was said stays out of spans unless the bundle asks for it', async () => {
  const text = (spans: readonly ReadableSpan[]): string =>
    JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]));
  const closed = watched({ script: [look, done], tools });
  await closed.house.ask('a question');
  assert.doesNotMatch(text(closed.spans()), /a question|You are a test|all done|secret|seen/);
  const open = watched({ script: [look, done], tools }, { content: true });
  await open.house.ask('a question');
  for (const said of [/a question/, /You are a test/, /all done/, /secret/, /seen/])
    assert.match(text(open.spans()), said);
  const input = JSON.parse(String(open.spans()[2]?.attributes['gen_ai.input.messages'])) as { role: string }[];
  assert.deepEqual(input.map(({ role }) => role).slice(0, 3), ['user', 'assistant', 'tool']);
});

test('figures are those of the conventions', async () => {
  const { house, points } = watched({ script: [look, done], tools });
  await house.ask('go');
  const all = await points();
  const found = (name: string, more: object = {}) =>
    all.filter(
      (one) =>
        one.name === name &&
        Object.entries(more).every(([key, value]) => (one.attributes as Record<string, unknown>)[key] === value),
    );
  assert.deepEqual(
    found('gen_ai.client.token.usage', { 'gen_ai.token.type': 'input' }).map(({ sum, count }) => [sum, count]),
    [[315, 2]],
  );
  assert.deepEqual(
    found('gen_ai.client.token.usage', { 'gen_ai.token.type': 'output' }).map(({ sum, count }) => [sum, count]),
    [[30, 2]],
  );
  assert.deepEqual(
    ['gen_ai.client.operation.duration', 'gen_ai.execute_tool.duration', 'gen_ai.invoke_agent.duration'].map(
      (name) => found(name)[0]?.count,
    ),
    [2, 1, 1],
  );
});

test('times of spans are those of the log, and a child lies within its parent', async () => {
  const { house, spans } = watched({ script: [look, done], tools });
  await house.ask('go');
  const ms = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;
  const turn = spans().at(-1);
  for (const span of spans()) {
    assert.ok(ms(span.startTime) >= ms(turn!.startTime) && ms(span.endTime) <= ms(turn!.endTime) + 1, span.name);
  }
});

test('without telemetry the plugin says so and hears nothing', () => {
  const lines: string[] = [];
  const { bus } = aHouse();
  const { manifest } = install(
    otelObserver,
    {},
    { bus, clock: systemClock, logger: { ...logger, warn: (line) => void lines.push(line) } },
  );
  assert.deepEqual([manifest.listens, lines], [[], ['observer.otel is active and nothing here takes its spans']]);
});

/** The name of the span that each span lies in, by names; of the trace itself where it lies in none. */
function places(spans: readonly ReadableSpan[]): readonly string[] {
  const names = new Map(spans.map((one) => [one.spanContext().spanId, one.name]));
  return spans.map((one) => `${one.name} in ${names.get(one.parentSpanContext?.spanId ?? '') ?? 'the trace'}`);
}

test('what planning and compaction ask a model lies within them', async () => {
  const { house, spans } = watched({
    script: { replies: [{ ...done, usage: { input: 5_000, output: 5 } }], repeat: true },
    agent: { planning: { approval: 'never', placement: 'announce' } },
    limits: { contextMaxTokens: 1_000 },
    more(bus) {
      bus.answer('plan.request', async (_, { askModel }) => {
        const asked = await askModel({ instructions: 'Plan.', text: 'go' });
        return { steps: [{ title: asked.ok ? asked.text : '' }], source: 'test' };
      });
      bus.answer('memory.compact.request', async (_, { askModel }) => {
        const asked = await askModel({ instructions: 'Sum up.', text: 'go' });
        return { through: 1, summary: asked.ok ? asked.text : '' };
      });
    },
  });
  await house.ask('go');
  await house.ask('and again');
  const found = places(spans());
  const plan = spans().find(({ name }) => name.startsWith('plan '));
  const compact = spans().find(({ name }) => name.startsWith('compact '));
  assert.ok(found.includes(`chat scripted in ${plan?.name ?? 'no plan'}`), found.join('\n'));
  assert.ok(found.includes(`chat scripted in ${compact?.name ?? 'no compaction'}`), found.join('\n'));
  assert.equal(compact?.attributes['treadle.memory.turns'], 1);
});

test('what a tool calls lies within it', async () => {
  const outer = aTool('outer', async (_, { call }) => (await call('look', {})).outcome);
  const script = [{ actions: [{ name: 'outer', arguments: {} }] }, done];
  const { house, spans } = watched({ script, tools: [...tools, outer] });
  await house.ask('go');
  assert.ok(places(spans()).includes('execute_tool look in execute_tool outer'), places(spans()).join('\n'));
});

test('a webhook that is told a fact is a span in the trace of its turn', async () => {
  const exporter = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const telemetry = createOtelTelemetry({ tracers, meters: new MeterProvider({}) });
  const log = createMemoryLog({ clock: systemClock });
  const refused = { state: 'failed', why: 'it answered 500', status: 500 } as const;
  const observer = webhookObserver({
    open: () => ({
      post: (_, body) =>
        Promise.resolve(body.includes('"type":"agent.turn.start"') ? refused : { state: 'taken', status: 204 }),
      close: () => Promise.resolve(),
    }),
    cursors: () => {
      throw new Error('no folder was named');
    },
  });
  const config = { url: 'https://hooks.test/x', secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  let end: () => Promise<void> = () => Promise.resolve();
  const house = aHouse({
    log,
    script: [done],
    plugins(bus) {
      const installed = install(observer, config, { bus, clock: systemClock, logger, telemetry, log });
      end = async () => {
        await installed.settle();
        installed.uninstall();
      };
    },
  });
  await house.ask('go');
  await end();
  const [first] = exporter.getFinishedSpans();
  const labels = first?.attributes ?? {};
  assert.deepEqual(
    [first?.name, labels['server.address'], labels['http.response.status_code'], first?.status.code],
    ['POST', 'hooks.test', 500, SpanStatusCode.ERROR],
  );
  assert.equal(first?.spanContext().traceId, turnRef('c1', 't1').traceId);
});

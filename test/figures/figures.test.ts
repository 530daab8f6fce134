// What an operator is told in figures: the real loop heard by the real registry, read as Prometheus reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedLabel } from '../../src/adapters/figures/bounded-label.ts';
import { createFigures, type Figures } from '../../src/adapters/figures/prometheus.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { EngineHealth } from '../../src/kernel/engine.ts';
import { install } from '../../src/kernel/plugin.ts';
import { toolApproval } from '../../src/plugins/gates/tool-approval.ts';
import { aHouse, aTool, type House, type HouseOptions } from '../support/house.ts';
import { aClock } from '../support/sim-clock.ts';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function counted(options: HouseOptions): { readonly house: House; readonly figures: Figures } {
  const figures = createFigures({ clock: systemClock, logger, version: '1.2.3' });
  const house = aHouse({
    ...options,
    plugins(bus) {
      install(toolApproval, {}, { bus, clock: systemClock, logger });
      figures.attach(bus);
    },
  });
  return { house, figures };
}

/** Lines of one figure, sorted, without the comments. */
async function lines(figures: Figures, name: string): Promise<string[]> {
  const { text } = await figures.read();
  return text
    .split('\n')
    .filter((line) => new RegExp(`^${name}(\\{| )`).test(line))
    .sort();
}

const health: EngineHealth = { running: 2, waiting: 3, failing: 1, oldestReady: 1_000, overdueMs: 4_000 };

test('a turn leaves its calls, tokens, actions and end', async () => {
  const { house, figures } = counted({
    script: [
      {
        actions: [
          { name: 'look', arguments: {} },
          { name: 'made_up', arguments: {} },
        ],
        usage: { input: 10, cacheRead: 3, output: 2 },
      },
      { text: 'done', usage: { input: 1, output: 1, reasoning: 4 } },
    ],
    tools: [aTool('look', () => 'seen')],
  });
  await house.ask('go');
  assert.deepEqual(await lines(figures, 'treadle_turns_ended_total'), [
    'treadle_turns_ended_total{status="completed",stop="finished"} 1',
  ]);
  assert.deepEqual(await lines(figures, 'treadle_model_calls_total'), [
    'treadle_model_calls_total{provider="scripted",model="scripted",outcome="ok"} 2',
  ]);
  assert.deepEqual(
    (await lines(figures, 'treadle_model_tokens_total')).map((line) => line.replace(/^.*kind="(\w+)"\} /, '$1 ')),
    ['cache_read 3', 'input 11', 'output 3', 'reasoning 4'],
  );
  assert.deepEqual(await lines(figures, 'treadle_tool_calls_total'), [
    'treadle_tool_calls_total{tool="look",outcome="ok"} 1',
    'treadle_tool_calls_total{tool="none",outcome="refused"} 1',
  ]);
  assert.deepEqual(await lines(figures, 'treadle_model_call_seconds_count'), [
    'treadle_model_call_seconds_count{provider="scripted",model="scripted"} 2',
  ]);
  figures.close();
});

test('a failure is counted by its class', async () => {
  const { house, figures } = counted({ script: [{ fault: 'auth' }] });
  await house.ask('go');
  assert.match((await lines(figures, 'treadle_model_calls_total'))[0] ?? '', /outcome="auth"\} 1$/);
  assert.match((await lines(figures, 'treadle_turns_ended_total'))[0] ?? '', /status="error"/);
  figures.close();
});

test('questions to people are counted when they are asked and when they are answered', async () => {
  const { house, figures } = counted({
    script: [{ actions: [{ name: 'mail', arguments: {} }] }, { text: 'done' }],
    tools: [aTool('mail', () => 'sent', { approval: 'ask' })],
  });
  await house.ask('go');
  await house.post({ type: 'hitl.responded', payload: { request: 't1-1-1-a1', decision: 'allow', by: 'ana' } });
  await house.drive();
  assert.deepEqual(await lines(figures, 'treadle_requests_opened_total'), [
    'treadle_requests_opened_total{kind="action"} 1',
  ]);
  assert.deepEqual(await lines(figures, 'treadle_gate_verdicts_total'), [
    'treadle_gate_verdicts_total{gate="gate.tool_approval",verdict="hold"} 1',
  ]);
  figures.close();
});

test('runs and the queue are looked up when somebody asks, and counted no more often than needed', async () => {
  const clock = aClock(61_000);
  const figures = createFigures({ clock, logger, version: '1' });
  let counts = 0;
  figures.watch({ counts: () => (counts++, { running: 4, completed: 9 }), health: () => Promise.resolve(health) });
  assert.ok((await lines(figures, 'treadle_runs')).includes('treadle_runs{status="running"} 4'));
  assert.equal((await lines(figures, 'treadle_runs')).length, 14);
  assert.deepEqual(
    [
      ...(await lines(figures, 'treadle_queue_waiting')),
      ...(await lines(figures, 'treadle_slices_running')),
      ...(await lines(figures, 'treadle_queue_oldest_seconds')),
      ...(await lines(figures, 'treadle_queue_overdue_seconds')),
    ],
    [
      'treadle_queue_waiting 3',
      'treadle_slices_running 2',
      'treadle_queue_oldest_seconds 60',
      'treadle_queue_overdue_seconds 4',
    ],
  );
  assert.equal(counts, 1);
  clock.advance(6_000);
  await figures.read();
  assert.equal(counts, 2);
  figures.close();
});

test('a store in trouble leaves out its figures and no others', async () => {
  const figures = createFigures({ clock: systemClock, logger, version: '1' });
  const broken = (): Promise<never> => Promise.reject(new Error('locked'));
  figures.watch({ counts: broken, health: broken });
  assert.deepEqual(await lines(figures, 'treadle_runs'), []);
  assert.deepEqual(await lines(figures, 'treadle_build_info'), ['treadle_build_info{version="1"} 1']);
  figures.close();
});

test('requests are counted by route, method and status, and streams as they are', async () => {
  const figures = createFigures({ clock: systemClock, logger, version: '1' });
  figures.answered({ route: 'runs.create', method: 'POST', status: 202, ms: 12 });
  figures.answered({ route: 'none', method: 'BREW', status: 405, ms: 1 });
  figures.streams(7);
  assert.deepEqual(await lines(figures, 'treadle_http_requests_total'), [
    'treadle_http_requests_total{route="none",method="OTHER",status="405"} 1',
    'treadle_http_requests_total{route="runs.create",method="POST",status="202"} 1',
  ]);
  assert.deepEqual(await lines(figures, 'treadle_stream_readers'), ['treadle_stream_readers 7']);
  figures.close();
});

test('the lag of the event loop is among the figures', async () => {
  const figures = createFigures({ clock: systemClock, logger, version: '1' });
  assert.equal((await lines(figures, 'treadle_nodejs_eventloop_lag_p99_seconds')).length, 1);
  assert.match((await figures.read()).contentType, /^text\/plain; version=0\.0\.4/);
  figures.close();
});

test('a label takes so many values and no more', () => {
  const label = boundedLabel(2);
  assert.deepEqual(['a', 'b', 'c', 'a', 'd'].map(label), ['a', 'b', 'other', 'a', 'other']);
});

test('names that a model makes up make no series', async () => {
  const actions = Array.from({ length: 10 }, (_, index) => ({ name: `made_up_${index}`, arguments: {} }));
  const { house, figures } = counted({ script: [{ actions }, { text: 'done' }], limits: { maxFaults: 20 } });
  await house.ask('go');
  assert.deepEqual(await lines(figures, 'treadle_tool_calls_total'), [
    'treadle_tool_calls_total{tool="none",outcome="refused"} 10',
  ]);
  figures.close();
});

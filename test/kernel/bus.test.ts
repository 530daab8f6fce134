import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fact } from '../../src/domain/event.ts';
import { createBus, type Bus, type BusOptions } from '../../src/kernel/bus.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { aSignal, settle } from '../support/house.ts';
import { aClock } from '../support/sim-clock.ts';

function fact(
  seq: number,
  type: 'io.output' | 'llm.request' | 'cancel.active' = 'io.output',
  conversationId = 'c',
): Fact {
  return {
    type,
    seq,
    id: `${conversationId}:${seq}`,
    v: 1,
    at: 0,
    conversationId,
    agentPath: 'main',
    payload: { text: String(seq) },
  } as Fact;
}

function aBus(options: Partial<BusOptions> = {}): {
  readonly bus: Bus;
  readonly lines: string[];
  readonly clock: ReturnType<typeof aClock>;
} {
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const clock = aClock();
  return { bus: createBus({ clock, logger, record: () => fact(1), ...options }), lines, clock };
}

test('a subscription hears an exact type, a prefix, or everything', () => {
  const { bus } = aBus();
  const heard: string[] = [];
  bus.on('io.output', () => void heard.push('exact'));
  bus.on('io.*', () => void heard.push('prefix'));
  bus.on('*', () => void heard.push('all'));
  bus.on('llm.*', () => void heard.push('other'));
  bus.deliver(fact(1));
  assert.deepEqual(heard, ['exact', 'prefix', 'all']);
});

test('lower priorities hear first, equal ones in the order of registration', () => {
  const { bus } = aBus();
  const heard: number[] = [];
  bus.on('*', () => void heard.push(2), { priority: 60 });
  bus.on('io.output', () => void heard.push(1));
  bus.on('*', () => void heard.push(0), { priority: 1 });
  bus.deliver(fact(1));
  assert.deepEqual(heard, [0, 1, 2]);
});

test('cancel.active is heard at priority 5 without saying so', () => {
  const { bus } = aBus();
  const heard: string[] = [];
  bus.on('*', () => void heard.push('at 10'), { priority: 10 });
  bus.on('cancel.active', () => void heard.push('default'));
  bus.deliver(fact(1, 'cancel.active'));
  assert.deepEqual(heard, ['default', 'at 10']);
});

test('registering returns the function that unregisters', () => {
  const { bus } = aBus();
  const heard: number[] = [];
  const off = bus.on('*', () => void heard.push(1));
  bus.deliver(fact(1));
  off();
  bus.deliver(fact(2));
  assert.deepEqual(heard, [1]);
});

test('a parent is delivered to everybody before the children stated while it was heard', () => {
  const { bus } = aBus();
  const heard: string[] = [];
  bus.on('io.output', (event) => {
    if (event.seq === 1) bus.deliver(fact(2));
  });
  bus.on('*', (event) => void heard.push('seq' in event ? `${event.seq}` : ''));
  bus.deliver(fact(1));
  assert.deepEqual(heard, ['1', '2']);
});

test('a listener that throws costs a log line and the others still hear', () => {
  const { bus, lines } = aBus();
  const heard: number[] = [];
  bus.on('*', () => {
    throw new Error('broken');
  });
  bus.on('*', () => void heard.push(1));
  bus.deliver(fact(1));
  assert.deepEqual({ heard, lines }, { heard: [1], lines: ['a listener failed'] });
});

test('a slow listener hears one conversation in order and does not delay the others', async () => {
  const { bus } = aBus();
  const gate = aSignal();
  const slow: number[] = [];
  const quick: number[] = [];
  bus.on('io.output', async ({ seq }) => {
    if (seq === 1) await gate.promise;
    slow.push(seq);
  });
  bus.on('io.output', ({ seq }) => void quick.push(seq));
  for (const seq of [1, 2, 3]) bus.deliver(fact(seq));
  const before = [...slow];
  gate.resolve();
  await bus.settled();
  assert.deepEqual({ before, slow, quick }, { before: [], slow: [1, 2, 3], quick: [1, 2, 3] });
});

test('a listener that hangs is left behind after its time', async () => {
  const { bus, lines, clock } = aBus({ listenerTimeoutMs: 100 });
  const heard: number[] = [];
  bus.on('io.output', ({ seq }) => {
    heard.push(seq);
    return seq === 1 ? new Promise(() => undefined) : undefined;
  });
  bus.deliver(fact(1));
  bus.deliver(fact(2));
  clock.advance(100);
  await settle();
  assert.deepEqual({ heard, lines }, { heard: [1, 2], lines: ['a listener failed'] });
});

test('what waits for a slow listener is bounded, and dropping is said once', async () => {
  const { bus, lines } = aBus({ maxQueued: 2 });
  const gate = aSignal();
  const heard: number[] = [];
  bus.on('io.output', async ({ seq }) => {
    heard.push(seq);
    if (seq === 1) await gate.promise;
  });
  for (const seq of [1, 2, 3, 4, 5]) bus.deliver(fact(seq));
  gate.resolve();
  await bus.settled();
  assert.deepEqual({ heard, lines: lines.length }, { heard: [1, 4, 5], lines: 1 });
});

test('a second answerer of one request is refused', () => {
  const { bus } = aBus();
  bus.answer('plan.request', () => ({ steps: [], source: 'a' }), { source: 'planner.a' });
  assert.throws(() => bus.answer('plan.request', () => ({ steps: [], source: 'b' }), { source: 'planner.b' }), {
    code: 'plugin_failed',
  });
});

test('a gate or a subscription of something that does not exist is refused when it is registered', () => {
  const { bus } = aBus();
  assert.throws(() => bus.before('before:tool.invok' as never, () => undefined, { source: 'gate.mine' }), {
    code: 'plugin_failed',
  });
  assert.throws(() => bus.on('tool.invok' as never, () => undefined), { code: 'plugin_failed' });
  assert.throws(() => bus.on('tol.*', () => undefined), { code: 'plugin_failed' });
});

test('what only patient listeners hear need not be stated at once', () => {
  const { bus } = aBus();
  const heard: string[] = [];
  bus.on('llm.*', (event) => void heard.push(event.type), { patient: true });
  assert.deepEqual([bus.isHeard('llm.request'), bus.isAwaited('llm.request')], [true, false]);
  bus.deliver(fact(1, 'llm.request'));
  assert.deepEqual(heard, ['llm.request']);
  const off = bus.on('llm.request', () => undefined);
  assert.equal(bus.isAwaited('llm.request'), true);
  off();
  assert.equal(bus.isAwaited('llm.request'), false);
});

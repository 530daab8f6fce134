// What passes by in one process, heard in another, over a relay that may lose and repeat.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Passing } from '../../src/domain/event.ts';
import type { Relay } from '../../src/kernel/log.ts';
import { createPassing } from '../../src/platform/hosting/passing.ts';
import { createSharedPassing } from '../../src/platform/hosting/shared-passing.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import type { PassingEvents } from '../../src/platform/hosting/passing.ts';

/** Time that passes when it is told to. */
function aClock() {
  let waiting: (() => void)[] = [];
  return {
    now: () => 0,
    after: (_ms: number, callback: () => void) => {
      waiting.push(callback);
      return () => (waiting = waiting.filter((one) => one !== callback));
    },
    pass: () => waiting.splice(0).forEach((one) => one()),
  };
}

/** Processes that call to each other. `lost` says which messages nobody hears. */
function aRoom(lost: (message: string) => boolean = () => false) {
  const ears = new Set<(message: string) => void>();
  const sent: string[] = [];
  const join = (): Relay => {
    let own: ((message: string) => void) | undefined;
    return {
      bytesMax: 7_000,
      send(message) {
        assert.ok(Buffer.byteLength(message) <= 7_000);
        sent.push(message);
        if (!lost(message)) for (const ear of [...ears]) if (ear !== own) ear(message);
      },
      listen(listener, onUp) {
        own = listener;
        ears.add(listener);
        onUp();
        return () => void ears.delete(listener);
      },
    };
  };
  return { join, sent };
}

type Speak = (event: Omit<Passing, 'conversationId' | 'agentPath' | 'at'>) => void;

function aProcess(relay: Relay): { passing: PassingEvents; speak: Speak; clock: ReturnType<typeof aClock> } {
  const heard = new Map<string, Set<(event: Passing) => void>>();
  const on = (type: string, listener: (event: never) => void) => {
    const known = heard.get(type) ?? new Set();
    heard.set(type, known.add(listener as never)); // the bus hands each listener what it asked for
    return () => void known.delete(listener as never);
  };
  const clock = aClock();
  // All that is asked of a bus here: to hand each listener what it asked for.
  const passing = createSharedPassing(createPassing([{ on } as unknown as Pick<Bus, 'on'>]), relay, clock);
  const speak: Speak = (event) => {
    const whole = { conversationId: 'c1', agentPath: 'main', at: 0, ...event } as Passing; // a type and its payload
    for (const listener of heard.get(event.type) ?? []) listener(whole);
  };
  return { passing, speak, clock };
}

const piece = (delta: string) =>
  ({ type: 'llm.stream.chunk', payload: { part: 'p', kind: 'text', entry: 't1-i1-text', attempt: 1, delta } }) as const;
const wordsOf = (events: readonly Passing[]): string =>
  events.map((event) => (event.type === 'llm.stream.chunk' ? event.payload.delta : `(${event.type})`)).join('');

test('a reader elsewhere hears a text from its first word, also when it comes in the middle', () => {
  const room = aRoom();
  const [driver, reader] = [aProcess(room.join()), aProcess(room.join())];
  driver.speak(piece('One '));
  const heard: Passing[] = [];
  reader.passing.on('c1', (event) => heard.push(event));
  driver.speak(piece('two '));
  driver.clock.pass();
  driver.speak(piece('three'));
  driver.speak({ type: 'io.status', payload: { state: 'waiting' } });
  driver.clock.pass();
  assert.equal(wordsOf(heard), 'One two three(io.status)');
  assert.equal(wordsOf(reader.passing.soFar('c1')), 'One two three');
});

test('nothing is sent of a run that nobody elsewhere follows', () => {
  const room = aRoom();
  const driver = aProcess(room.join());
  aProcess(room.join());
  room.sent.length = 0;
  driver.speak(piece('One '));
  driver.clock.pass();
  assert.deepEqual(room.sent, []);
});

test('a message that was lost is noticed, and what was in it comes again', () => {
  let losing = false;
  const room = aRoom((message) => losing && message.includes('pieces'));
  const [driver, reader] = [aProcess(room.join()), aProcess(room.join())];
  const heard: Passing[] = [];
  reader.passing.on('c1', (event) => heard.push(event));
  driver.speak(piece('One '));
  driver.clock.pass();
  losing = true;
  driver.speak(piece('two '));
  driver.clock.pass();
  losing = false;
  driver.speak(piece('three '));
  driver.clock.pass();
  driver.clock.pass();
  assert.equal(wordsOf(heard), 'One two three ');
});

test('a second reader costs the first no repetition', () => {
  const room = aRoom();
  const [driver, first, second] = [aProcess(room.join()), aProcess(room.join()), aProcess(room.join())];
  const [one, two]: [Passing[], Passing[]] = [[], []];
  first.passing.on('c1', (event) => one.push(event));
  driver.speak(piece('One '));
  driver.clock.pass();
  second.passing.on('c1', (event) => two.push(event));
  driver.clock.pass();
  driver.speak(piece('two'));
  driver.clock.pass();
  assert.deepEqual([wordsOf(one), wordsOf(two)], ['One two', 'One two']);
});

test('a text that is larger than a message comes whole', () => {
  const room = aRoom();
  const [driver, reader] = [aProcess(room.join()), aProcess(room.join())];
  const heard: Passing[] = [];
  reader.passing.on('c1', (event) => heard.push(event));
  const text = '🧵\u0000'.repeat(5_000);
  driver.speak(piece(text));
  driver.clock.pass();
  assert.equal(wordsOf(heard), text);
});

test('who comes later to drive learns what is wanted', () => {
  const room = aRoom();
  const reader = aProcess(room.join());
  const heard: Passing[] = [];
  reader.passing.on('c1', (event) => heard.push(event));
  const driver = aProcess(room.join());
  driver.speak(piece('One'));
  driver.clock.pass();
  assert.equal(wordsOf(heard), 'One');
});

test('what is not a message of ours is let go', () => {
  const room = aRoom();
  const stranger = room.join();
  const reader = aProcess(room.join());
  reader.passing.on('c1', () => assert.fail('something was heard'));
  for (const text of [
    '',
    '{',
    '[]',
    '{"pieces":[{}]}',
    '{"pieces":[{"event":{"type":"llm.stream.chunk","conversationId":"c1","payload":{}}}]}',
  ])
    stranger.send(text);
});

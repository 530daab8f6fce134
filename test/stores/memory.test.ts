import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { aConversation, answer, say, StillClock } from '../conformance/log-samples.ts';
import { logConformance } from '../conformance/log.ts';

logConformance('memory', { open: (clock) => createMemoryLog({ clock }) });

test('the memory log answers at once and hands out the very payloads it was given', () => {
  const log = createMemoryLog({ clock: new StillClock() });
  log.create(aConversation('c1'));
  const { fact } = log.post('c1', say('hello'));
  const lease = log.take('c1', 'worker-1', 1000)!;
  const result = log.append(lease, 1, [answer('a')]);
  assert.ok(result.ok);
  const [first, second] = log.read('c1', 0, 10);
  assert.deepEqual([first, second], [fact, result.facts[0]]);
  assert.equal(first?.payload, fact.payload);
  assert.equal(second?.payload, result.facts[0]?.payload);
});

test('a page of facts is not the log itself', () => {
  const log = createMemoryLog({ clock: new StillClock() });
  log.create(aConversation('c1'));
  log.post('c1', say('hello'));
  const page = log.read('c1', 0, 10);
  log.post('c1', say('more'));
  assert.equal(page.length, 1);
});

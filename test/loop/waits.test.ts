// Actions that wait for work outside: the turn rests, anybody hands in the result, and that is the action's one observation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { FactPayload } from '../../src/domain/event.ts';
import { statusOf, wakeAt } from '../../src/domain/run.ts';
import { waitFor } from '../../src/kernel/tool.ts';
import { deny } from '../../src/kernel/verdict.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import { aHouse, aTool, lastOf, type House, type HouseOptions } from '../support/house.ts';
import { brokenRules } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

const job = (expiresInMs?: number) =>
  aTool(
    'job',
    (_: never, { idempotencyKey }: ToolContext) =>
      waitFor({ ticket: idempotencyKey, note: 'a long one', ...(expiresInMs !== undefined && { expiresInMs }) }),
    { effect: 'once' },
  );
const asks = { actions: [{ name: 'job', arguments: {} }] };
const TICKET = 'c1/t1-1-1';

function waiting(options: HouseOptions = {}): House {
  return aHouse({ tools: [job()], script: [asks, { text: 'done' }], ...options });
}

const ended = (payload: Partial<FactPayload<'computation.ended'>> = {}) => ({
  type: 'computation.ended' as const,
  payload: { ticket: TICKET, outcome: 'ok' as const, value: 42, by: 'farm', ...payload },
  key: payload.ticket ?? TICKET,
});

test('the turn rests, without a question to anybody and without a deadline', async () => {
  const house = waiting();
  const conversation = await house.ask('go');
  assert.deepEqual([statusOf(conversation), wakeAt(conversation)], ['waiting_for_computation', undefined]);
  assert.equal((await house.log.find('c1'))?.status, 'waiting_for_computation');
  assert.deepEqual(await house.log.ready(10), []);
});

test('what is handed in is the result, and the tool does not run again', async () => {
  const house = waiting();
  await house.ask('go');
  await house.post(ended());
  const conversation = await house.drive({ owner: 'another' });
  assert.deepEqual(await lastOf(house, 'tool.result'), { action: 't1-1-1', outcome: 'ok', value: 42 });
  assert.equal((await house.story()).split('tool.invoke').length, 2);
  assert.equal(conversation.turns.at(-1)?.end?.status, 'completed');
  assert.deepEqual(brokenRules(await house.facts()), []);
});

test('what failed outside is a failed observation, with what was handed in', async () => {
  const house = waiting();
  await house.ask('go');
  await house.post(ended({ outcome: 'failed', error: { code: 'no_disk', message: 'The farm is full.' } }));
  await house.drive();
  const result = await lastOf(house, 'tool.result');
  assert.deepEqual([result?.outcome, result?.error?.code, result?.value], ['failed', 'no_disk', 42]);
});

test('the first result of a ticket counts', async () => {
  const house = waiting();
  await house.ask('go');
  await house.post(ended());
  await house.post(ended({ value: 43 }));
  await house.post({ ...ended({ value: 44 }), key: 'another' });
  await house.drive();
  assert.equal((await lastOf(house, 'tool.result'))?.value, 42);
});

test('a result that comes before the wait is on record is not lost', async () => {
  const house: House = waiting({
    tools: [
      aTool('job', async (_: never, { idempotencyKey }: ToolContext) => {
        await house.post(ended());
        return waitFor({ ticket: idempotencyKey });
      }),
    ],
  });
  const conversation = await house.ask('go');
  assert.equal((await lastOf(house, 'tool.result'))?.value, 42);
  assert.equal(conversation.turns.at(-1)?.end?.status, 'completed');
});

test('a ticket that nobody redeems in time is a failure, without anybody asking', async () => {
  const clock = aClock();
  const house = waiting({ clock, log: createMemoryLog({ clock }), tools: [job(60_000)] });
  assert.equal(wakeAt(await house.ask('go')), clock.now() + 60_000);
  clock.advance(60_000);
  await house.drive();
  assert.deepEqual((await lastOf(house, 'tool.result'))?.error?.code, 'expired');
  const late = await house.log.post('c1', ended());
  assert.deepEqual([late.fresh, late.fact.type === 'computation.ended' && late.fact.payload.by], [false, 'clock']);
});

test('gates judge what was handed in as they judge what a tool returns', async () => {
  const house = waiting({ plugins: (bus) => void bus.before('before:tool.result', () => deny('not for the model')) });
  await house.ask('go');
  await house.post(ended());
  await house.drive();
  assert.equal((await lastOf(house, 'tool.result'))?.outcome, 'refused');
});

test('a large result is cut, and can be read on', async () => {
  const house = waiting({ limits: { maxResultBytes: 256 } });
  await house.ask('go');
  await house.post(ended({ value: 'x'.repeat(10_000) }));
  await house.drive();
  const { size, ref } = (await lastOf(house, 'tool.result')) ?? {};
  assert.deepEqual([size, (await house.log.readBody('c1', ref ?? ''))?.length], [10_000, 10_000]);
});

test('a stop settles what waits, and a result that comes later changes nothing', async () => {
  const house = waiting();
  await house.ask('go');
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  const stopped = await house.drive();
  assert.deepEqual(
    [stopped.turns.at(-1)?.end?.status, (await lastOf(house, 'tool.result'))?.outcome],
    ['stopped', 'unknown'],
  );
  await house.post(ended());
  assert.equal((await house.drive()).turn, undefined);
  assert.deepEqual(brokenRules(await house.facts()), []);
});

test('siblings run on while one waits, and results stand in the order asked', async () => {
  const house = aHouse({
    tools: [job(), aTool('look', () => 'seen')],
    limits: { maxConcurrent: 2 },
    script: [
      {
        actions: [
          { name: 'job', arguments: {} },
          { name: 'look', arguments: {} },
        ],
      },
      { text: 'done' },
    ],
  });
  const resting = await house.ask('go');
  assert.equal(resting.turn?.toolCalls, 1);
  await house.post(ended());
  const { turns } = await house.drive();
  const values = [...(turns.at(-1)?.iterations ?? [])][0]?.actions.map((one) => one.observation?.value);
  assert.deepEqual(values, [42, 'seen']);
});

test('a ticket of another action is refused', async () => {
  const house = aHouse({
    tools: [aTool('job', () => waitFor({ ticket: 'same' }))],
    limits: { maxConcurrent: 2, maxRepeats: 0 },
    script: [
      {
        actions: [
          { name: 'job', arguments: { n: 1 } },
          { name: 'job', arguments: { n: 2 } },
        ],
      },
      { text: 'done' },
    ],
  });
  await house.ask('go');
  assert.equal((await lastOf(house, 'tool.result'))?.error?.code, 'ticket_taken');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hold } from '../../src/kernel/verdict.ts';
import { statusOf } from '../../src/domain/run.ts';
import { aHouse, aTool, lastOf, type House } from '../support/house.ts';
import { aClock, type SimulatedClock } from '../support/sim-clock.ts';

interface Waiting {
  readonly house: House;
  readonly clock: SimulatedClock;
  readonly request: string;
  readonly ran: () => number;
}

/** A turn that waits for a person, who has a minute. */
async function waiting(): Promise<Waiting> {
  const clock = aClock();
  let ran = 0;
  const house = aHouse({
    clock,
    script: [{ actions: [{ name: 'pay', arguments: { to: 'a' } }] }, { text: 'ok' }],
    tools: [aTool('pay', () => ++ran, { effect: 'once' })],
    plugins: (bus) => bus.before('before:tool.invoke', () => hold('May it pay?', { expiresInMs: 60_000 })),
  });
  await house.say('go');
  const { turn } = await clock.until(house.drive());
  return { house, clock, request: turn?.requests[0]?.request ?? '', ran: () => ran };
}

test('no answer in time is a denial, never consent', async () => {
  const { house, clock, ran } = await waiting();
  clock.advance(60_000);
  await clock.until(house.drive());
  assert.deepEqual([ran(), (await lastOf(house, 'tool.result'))?.error?.code], [0, 'expired']);
});

test('before its deadline a request waits on', async () => {
  const { house, clock, ran } = await waiting();
  clock.advance(59_000);
  const conversation = await clock.until(house.drive());
  assert.deepEqual([ran(), statusOf(conversation)], [0, 'pending_action_approval']);
});

test('an answer that comes after the request has expired changes nothing', async () => {
  const { house, clock, request, ran } = await waiting();
  clock.advance(60_000);
  await house.post({ type: 'hitl.cancel', payload: { request, reason: 'expired' } });
  await house.post({ type: 'hitl.responded', payload: { request, decision: 'allow', by: 'ana' } });
  await clock.until(house.drive());
  assert.deepEqual([ran(), (await lastOf(house, 'tool.result'))?.error?.code], [0, 'expired']);
});

test('of two answers the first one counts', async () => {
  const { house, clock, request, ran } = await waiting();
  await house.post({ type: 'hitl.responded', payload: { request, decision: 'reject', by: 'ana' } });
  await house.post({ type: 'hitl.responded', payload: { request, decision: 'allow', by: 'bo' } });
  await clock.until(house.drive());
  assert.deepEqual([ran(), (await lastOf(house, 'tool.result'))?.error?.code], [0, 'rejected']);
});

test('an answer in time that is read late still counts', async () => {
  const { house, clock, request, ran } = await waiting();
  await house.post({ type: 'hitl.responded', payload: { request, decision: 'allow', by: 'ana' } });
  clock.advance(600_000);
  await clock.until(house.drive());
  assert.equal(ran(), 1);
});

test('of two results of one action the first one counts', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'look' }] }, { text: 'ok' }],
    tools: [aTool('look', () => 'seen')],
  });
  await house.ask('go');
  await house.post({ type: 'io.input', payload: { text: 'more', mode: 'message' } });
  await house.post({ type: 'agent.turn.start', payload: { digest: 'd' } });
  await house.post({
    type: 'llm.request',
    payload: { model: { provider: 'scripted', model: 'scripted' }, role: 'r', attempt: 1 },
  });
  await house.post({
    type: 'llm.response',
    payload: {
      content: [{ type: 'action', id: 't2-1-1', name: 'look', input: '{}' }],
      stop: 'actions',
      usage: {},
      attempt: 1,
    },
  });
  for (const value of ['first', 'second'])
    await house.post({ type: 'tool.result', payload: { action: 't2-1-1', outcome: 'ok', value } });
  const { turn } = await house.fold();
  assert.deepEqual([turn?.current?.actions[0]?.observation?.value, turn?.toolCalls], ['first', 1]);
});

// What a turn does that is driven in pieces: by workers that die, that share their time, or that come back for a deadline.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { wakeAt } from '../../src/domain/run.ts';
import { hold } from '../../src/kernel/verdict.ts';
import type { ModelPart } from '../../src/domain/model.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { ModelSource } from '../../src/kernel/model.ts';
import { drive } from '../../src/loop/drive.ts';
import { next } from '../../src/loop/next.ts';
import { createWorker } from '../../src/platform/hosting/worker.ts';
import { aHouse, aSignal, aTool, lastOf, noIds, settle, type House } from '../support/house.ts';
import { brokenRules } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

/** A worker that is killed while a tool runs: whatever it would write afterwards is refused. */
async function dieInTool(log: Log): Promise<void> {
  const never = aTool('heavy', () => new Promise(() => undefined), { timeoutMs: 0 });
  const house = aHouse({
    log,
    tools: [never],
    script: [{ actions: [{ name: 'heavy', arguments: {} }] }, { text: 'ok' }],
  });
  const lease = await log.take('c1', 'dying', 60_000);
  assert.ok(lease);
  void drive(house.ports, house.meta, lease).catch(() => undefined);
  await settle();
  await log.take('c1', 'dying', 1);
  const mine = await log.take('c1', 'dying', 1);
  if (mine !== undefined) await log.release(mine, { unfinished: true });
}

test('a turn that takes its worker down five times in a row ends as a crash loop', async () => {
  const log = createMemoryLog({ clock: aClock() });
  const house = aHouse({ log, tools: [aTool('heavy', () => 'at last')], script: [{ text: 'ok' }, { text: 'ok' }] });
  await house.say('go');
  for (let life = 0; life < 5; life++) await dieInTool(log);
  assert.equal((await house.fold()).turn?.stalls, 4);
  const ended = await house.drive({ owner: 'heir' });
  assert.equal(ended.turns.at(-1)?.end?.error?.code, 'crash_loop');
  assert.equal((await lastOf(house, 'tool.result'))?.error?.code, 'crash_loop');
  assert.deepEqual(brokenRules(await house.facts()), []);
  assert.equal((await house.ask('again?')).turns.at(-1)?.end?.status, 'completed');
});

test('a turn that gets on between two crashes is no crash loop', async () => {
  const log = createMemoryLog({ clock: aClock() });
  const house = aHouse({ log, tools: [aTool('heavy', () => 'at last')], script: [{ text: 'ok' }, { text: 'ok' }] });
  await house.say('go');
  for (let life = 0; life < 4; life++) await dieInTool(log);
  await house.say('and this', 'followup');
  await dieInTool(log);
  assert.equal((await house.fold()).turn?.stalls, 1);
  assert.equal((await house.drive({ owner: 'heir' })).turns.at(-1)?.end?.status, 'completed');
});

test('a slice ends before the model call that is beyond its budget, and another goes on', async () => {
  const log = createMemoryLog({ clock: aClock() });
  const step = { actions: [{ name: 'look', arguments: {} }] };
  const house = aHouse({ log, tools: [aTool('look', () => 'seen')], script: [step, step, step, { text: 'done' }] });
  await house.say('go');
  const lease = log.take('c1', 'w1', 60_000);
  assert.ok(lease);
  const stopped = await drive(house.ports, house.meta, lease, { budget: { calls: 2, ms: 60_000 } });
  assert.deepEqual([stopped.turn?.calls, next(stopped).type], [2, 'call_model']);
  assert.equal((await house.drive()).turns.at(-1)?.end?.status, 'completed');
  assert.deepEqual(brokenRules(await house.facts()), []);
});

test('an approval that nobody gave in time is a denial without anybody asking', async () => {
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const house = aHouse({
    log,
    clock,
    tools: [aTool('pay', () => 'paid', { effect: 'once' })],
    script: [{ actions: [{ name: 'pay', arguments: {} }] }, { text: 'well' }],
    plugins: (bus) => void bus.before('before:tool.invoke', () => hold('May it?', { expiresInMs: 60_000 })),
  });
  await house.say('go');
  const worker = createWorker({ ...house.ports, ids: noIds });
  const control = { signal: new AbortController().signal, attempt: 1 };
  const deadline = clock.now() + 60_000;
  assert.deepEqual(await worker.slice(house.meta, control), { continueAt: deadline });
  assert.equal(wakeAt(await house.fold()), deadline);
  assert.deepEqual([log.ready(10), log.due()], [[], deadline]);
  clock.advance(60_000);
  assert.deepEqual(log.ready(10), ['c1']);
  assert.equal(await worker.slice(house.meta, control), 'idle');
  assert.equal((await lastOf(house, 'tool.result'))?.error?.code, 'expired');
});

test('an agent that is gone ends the turn with an error instead of failing for ever', async () => {
  const house = aHouse();
  const gone = new TreadleError('bundle_unknown_name', { found: 'no agent "main"' });
  const agents = { ...house.ports.agents, assemble: () => Promise.reject(gone) };
  await house.say('go');
  const lease = await house.log.take('c1', 'w1', 60_000);
  assert.ok(lease);
  const ended = await drive({ ...house.ports, agents }, house.meta, lease);
  assert.deepEqual(
    [ended.turns.at(-1)?.end?.error?.code, (await house.log.find('c1'))?.status, (await house.log.find('c1'))?.title],
    ['bundle_unknown_name', 'error', 'go'],
  );
  await house.log.release(lease);
  assert.equal((await house.ask('again')).turns.at(-1)?.end?.status, 'completed');
});

/** A model that says half of its answer, and the rest once it is let. */
function halting(): { readonly models: ModelSource; readonly calls: () => number; readonly goOn: () => void } {
  const said = aSignal();
  let calls = 0;
  const parts: readonly ModelPart[] = [
    { type: 'start', part: 'a', kind: 'text' },
    { type: 'delta', part: 'a', delta: 'half' },
    { type: 'delta', part: 'a', delta: ' and half' },
    { type: 'action', part: 'b', name: 'look', input: '{}' },
    { type: 'finish', stop: 'actions', usage: { input: 1, output: 1 } },
  ];
  const call = () => {
    calls++;
    let place = 0;
    return {
      next: () => (place === 2 ? said.promise.then(() => parts[place++]) : parts[place++]),
      close: () => undefined,
    };
  };
  return { models: { open: () => ({ call }) }, calls: () => calls, goOn: said.resolve };
}

async function inMidAnswer(house: House): Promise<{
  readonly worker: ReturnType<typeof createWorker>;
  readonly slice: Promise<unknown>;
  readonly control: AbortController;
}> {
  await house.say('go');
  const worker = createWorker({ ...house.ports, ids: noIds });
  const control = new AbortController();
  const slice = worker.slice(house.meta, { signal: control.signal, attempt: 1 });
  await settle();
  return { worker, slice, control };
}

test('a worker that drains lets a model call under way finish and begins nothing new', async () => {
  const { models, calls, goOn } = halting();
  const house = aHouse({ models, tools: [aTool('look', () => 'seen')] });
  const { worker, slice, control } = await inMidAnswer(house);
  control.abort(); // as an engine that stops
  const stopped = worker.stop(60_000);
  await settle();
  assert.equal(await lastOf(house, 'llm.response'), undefined);
  assert.equal(house.log.take('c1', 'other', 1), undefined); // it is still this worker's
  goOn();
  await Promise.all([stopped, slice]);
  assert.equal((await lastOf(house, 'llm.response'))?.failure, undefined);
  assert.match(await house.story(), /llm.response$/);
  assert.equal(calls(), 1);
  assert.ok(house.log.take('c1', 'other', 1));
});

test('a worker whose time to drain is over gives the model call up and says so', async () => {
  const { models } = halting();
  const house = aHouse({ models });
  const { worker, slice } = await inMidAnswer(house);
  await worker.stop(20);
  await slice;
  const response = await lastOf(house, 'llm.response');
  assert.deepEqual([response?.failure?.class, response?.content], ['aborted', [{ type: 'text', text: 'half' }]]);
});

test('a person who stops a turn need not wait for a worker that drains', async () => {
  const { models } = halting();
  const house = aHouse({ models });
  const { worker, slice } = await inMidAnswer(house);
  const stopped = worker.stop(60_000);
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  await Promise.all([stopped, slice]);
  assert.equal((await lastOf(house, 'llm.response'))?.failure?.class, 'aborted');
});

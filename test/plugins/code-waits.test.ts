// A program that calls what somebody has to be asked about is put away, and run again from its start with what is on record.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Fact, FactPayload } from '../../src/domain/event.ts';
import { openRequests } from '../../src/domain/conversation.ts';
import { statusOf } from '../../src/domain/run.ts';
import { timelineOf, entriesOf } from '../../src/domain/timeline.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Tool } from '../../src/kernel/running-tool.ts';
import { askPerson, delegateTo, parkProgram, waitFor } from '../../src/kernel/tool.ts';
import { hold } from '../../src/kernel/verdict.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { compileTool, toolOf } from '../../src/platform/grant/catalog.ts';
import { Crash, dyingLog, type CrashPoint } from '../support/crash-log.ts';
import { aHouse, aSignal, aTool, lastOf, type House } from '../support/house.ts';
import { brokenRules, type Ledger } from '../support/invariants.ts';

type Answer = Omit<FactPayload<'hitl.responded'>, 'request' | 'by'>;

function codeTool(): Tool {
  const [spec] = builtinGroups.get('code')?.configured?.tools({}) ?? [];
  const compiled = compileTool(spec, 'code');
  return toolOf(compiled, { ...compiled.definition, name: 'code_run', group: 'code' });
}

interface World {
  readonly house: House;
  /** What really happened, by idempotency key. */
  readonly ledger: Ledger;
  /** With which arguments, in order. */
  readonly done: string[];
}

function aWorld(
  code: string,
  {
    log,
    clock = systemClock,
    ledger = new Map<string, number>(),
    tools = [],
    expiresInMs,
  }: {
    readonly log?: Log;
    readonly clock?: Clock;
    readonly ledger?: Ledger;
    readonly tools?: readonly Tool[];
    /** Of the question whether it may pay. */
    readonly expiresInMs?: number;
  } = {},
): World {
  const done: string[] = [];
  const happen = (args: unknown, { idempotencyKey }: { readonly idempotencyKey: string }): Json => {
    ledger.set(idempotencyKey, (ledger.get(idempotencyKey) ?? 0) + 1);
    done.push(JSON.stringify(args));
    return { done: args as Json };
  };
  const house = aHouse({
    script: [{ actions: [{ name: 'code_run', arguments: { code } }] }, { text: 'Done.' }],
    clock,
    ...(log !== undefined && { log }),
    tools: [codeTool(), aTool('note', happen, { effect: 'once' }), aTool('pay', happen, { effect: 'once' }), ...tools],
    plugins: (bus) =>
      void bus.before(
        'before:tool.invoke',
        ({ tool }) =>
          tool.name === 'pay' ? hold('May it pay?', expiresInMs === undefined ? {} : { expiresInMs }) : undefined,
        {
          source: 'gate.approval',
        },
      ),
  });
  return { house, ledger, done };
}

async function openOf(house: House): Promise<readonly string[]> {
  const { turn } = await house.fold();
  return turn === undefined ? [] : openRequests(turn).map((one) => one.request);
}

async function answer(house: House, request: string, given: Answer): Promise<void> {
  await house.post({ type: 'hitl.responded', payload: { request, by: 'ana', ...given }, key: request });
}

async function outcome(house: House): Promise<unknown> {
  const result = await lastOf(house, 'tool.result');
  return result?.outcome === 'ok' ? result.value : [result?.outcome, result?.error?.code];
}

const ONE = `
  await tools.note({ text: 'first' });
  return (await tools.pay({ to: 'bea' })).value.done.to;`;

test('a call that needs a person waits for one, and what was done before is not done again', async () => {
  const { house, done } = aWorld(ONE);
  const waiting = await house.ask('Go.');
  assert.deepEqual([statusOf(waiting), done], ['pending_action_approval', ['{"text":"first"}']]);
  await answer(house, 't1-1-1.2-a1', { decision: 'allow' });
  await house.drive();
  assert.deepEqual(done, ['{"text":"first"}', '{"to":"bea"}']);
  assert.equal(await outcome(house), 'bea');
});

test('the request says which tool would run with what, and whose program asks', async () => {
  const { house } = aWorld(ONE);
  await house.ask('Go.');
  const { name, action, parent, arguments: given } = (await lastOf(house, 'hitl.requested')) ?? {};
  assert.deepEqual(
    { name, action, parent, given },
    {
      name: 'pay',
      action: 't1-1-1.2',
      parent: 't1-1-1',
      given: { to: 'bea' },
    },
  );
});

test('time and chance are what they were before it waited', async () => {
  let now = 1_700_000_000_000;
  const clock: Clock = { now: () => now, after: (ms, ring) => systemClock.after(ms, ring) };
  const code = `const seen = [Math.random(), Date.now()]; await tools.note({ seen }); await tools.pay({ seen }); return seen;`;
  const { house, done } = aWorld(code, { clock });
  await house.ask('Go.');
  now += 86_400_000;
  await answer(house, 't1-1-1.2-a1', { decision: 'allow' });
  await house.drive();
  const seen = await outcome(house);
  assert.deepEqual(done, [JSON.stringify({ seen }), JSON.stringify({ seen })]);
});

const BOTH = `
  const all = await Promise.allSettled(['bea', 'cem'].map((to) => tools.pay({ to })));
  return all.map((one) => one.status === 'fulfilled' ? one.value.value.done.to : one.reason.message);`;

test('several calls wait at once, and are answered one by one in any order', async () => {
  const { house, done } = aWorld(BOTH);
  await house.ask('Go.');
  assert.deepEqual(await openOf(house), ['t1-1-1.1-a1', 't1-1-1.2-a1']);
  await answer(house, 't1-1-1.2-a1', { decision: 'allow' });
  assert.equal(statusOf(await house.drive()), 'pending_action_approval');
  assert.deepEqual(done, ['{"to":"cem"}']);
  await answer(house, 't1-1-1.1-a1', { decision: 'reject', note: 'not her' });
  await house.drive();
  assert.deepEqual(await outcome(house), ['pay: The user refused this action: not her', 'cem']);
});

test('an edit is what runs, and the log says who changed it', async () => {
  const { house, done } = aWorld(ONE);
  await house.ask('Go.');
  await answer(house, 't1-1-1.2-a1', { decision: 'edit', arguments: { to: 'dan' } });
  await house.drive();
  const intent = (await house.facts()).find(
    (fact) => fact.type === 'tool.invoke' && fact.payload.action === 't1-1-1.2',
  );
  assert.deepEqual([done.at(-1), (intent?.payload as FactPayload<'tool.invoke'>).revisedBy], ['{"to":"dan"}', 'ana']);
});

test('a no is an error inside of the program, which may go on', async () => {
  const { house, done } = aWorld(
    `try { await tools.pay({ to: 'bea' }); } catch (error) { await tools.note({ text: 'not paid' }); return error.message; }`,
  );
  await house.ask('Go.');
  await answer(house, 't1-1-1.1-a1', { decision: 'reject' });
  await house.drive();
  assert.deepEqual([await outcome(house), done], ['pay: The user refused this action.', ['{"text":"not paid"}']]);
});

test('a question that nobody answered in time is an error inside of the program, which may go on', async () => {
  let now = 1_700_000_000_000;
  const clock: Clock = { now: () => now, after: (ms, ring) => systemClock.after(ms, ring) };
  const { house, done } = aWorld(
    `try { await tools.pay({ to: 'bea' }); } catch (error) { await tools.note({ text: 'too late' }); return error.message; }`,
    { clock, expiresInMs: 60_000 },
  );
  assert.equal(statusOf(await house.ask('Go.')), 'pending_action_approval');
  now += 60_001;
  await house.drive();
  assert.deepEqual(
    [(await lastOf(house, 'hitl.cancel'))?.reason, done, await outcome(house)],
    ['expired', ['{"text":"too late"}'], 'pay: Nobody approved this in time, so it did not run.'],
  );
});

for (const [what, returned] of [
  ['work elsewhere', () => waitFor({ ticket: 'a ticket', note: 'a long one' })],
  ['another agent', () => delegateTo('clerk', 'work')],
] as const) {
  test(`a call of what waits for ${what} is refused, and says to call it by itself`, async () => {
    const late = aTool('late', returned, { effect: 'idempotent', timeoutMs: 0 });
    const { house } = aWorld(`try { await tools.late(); } catch (error) { return error.message; }`, { tools: [late] });
    await house.ask('Go.');
    const inner = (await house.facts()).find(({ type }) => type === 'tool.result')
      ?.payload as FactPayload<'tool.result'>;
    assert.deepEqual([inner.action, inner.outcome, inner.error?.code], ['t1-1-1.1', 'refused', 'cannot_wait']);
    assert.match(String(await outcome(house)), /^late: late waits for somebody else, .* use it by itself\.$/);
  });
}

test('a tool that asks a person is given their words', async () => {
  const ask = aTool('ask', (_, { reply }) => reply ?? askPerson('Which one?', ['a', 'b']));
  const { house } = aWorld(`return (await tools.ask()).value;`, { tools: [ask] });
  assert.equal(statusOf(await house.ask('Go.')), 'awaiting_user_input');
  await answer(house, 't1-1-1.1-q1', { decision: 'reply', text: 'b' });
  await house.drive();
  assert.equal(await outcome(house), 'b');
});

test('a cancel takes the question back, and every call has its result', async () => {
  const { house } = aWorld(ONE);
  await house.ask('Go.');
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  const { turns } = await house.drive();
  const results = (await house.facts()).flatMap((fact) =>
    fact.type === 'tool.result' ? [`${fact.payload.action} ${fact.payload.outcome}`] : [],
  );
  assert.deepEqual(
    [results, turns.at(-1)?.end?.status, (await lastOf(house, 'hitl.cancel'))?.reason],
    [['t1-1-1.1 ok', 't1-1-1.2 cancelled', 't1-1-1 cancelled'], 'stopped', 'cancelled'],
  );
  assert.match((await lastOf(house, 'tool.result'))?.error?.message ?? '', /Of its calls were made: note\./);
});

test('a program that ends without its question takes it back', async () => {
  const { house } = aWorld(`tools.pay({ to: 'bea' }); return 'gone';`);
  const { turns } = await house.ask('Go.');
  assert.deepEqual(
    [turns.at(-1)?.output, (await lastOf(house, 'hitl.cancel'))?.request, await outcome(house)],
    ['Done.', 't1-1-1.1-a1', 'gone'],
  );
});

test('the card of the program waits with its questions', async () => {
  const { house } = aWorld(BOTH);
  await house.ask('Go.');
  const card = [...entriesOf(timelineOf(await house.facts()))].find((one) => one.role === 'action');
  assert.deepEqual(card?.role === 'action' ? [card.data.state, card.data.requests.map((one) => one.name)] : undefined, [
    'waiting',
    ['pay', 'pay'],
  ]);
});

test('a worker that lets go puts the program away, and the next one goes on with it', async () => {
  const begun = aSignal();
  const [stop, late] = [new AbortController(), aSignal()];
  const slow = aTool('slow', async () => {
    begun.resolve();
    await late.promise;
    return 'slow';
  });
  const code = `const one = await tools.slow(); const two = await tools.note({ text: 'after' }); return one.value;`;
  const { house, done } = aWorld(code, { tools: [slow] });
  await house.say('Go.');
  const first = house.drive({ signal: stop.signal });
  await begun.promise;
  stop.abort();
  late.resolve();
  assert.equal((await first).turn?.current?.actions[0]?.observation, undefined);
  await house.drive({ owner: 'w2' });
  assert.deepEqual([await outcome(house), done], ['slow', ['{"text":"after"}']]);
});

/** A program that is not what it was when it is run again. */
function fickle(calls: (run: number) => readonly (readonly [string, JsonObject])[]): Tool {
  let run = 0;
  const tool = aTool(
    'fickle',
    async (_, { program }) => {
      const told = [];
      for (const [name, args] of calls(++run)) told.push(await program?.call(name, args));
      program?.onIdle();
      return told.includes('parked') ? parkProgram() : 'end';
    },
    { effect: 'once' },
  );
  return { ...tool, replays: true };
}

for (const [what, calls, why] of [
  [
    'asks for something else',
    (run: number) => [
      ['note', { n: run }],
      ['pay', {}],
    ],
    /its call t1-1-1\.1 was note/,
  ],
  [
    'does not ask again',
    (run: number) =>
      run === 1
        ? [
            ['note', {}],
            ['pay', {}],
          ]
        : [],
    /did not ask again for t1-1-1\.1/,
  ],
] as const) {
  test(`a program that ${what} when it is run again is ended, and the model is told what had happened`, async () => {
    const ledger: Ledger = new Map();
    const note = aTool(
      'note',
      (_, { idempotencyKey }) => void ledger.set(idempotencyKey, (ledger.get(idempotencyKey) ?? 0) + 1),
      { effect: 'once' },
    );
    const house = aHouse({
      script: [{ actions: [{ name: 'fickle' }] }, { text: 'Done.' }],
      tools: [fickle(calls as never), note, aTool('pay', () => ledger.set('pay', 1))],
      plugins: (bus) =>
        void bus.before('before:tool.invoke', ({ tool }) => (tool.name === 'pay' ? hold('?') : undefined)),
    });
    await house.ask('Go.');
    await answer(house, 't1-1-1.2-a1', { decision: 'allow' });
    await house.drive();
    const { outcome: came, error } = (await lastOf(house, 'tool.result')) ?? {};
    assert.deepEqual([came, error?.code, [...ledger]], ['failed', 'diverged', [['c1/t1-1-1.1', 1]]]);
    assert.match(error?.message ?? '', why);
    assert.match(error?.message ?? '', /What had happened by then: note\./);
  });
}

const LONG = `
  await tools.note({ n: 1 });
  const both = await Promise.all([tools.pay({ to: 'bea' }), tools.note({ n: 2 })]);
  return both.length;`;

async function live(
  crash: CrashPoint | undefined,
): Promise<{ readonly facts: readonly Fact[]; readonly ledger: Ledger; readonly hasCrashed: boolean }> {
  let now = 1_700_000_000_000;
  const clock: Clock = { now: () => now, after: (ms, ring) => systemClock.after(ms, ring) };
  const log = createMemoryLog({ clock });
  const ledger: Ledger = new Map();
  let { house } = aWorld(LONG, { log: crash === undefined ? log : dyingLog(log, crash), clock, ledger });
  await house.say('Go.');
  let hasCrashed = false;
  for (let slice = 0; slice < 10; slice++) {
    try {
      const { turn } = await house.drive({ owner: `w${slice}` });
      if (turn === undefined) break;
      const [request] = await openOf(house);
      if (request !== undefined) await answer(house, request, { decision: 'allow' });
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      hasCrashed = true;
      now += 120_000; // the dead worker's lease runs out
      ({ house } = aWorld(LONG, { log, clock, ledger }));
    }
  }
  return { facts: await house.facts(), ledger, hasCrashed };
}

test('a program that is cut anywhere comes to an end, and nothing in it happens twice', async () => {
  const whole = await live(undefined);
  assert.deepEqual([whole.facts.at(-1)?.type, [...whole.ledger.values()]], ['agent.turn.end', [1, 1, 1]]);
  const wrong: string[] = [];
  for (const when of ['before', 'after'] as const) {
    for (let at = 1; ; at++) {
      const { facts, ledger, hasCrashed } = await live({ at, when });
      if (!hasCrashed) break;
      const ends = facts.findLast((fact) => fact.type === 'agent.turn.end')?.payload.status;
      wrong.push(...brokenRules(facts, ledger).map((rule) => `${when} ${at}: ${rule}`));
      if (ends !== 'completed') wrong.push(`${when} ${at}: ended as ${ends}`);
    }
  }
  assert.deepEqual(wrong, []);
});

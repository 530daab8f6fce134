// Code that the model writes: it has its tools and nothing of the machine, and every call in it is an action.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../src/base/json.ts';
import { iterationsOf } from '../../src/domain/conversation.ts';
import type { Tool } from '../../src/kernel/running-tool.ts';
import { deny, hold } from '../../src/kernel/verdict.ts';
import { toolResult, waitFor } from '../../src/kernel/tool.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { compileTool, toolOf } from '../../src/platform/grant/catalog.ts';
import { entriesOf, timelineOf } from '../../src/domain/timeline.ts';
import { aHouse, aSignal, aTool, lastOf, type House, type HouseOptions } from '../support/house.ts';

function codeTool(config: Json = {}): Tool {
  const [spec] = builtinGroups.get('code')?.configured?.tools(config) ?? [];
  const compiled = compileTool(spec, 'code');
  return toolOf(compiled, { ...compiled.definition, name: 'code_run', group: 'code' });
}

interface Ran {
  readonly house: House;
  readonly outcome: string | undefined;
  readonly value: Json | undefined;
  readonly code: string | undefined;
  readonly text: string;
}

async function ran(
  code: string,
  tools: readonly Tool[] = [],
  { config = {}, ...options }: Partial<HouseOptions> & { readonly config?: Json } = {},
): Promise<Ran> {
  const house = aHouse({
    script: [{ actions: [{ name: 'code_run', arguments: { code } }] }, { text: 'Done.' }],
    tools: [codeTool(config), ...tools],
    ...options,
  });
  await house.ask('Go.');
  const result = await lastOf(house, 'tool.result');
  const [part] = result?.content ?? [];
  return {
    house,
    outcome: result?.outcome,
    value: result?.value,
    code: result?.error?.code,
    text: part?.type === 'text' ? part.text : (result?.error?.message ?? ''),
  };
}

test('what is returned is the result, and what the console says stands beside it', async () => {
  const { value, text } = await ran('console.log("sum of", [1, 2]); return { sum: [1, 2].reduce((a, b) => a + b) };');
  assert.deepEqual([value, text], [{ sum: 3 }, 'sum of [1,2]\n']);
});

test('nothing of the machine is there', async () => {
  const names = ['process', 'require', 'fetch', 'setTimeout', 'WebAssembly', 'Deno', 'std', 'os', '__log', '__call'];
  const { value } = await ran(`return ${JSON.stringify(names)}.filter((name) => name in globalThis);`);
  assert.deepEqual(value, []);
  assert.equal((await ran('return await import("node:fs");')).outcome, 'failed');
});

test('the way back to the functions of the host leads nowhere', async () => {
  const { value } = await ran('return console.log.constructor("return typeof process")();');
  assert.equal(value, 'undefined');
});

test('time and chance are the same in every run', async () => {
  const code = 'return [Math.random(), Date.now()];';
  const clock = { now: () => 1_000, after: () => () => undefined };
  const [one, other] = [await ran(code, [], { clock }), await ran(code, [], { clock })];
  assert.deepEqual(one.value, other.value);
  assert.equal((one.value as number[])[1], 1_000);
});

const ends: readonly (readonly [string, string, string])[] = [
  ['never ends', 'for (;;) {}', 'timeout'],
  ['never ends in a promise', 'for (;;) await null;', 'timeout'],
  ['takes all memory', 'const all = []; for (;;) all.push("x".repeat(100000) + all.length);', 'memory'],
  ['calls itself for ever', 'const f = () => f() + 1; return f();', 'failed'],
  ['is no JavaScript', 'return {', 'syntax'],
  ['throws', 'throw new TypeError("no");', 'failed'],
  ['throws what is no error', 'throw { a: 1 };', 'failed'],
];
for (const [what, code, wanted] of ends) {
  test(`code that ${what} ends as ${wanted}`, async () => {
    const { code: got, outcome } = await ran(code, [], { config: { work_ms: 300, memory_mb: 16 } });
    assert.deepEqual([outcome, got], ['failed', wanted]);
  });
}

const add = aTool('add', ({ a, b }: { a: number; b: number }) => a + b, {
  validate: (args) => ('a' in (args as object) && 'b' in (args as object) ? [] : ['a and b are wanted']),
});

test('a tool that is called from code is an action of its own, with intent, result and gates', async () => {
  const asked: string[] = [];
  const { value, house } = await ran(
    'const all = await Promise.all([1, 2].map((a) => tools.add({ a, b: 1 }))); return all.map((one) => one.value);',
    [add],
    {
      plugins: (bus) =>
        void bus.before('before:tool.invoke', ({ action, tool }) => void asked.push(`${tool.name} ${action}`)),
    },
  );
  assert.deepEqual(value, [2, 3]);
  assert.deepEqual(asked, ['code_run t1-1-1', 'add t1-1-1.1', 'add t1-1-1.2']);
  const told = (await house.facts()).flatMap((fact) =>
    fact.type === 'tool.invoke' || fact.type === 'tool.result'
      ? [`${fact.type} ${fact.payload.action} ${fact.payload.parent ?? ''}`.trim()]
      : [],
  );
  assert.deepEqual(told.toSorted(), [
    'tool.invoke t1-1-1',
    'tool.invoke t1-1-1.1 t1-1-1',
    'tool.invoke t1-1-1.2 t1-1-1',
    'tool.result t1-1-1',
    'tool.result t1-1-1.1 t1-1-1',
    'tool.result t1-1-1.2 t1-1-1',
  ]);
  const entries = [...entriesOf(timelineOf(await house.facts()))];
  assert.deepEqual(
    entries.flatMap((one) => (one.role === 'action' ? (one.data.inner ?? []) : [])),
    [1, 2].map((a) => ({ id: `t1-1-1.${a}`, name: 'add', arguments: { a, b: 1 }, outcome: 'ok' })),
  );
  const [turn] = (await house.fold()).turns;
  const [first] = turn === undefined ? [] : [...iterationsOf(turn)];
  assert.equal(first?.actions.length, 1, 'the model is told of the one action that it asked for');
});

test('what a gate denies, what is not valid, not granted or no tool at all is an error in the code', async () => {
  const once: string[] = [];
  const write = aTool('write', () => once.push('written'), { effect: 'once' });
  const code = `
    const why = async (act) => { try { await act(); return 'done'; } catch (error) { return error.message; } };
    return [await why(() => tools.write()), await why(() => tools.add({ a: 1 })), typeof tools.code_run];`;
  const { value } = await ran(code, [add, write], {
    plugins: (bus) =>
      void bus.before('before:tool.invoke', ({ tool }) => (tool.name === 'write' ? deny('not today') : undefined)),
  });
  assert.deepEqual(value, ['write: not today', 'add: a and b are wanted', 'undefined']);
  assert.deepEqual(once, []);
});

test('what a person would have to be asked about is refused to a tool that cannot be run again', async () => {
  const once: string[] = [];
  const mail = aTool('mail', () => once.push('sent'), { effect: 'once', judge: () => hold('Send it?') });
  const outer = aTool('outer', async (_, { call }) => (await call('mail', {})).error?.message ?? 'sent');
  const house = aHouse({ script: [{ actions: [{ name: 'outer' }] }, { text: 'Done.' }], tools: [outer, mail] });
  await house.ask('Go.');
  assert.match(JSON.stringify((await lastOf(house, 'tool.result'))?.value), /^"A person has to be asked/);
  assert.deepEqual([once, (await house.story()).includes('hitl.requested')], [[], false]);
});

test('what waits for somebody else cannot be called from code', async () => {
  const far = aTool('far', () => waitFor({ ticket: 'x' }));
  const { value } = await ran('try { await tools.far(); } catch (error) { return error.message; }', [far]);
  assert.match(JSON.stringify(value), /^"far: far waits for somebody else/);
});

test('what a gate makes of a result is what the code is given', async () => {
  const look = aTool('look', () => toolResult({ value: 'secret', content: [{ type: 'text', text: 'more' }] }));
  const { value } = await ran('return await tools.look();', [look], {
    plugins: (bus) =>
      void bus.before('before:tool.result', ({ tool }) => (tool.name === 'look' ? deny('kept back') : undefined)),
  });
  assert.equal(value, undefined);
});

test('tools that the bundle does not name for code are not there', async () => {
  const { value } = await ran('return Object.keys(tools);', [add, aTool('other', () => 1)], {
    config: { tools: ['add'] },
  });
  assert.deepEqual(value, ['add']);
});

test('a cancel ends the code and what it called, and both have their results', async () => {
  const begun = aSignal();
  const slow = aTool('slow', async (_, { signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return 'late';
  });
  const house = aHouse({
    script: [{ actions: [{ name: 'code_run', arguments: { code: 'await tools.slow(); return "never";' } }] }],
    tools: [codeTool(), slow],
  });
  await house.say('Go.');
  const driven = house.drive();
  await begun.promise;
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  const [turn] = (await driven).turns;
  const results = (await house.facts()).flatMap((fact) =>
    fact.type === 'tool.result' ? [`${fact.payload.action} ${fact.payload.outcome}`] : [],
  );
  assert.deepEqual([results, turn?.end?.status], [['t1-1-1.1 ok', 't1-1-1 unknown'], 'stopped']);
});

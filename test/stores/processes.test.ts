// What holds between processes that share one file: nothing is lost, one writes at a time, and a crash leaves what was
// acknowledged.
import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { APPLICATION_ID, MIGRATIONS } from '../../src/adapters/stores/sqlite/sql.ts';
import { systemClock } from '../../src/base/clock.ts';
import { aConversation, added, answer, leaseOn, say, seqs } from '../conformance/log-samples.ts';
import type { Order } from './child.ts';
import { openFor, temporaryFile } from './temporary.ts';

interface Child {
  readonly process: ChildProcessByStdio<null, Readable, null>;
  readonly lines: AsyncIterableIterator<string>;
}

function start(t: TestContext, order: Order): Child {
  const script = path.join(import.meta.dirname, 'child.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return { process: child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
}

async function finish({ process: child, lines }: Child): Promise<string[]> {
  const exit = child.exitCode === null ? once(child, 'exit') : undefined;
  const said: string[] = [];
  for await (const line of lines) said.push(line);
  await exit;
  assert.equal(child.exitCode, 0, said.slice(-3).join('\n'));
  return said;
}

async function line({ lines }: Child): Promise<string> {
  const next: IteratorResult<string, unknown> = await lines.next();
  assert.ok(next.done !== true, 'the process said nothing more');
  return next.value;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

for (const [synchronous, count] of [
  ['normal', 300],
  ['full', 100],
] as const) {
  test(`B101 two processes that write to one conversation lose nothing (${synchronous})`, async (t) => {
    const file = temporaryFile(t);
    const order = { work: 'contend', file, synchronous, count } as const;
    const said = await Promise.all(['left', 'right'].map((name) => finish(start(t, { ...order, name }))));
    const log = await openFor(t, { file });
    const facts = await log.read('c1', 0, 10_000);
    assert.deepEqual(seqs(facts), upTo(facts.length));
    const acknowledged = said.flat().filter((one) => /^\d/.test(one));
    assert.equal(acknowledged.length, 2 * count);
    for (const one of acknowledged) {
      const [seq, text] = one.split(' ');
      const stored = facts[Number(seq) - 1];
      assert.ok(stored?.type === 'io.output' || stored?.type === 'io.input');
      assert.equal(stored.payload.text, text);
    }
    const twice = acknowledged.filter((one) => one.includes('-a')).length;
    assert.equal(facts.length, acknowledged.length + twice, 'an append of two facts is two facts or none');
  });
}

test('B102 four processes that start on a file that is not there all start', async (t) => {
  const file = path.join(path.dirname(temporaryFile(t)), 'new', 'treadle.db');
  const children = ['a', 'b', 'c', 'd'].map((name) => start(t, { work: 'post', file, name }));
  const said = await Promise.all(children.map(finish));
  assert.deepEqual(said.flat().map(Number).sort(), [1, 2, 3, 4]);
});

for (const [synchronous, kills] of [
  ['full', [1, 40]],
  ['normal', [25]],
] as const) {
  test(`what was acknowledged outlives kill -9 (${synchronous})`, async (t) => {
    const file = temporaryFile(t);
    for (const lines of kills) {
      const child = start(t, { work: 'append', file, synchronous, name: 'worker-1' });
      let acknowledged = '';
      for (let count = 0; count < lines; count++) acknowledged = await line(child);
      child.process.kill('SIGKILL');
      for await (const one of child.lines) acknowledged = one;
      const log = await openFor(t, { file });
      const facts = await log.read('c1', 0, 100_000);
      assert.deepEqual(seqs(facts), upTo(facts.length));
      assert.equal(facts.length % 3, 0, 'an append of three facts is three facts or none');
      assert.ok(facts.length >= Number(acknowledged));
      await log.close();
    }
  });
}

test('a process that was frozen past its lease and wakes cannot write', async (t) => {
  const file = temporaryFile(t);
  const frozen = start(t, { work: 'slowly', file, name: 'frozen', ttlMs: 200 });
  assert.equal(await line(frozen), '1');
  frozen.process.kill('SIGSTOP');
  const log = await openFor(t, { file, clock: systemClock });
  let lease = await log.take('c1', 'heir', 60_000);
  while (lease === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    lease = await log.take('c1', 'heir', 60_000);
  }
  const head = (await log.find('c1'))!.head;
  added(await log.append(lease, head, [answer('mine now')]));
  frozen.process.kill('SIGCONT');
  assert.equal((await finish(frozen)).at(-1), 'fenced');
  assert.equal((await log.find('c1'))!.head, head + 1);
});

test('a watcher hears of what another process states', async (t) => {
  const file = temporaryFile(t);
  const log = await openFor(t, { file });
  await finish(start(t, { work: 'post', file, name: 'before' }));
  const heard = new Promise<void>((resolve) => {
    const unwatch = log.watch('c1', () => {
      unwatch();
      resolve();
    });
  });
  const child = start(t, { work: 'post', file, name: 'after' });
  // The log's own timer keeps no process alive, so this test has one that does.
  const awake = setInterval(() => undefined, 1000);
  await heard;
  clearInterval(awake);
  await finish(child);
  assert.deepEqual(seqs(await log.read('c1', 0, 10)), [1, 2]);
});

test('a log has a timer while somebody watches it, and only then', async (t) => {
  const file = temporaryFile(t);
  let timers = 0;
  let tick = (): void => undefined;
  const schedule = (_ms: number, callback: () => void) => {
    timers++;
    tick = () => {
      timers--;
      callback();
    };
    return () => timers--;
  };
  const log = await openFor(t, { file, schedule });
  const other = await openFor(t, { file });
  await finish(start(t, { work: 'post', file, name: 'first' }));
  assert.equal(timers, 0);
  const heard: string[] = [];
  const leave = log.watch('c1', () => heard.push('c1'));
  const leaveToo = log.watch('nobody', () => heard.push('nobody'));
  assert.equal(timers, 1);
  tick();
  assert.deepEqual(heard, []);
  await other.post('c1', say('hello'));
  tick();
  tick();
  assert.deepEqual(heard, ['c1']);
  leave();
  assert.equal(timers, 1);
  leaveToo();
  assert.equal(timers, 0);
});

test('who waits for work hears of what another process posted', async (t) => {
  const file = temporaryFile(t);
  const ticks = new Set<() => void>();
  const schedule = (_ms: number, callback: () => void) => {
    ticks.add(callback);
    return () => void ticks.delete(callback);
  };
  const log = await openFor(t, { file, schedule });
  const leave = log.onWork(() => told++);
  let told = 0;
  await finish(start(t, { work: 'post', file, name: 'other' }));
  for (const tick of [...ticks]) {
    ticks.delete(tick);
    tick();
  }
  assert.equal(told, 1);
  assert.deepEqual(await log.ready(10), ['c1']);
  leave();
  assert.equal(ticks.size, 0);
});

test('a file of the first version is brought up to date and keeps what it holds', async (t) => {
  const file = temporaryFile(t);
  const old = new DatabaseSync(file);
  old.exec(MIGRATIONS[0] ?? '');
  old.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1`);
  old.exec(`INSERT INTO conversations (id, agent, bundle, user_id, tenant, agent_path, created_at, status, updated_at, minute)
    VALUES ('old', 'desk', 'b', 'ana', 'acme', 'desk', 1, 'completed', 1, 0)`);
  old.close();
  const log = await openFor(t, { file });
  assert.equal((await log.find('old'))?.status, 'completed');
  assert.deepEqual(
    (await log.list({ limit: 10 })).map(({ id }) => id),
    ['old'],
  );
  assert.equal((await log.post('old', say('hello'))).fresh, true);
});

test('two logs on one file in one process see each other', async (t) => {
  const file = temporaryFile(t);
  const [one, other] = [await openFor(t, { file }), await openFor(t, { file })];
  await one.create(aConversation('c9'));
  const lease = await leaseOn(other, 'c9');
  assert.equal(await one.take('c9', 'somebody else', 1000), undefined);
  added(await other.append(lease, 0, [answer('a')]));
  assert.equal((await one.read('c9', 0, 10)).length, 1);
});

// What a log costs on disk and in memory: what was said, and nothing that grows with what was said before.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { digest } from '../../src/base/digest.ts';
import type { Draft } from '../../src/domain/event.ts';
import { aConversation, added, answer, leaseOn, say } from '../conformance/log-samples.ts';
import type { Order } from './child.ts';
import { openFor, temporaryFile } from './temporary.ts';

/** What the loop states for one model call and one tool. */
function iterationFacts(turn: number, iteration: number): Draft[] {
  const at = { turnId: `t${turn}`, iteration };
  const action = `t${turn}-${iteration}-1`;
  const args = { symbol: 'ACME', shares: 100 + turn };
  const model = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
  const usage = { input: 1200 + turn, cacheRead: 9000, output: 42 };
  const call = { type: 'action', id: action, name: 'lookup', input: JSON.stringify(args) } as const;
  const value = { exposure: 12345.67 + turn, currency: 'USD' };
  return [
    { ...at, type: 'llm.request', payload: { model, role: 'default', attempt: 1 } },
    { ...at, type: 'llm.response', payload: { content: [call], stop: 'actions', usage, attempt: 1 } },
    {
      ...at,
      type: 'tool.invoke',
      payload: { action, name: 'lookup', arguments: args, argumentHash: digest(args), effect: 'read' },
    },
    { ...at, type: 'tool.result', payload: { action, outcome: 'ok', value } },
  ];
}

/** Bytes in use, without what only waits to be reused. */
function bytesOf(file: string): number {
  const database = new DatabaseSync(file);
  const bytes = Number(database.prepare('SELECT sum(pgsize - unused) AS bytes FROM dbstat').get()?.['bytes']);
  database.close();
  return bytes;
}

test('B103 an iteration takes at most 700 bytes, at the end of a long conversation as at its beginning', async (t) => {
  const file = temporaryFile(t);
  const log = await openFor(t, { file, synchronous: 'normal' });
  await log.create(aConversation('c1'));
  const lease = await leaseOn(log, 'c1');
  let head = 0;
  const marks = [bytesOf(file)];
  for (let turn = 1; turn <= 100; turn++) {
    for (let iteration = 1; iteration <= 4; iteration++) {
      added(await log.append(lease, head, iterationFacts(turn, iteration)));
      head += 4;
    }
    if (turn % 50 === 0) marks.push(bytesOf(file));
  }
  const [empty, half, whole] = marks as [number, number, number];
  assert.ok((half - empty) / 200 <= 700, `${(half - empty) / 200} bytes`);
  assert.ok((whole - half) / 200 <= 700, `${(whole - half) / 200} bytes`);
});

test('a hundred conversations that grow side by side leave few holes in the file', async (t) => {
  const file = temporaryFile(t);
  const log = await openFor(t, { file, synchronous: 'normal' });
  const leases = [];
  for (let index = 0; index < 100; index++) {
    await log.create(aConversation(`c${index}`));
    leases.push(await leaseOn(log, `c${index}`));
  }
  const empty = statSync(file).size;
  for (let iteration = 1; iteration <= 20; iteration++) {
    for (const lease of leases) added(await log.append(lease, 4 * (iteration - 1), iterationFacts(1, iteration)));
  }
  await log.close();
  const each = (statSync(file).size - empty) / 2000;
  assert.ok(each <= 800, `${each} bytes of file an iteration`);
});

test('the write-ahead log is folded back into the file as it grows', async (t) => {
  const file = temporaryFile(t);
  const log = await openFor(t, { file, synchronous: 'normal' });
  await log.create(aConversation('c1'));
  const lease = await leaseOn(log, 'c1');
  for (let head = 0; head < 4000; head++) added(await log.append(lease, head, [answer('x'.repeat(2000))]));
  assert.ok(statSync(`${file}-wal`).size < 20 * 1024 * 1024);
  assert.ok(statSync(file).size > 3 * 1024 * 1024);
  await log.close();
  assert.equal(statSync(`${file}-wal`, { throwIfNoEntry: false }), undefined);
});

test('the same large payload is stored once', async (t) => {
  const file = temporaryFile(t);
  const log = await openFor(t, { file });
  await log.create(aConversation('c1'));
  const text = 'large '.repeat(50_000);
  for (let count = 0; count < 10; count++) await log.post('c1', say(text));
  await log.close();
  assert.ok(statSync(file).size < 3 * text.length);
});

test('a hundred thousand conversations that wait take no memory', async (t) => {
  const file = temporaryFile(t);
  const log = await openFor(t, { file });
  await log.create(aConversation('c0'));
  await log.post('c0', say('hello'));
  await log.close();
  const weigh = (): number[] => {
    const script = path.join(import.meta.dirname, 'child.ts');
    const order: Order = { work: 'weigh', file, name: 'scale' };
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', script, JSON.stringify(order)]);
    const numbers = stdout.toString().trim().split(' ').map(Number);
    assert.equal(numbers.length, 4, stderr.toString());
    return numbers;
  };
  const [, , , rssAlone] = weigh() as [number, number, number, number];
  const database = new DatabaseSync(file);
  database.exec(`
    BEGIN;
    WITH RECURSIVE n (k) AS (SELECT 10 UNION ALL SELECT k + 1 FROM n WHERE k < 100009)
    INSERT INTO conversations
      (key, id, agent, bundle, user_id, tenant, agent_path, created_at, status, updated_at, minute, head, posted, waiting_since)
      SELECT k, 'w' || k, 'desk', 'b', 'ana', 'acme', 'desk', k, 'initializing', k, k / 60000, 1, 1, k FROM n;
    INSERT INTO facts (place, type, at, body)
      SELECT key * ${2 ** 26} + 1, (SELECT type FROM facts LIMIT 1), created_at, '{"text":"hello","mode":"message"}'
      FROM conversations WHERE key >= 10;
    COMMIT`);
  database.close();
  const [ready, listed, heap, rss] = weigh() as [number, number, number, number];
  assert.deepEqual([ready, listed], [1000, 100]);
  assert.ok(heap < 2 * 1024 * 1024, `${heap} bytes of heap`);
  assert.ok(rss - rssAlone < 24 * 1024 * 1024, `${rss - rssAlone} bytes of memory more than for one`);
});

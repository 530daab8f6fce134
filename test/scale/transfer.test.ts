// Conversations from one place to another, such as from a folder to a database.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { TreadleError } from '../../src/base/errors.ts';
import type { Log } from '../../src/kernel/log.ts';
import { exported, importInto } from '../../src/platform/hosting/transfer.ts';
import { treadle } from '../cli/treadle.ts';
import { aConversation, added, answer, leaseOn, say, StillClock } from '../conformance/log-samples.ts';
import { temporaryFile } from '../stores/temporary.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { EFFECTS, startFleet } from './fleet.ts';

async function* linesIn(list: readonly string[]): AsyncGenerator<string> {
  for (const line of list) yield await Promise.resolve(line);
}

async function linesOf(log: Log): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exported(log).lines) lines.push(line);
  return lines;
}

/** Three conversations: one with a long text and a body, one that waits, one that is archived. */
async function three(log: Log): Promise<void> {
  for (const id of ['c1', 'c2', 'c3']) await log.create(aConversation(id));
  await log.post('c1', say('x'.repeat(70_000), 'k'));
  await log.writeBody('c1', 'a body');
  const lease = await leaseOn(log, 'c2');
  added(await log.append(lease, 0, [answer('a', { key: 'r' })], { status: 'pending_action_approval', title: 'T' }));
  await log.release(lease, { continueAt: 1_800_000_000_000 });
  await log.archive('c3', true);
}

const isInvalid = (words: RegExp) => (problem: unknown) =>
  TreadleError.is(problem) && problem.code === 'export_invalid' && words.test(problem.message);

test('what was exported is in another kind of log as it was', async (t) => {
  const clock = new StillClock();
  const here = createMemoryLog({ clock });
  const there = await openSqliteLog({ file: temporaryFile(t), clock });
  t.after(() => there.close());
  await three(here);
  const lines = await linesOf(here);
  assert.deepEqual(await importInto(there, linesIn(lines)), { added: 3, there: 0 });
  assert.deepEqual(await linesOf(there), lines);
});

test('an import that was cut is begun again, and what is there stays', async () => {
  const clock = new StillClock();
  const [here, there] = [createMemoryLog({ clock }), createMemoryLog({ clock })];
  await three(here);
  const lines = await linesOf(here);
  await assert.rejects(importInto(there, linesIn(lines.slice(0, 3))), isInvalid(/whole export.*begin it again/));
  there.post('c3', say('it goes on here'));
  assert.deepEqual(await importInto(there, linesIn(lines)), { added: 1, there: 2 });
  assert.equal(there.find('c3')?.head, 1);
});

test('a line that was altered is refused, and so is what is no export', async () => {
  const clock = new StillClock();
  const [here, there] = [createMemoryLog({ clock }), createMemoryLog({ clock })];
  await three(here);
  const lines = await linesOf(here);
  const altered = lines.map((line) => line.replace('pending_action_approval', 'action_approved'));
  await assert.rejects(importInto(there, linesIn(altered)), isInvalid(/c2, altered/));
  assert.equal(there.find('c2'), undefined);
  for (const text of ['', '{', '[]', '{"conversation":{}}', 'hello'])
    await assert.rejects(importInto(there, linesIn([text])), isInvalid(/./));
  await assert.rejects(importInto(there, linesIn(lines.slice(1))), isInvalid(/no export/));
});

test('another conversation of the same id is not taken for it', async () => {
  const clock = new StillClock();
  const [here, there] = [createMemoryLog({ clock }), createMemoryLog({ clock })];
  await three(here);
  there.create(aConversation('c1'));
  there.post('c1', say('somebody else'));
  await assert.rejects(importInto(there, linesIn(await linesOf(here))), isInvalid(/another conversation c1/));
});

test('what a process drives is left out, and said', async () => {
  const log = createMemoryLog({ clock: new StillClock() });
  await three(log);
  log.take('c1', 'worker', 1_000);
  const { lines, busy } = exported(log);
  for await (const line of lines) assert.doesNotMatch(line, /"id":"c1"/);
  assert.deepEqual(busy, ['c1']);
});

describe('from a folder to a database', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.stop());

  test('a run that waits for an approval goes on where it was moved to', async (t) => {
    const url = `${cluster.url}?schema=moved`;
    const fleet = startFleet(t, { url });
    const world = fleet.world();
    const cwd = fleet.folder;
    const begun = await treadle(['run', EFFECTS, `asked 10 ${world.file}`, '--data', 'old', '--on-approval', 'wait'], {
      cwd,
    });
    assert.equal(begun.code, 5);
    const out = await treadle(['export', '--data', 'old', '--out', 'runs.jsonl'], { cwd });
    assert.match(out.err, /^1 conversation of /);
    const env = { DATABASE_URL: url };
    const into = await treadle(['import', 'runs.jsonl'], { cwd, env });
    assert.match(into.err, /^1 conversation put into postgres:/);
    assert.match(
      (await treadle(['import', 'runs.jsonl'], { cwd, env })).err,
      /^0 conversations .*; 1 was|were there before/,
    );
    const done = await treadle(['resume', 'last', '--allow', '--bundle', EFFECTS], { cwd, env });
    assert.deepEqual([done.code, [...world.happened().values()]], [0, [1]]);
    const [row] = await (await fleet.log()).list({ limit: 1 });
    assert.deepEqual(await fleet.broken(row?.id ?? '', world.happened()), []);
    appendFileSync(path.join(cwd, 'runs.jsonl'), 'x');
    const refused = await treadle(['import', 'runs.jsonl', '--data', 'new'], { cwd });
    assert.match(refused.err, /export_invalid/);
  });
});

// What a user meets when the file is not as it should be: one clear error, and nothing that was stated is lost.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { createSqliteLog, openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { connect } from '../../src/adapters/stores/sqlite/connection.ts';
import { TreadleError, type ErrorCode } from '../../src/base/errors.ts';
import type { Draft } from '../../src/domain/event.ts';
import type { Log } from '../../src/kernel/log.ts';
import { makeDataFolder } from '../../src/platform/hosting/data-folder.ts';
import { aConversation, added, answer, leaseOn, say, seqs, StillClock } from '../conformance/log-samples.ts';
import { mountRefused, smallDisk } from '../support/small-disk.ts';
import { openFor, temporaryFile, temporaryFolder } from './temporary.ts';

const clock = new StillClock();

/** The message must name the place and say what to do, and the code must be one of these. */
async function refused(act: () => unknown, place: string, ...codes: ErrorCode[]): Promise<void> {
  await assert.rejects(
    async () => act(),
    (problem) => {
      assert.ok(TreadleError.is(problem), String(problem));
      assert.ok(codes.includes(problem.code), problem.message);
      const { found, wanted, hint } = problem.detail;
      assert.ok(found !== undefined && wanted !== undefined && hint !== undefined, problem.message);
      assert.ok(problem.detail.place?.includes(place), problem.message);
      return true;
    },
  );
}

/** A file with one conversation of three facts. */
async function aLog(t: TestContext, file = temporaryFile(t)): Promise<string> {
  const log = await openSqliteLog({ file, clock });
  await log.create(aConversation('c1'));
  await log.post('c1', say('hello'));
  added(await log.append(await leaseOn(log, 'c1'), 1, [answer('a'), answer('b'.repeat(100_000))]));
  await log.close();
  return file;
}

/** Another program with the same file open. */
function raw(t: TestContext, file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  t.after(() => database.close());
  return database;
}

test('a log that another process keeps locked says so after the wait, and works once it is free', async (t) => {
  const file = await aLog(t);
  for (const synchronous of ['full', 'normal'] as const) {
    const log = await openFor(t, { file, synchronous, busyTimeoutMs: 20 });
    const other = raw(t, file);
    other.exec('BEGIN EXCLUSIVE');
    const both = [log.post.bind(log, 'c1', say('x')), log.take.bind(log, 'c1', 'worker-1', 1000)];
    for (const act of both) await refused(act, file, 'log_locked');
    assert.equal((await log.read('c1', 0, 10)).length, 3 + (synchronous === 'full' ? 0 : 1), 'reading needs no lock');
    other.exec('COMMIT');
    assert.equal((await log.post('c1', say('x'))).fresh, true);
  }
});

test('a file that is locked while it has no tables yet cannot be opened', async (t) => {
  const file = temporaryFile(t);
  raw(t, file).exec('BEGIN EXCLUSIVE');
  await refused(() => openSqliteLog({ file, clock, busyTimeoutMs: 30 }), file, 'log_locked');
});

test('a file of random bytes, of text, or cut in the middle is not a log', async (t) => {
  const file = temporaryFile(t);
  writeFileSync(file, Buffer.from(Array.from({ length: 20_000 }, (_, index) => (index * 7919) % 251)));
  await refused(() => openSqliteLog({ file, clock }), file, 'log_corrupt');
  writeFileSync(file, '# notes\n'.repeat(1000));
  await refused(() => openSqliteLog({ file, clock }), file, 'log_corrupt');

  const cut = await aLog(t);
  const whole = readFileSync(cut);
  for (const share of [0.2, 0.5, 0.9]) {
    truncateSync(cut, Math.floor((whole.length * share) / 4096) * 4096);
    await refused(() => readAll(cut), cut, 'log_corrupt');
    writeFileSync(cut, whole);
  }
  assert.equal((await readAll(cut)).length, 3);
});

async function readAll(file: string) {
  const log = await openSqliteLog({ file, clock });
  try {
    return await log.read('c1', 0, 10);
  } finally {
    await log.close();
  }
}

test('bytes changed anywhere in a file give an error of the log or leave it readable, never anything else', async (t) => {
  const file = await aLog(t);
  const whole = readFileSync(file);
  for (let at = 0; at < whole.length; at += 997) {
    const damaged = Buffer.from(whole);
    damaged.fill(0xa5, at, at + 64);
    writeFileSync(file, damaged);
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
    try {
      await readAll(file);
    } catch (problem) {
      assert.ok(TreadleError.is(problem), String(problem));
    }
  }
});

test('an empty file is a new log', async (t) => {
  const file = temporaryFile(t);
  writeFileSync(file, '');
  const log = await openFor(t, { file });
  assert.equal(await log.create(aConversation('c1')), true);
});

test('a database of another program is left alone', async (t) => {
  const file = temporaryFile(t);
  raw(t, file).exec('CREATE TABLE notes (text)');
  await refused(() => openSqliteLog({ file, clock }), file, 'log_unavailable');
});

test('a folder is no log, and neither is a path through a file', async (t) => {
  const folder = temporaryFolder(t);
  await refused(() => openSqliteLog({ file: folder, clock }), folder, 'log_unavailable');
  writeFileSync(path.join(folder, 'file'), '');
  const through = path.join(folder, 'file', 'treadle.db');
  await refused(() => openSqliteLog({ file: through, clock }), through, 'log_unavailable');
});

test('a log of a newer version is left alone', async (t) => {
  const file = await aLog(t);
  raw(t, file).exec('PRAGMA user_version = 99');
  await refused(() => openSqliteLog({ file, clock }), file, 'log_version');
});

for (const [what, damage, code] of [
  ['a payload that is not JSON', "UPDATE facts SET body = '{' WHERE place % 10 = 6", 'log_corrupt'],
  ['a payload that is no such fact', `UPDATE facts SET body = '{"text":1}' WHERE place % 10 = 6`, 'log_corrupt'],
  ['a payload that is gone', 'UPDATE facts SET body = NULL WHERE place % 10 = 6', 'log_corrupt'],
  ['a payload of a newer version', 'UPDATE facts SET v = 99 WHERE place % 10 = 6', 'log_version'],
  ['a fact that is gone', 'DELETE FROM facts WHERE place % 10 = 6', 'log_corrupt'],
  ['an envelope that is not JSON', "UPDATE facts SET rest = '[' WHERE place % 10 = 6", 'log_corrupt'],
] as const) {
  test(`${what} is told with its conversation and number, and what is before it is read`, async (t) => {
    const file = await aLog(t);
    const place = 2 ** 26 + 2;
    raw(t, file).exec(damage.replace('place % 10 = 6', `place = ${place}`));
    const log = await openFor(t, { file });
    for (const limit of [2, 10]) await refused(() => log.read('c1', 0, limit), 'conversation c1, fact 2', code);
    assert.deepEqual(seqs(await log.read('c1', 0, 1)), [1]);
  });
}

test('the last fact that is gone, and a blob that is gone, are told too', async (t) => {
  const file = await aLog(t);
  const log = await openFor(t, { file });
  raw(t, file).exec('DELETE FROM blobs');
  await refused(() => log.read('c1', 0, 10), 'conversation c1, fact 3 (io.output)', 'log_corrupt');
  raw(t, file).exec(`DELETE FROM facts WHERE place = ${2 ** 26 + 3}`);
  await refused(() => log.read('c1', 0, 10), 'conversation c1, fact 3', 'log_corrupt');
});

test('a type that only a newer version knows is handed out as it is', async (t) => {
  const file = await aLog(t);
  raw(t, file).exec(`
    INSERT INTO names (key, name) VALUES (99, 'dream.begun');
    UPDATE facts SET type = 99, v = 3, body = '{"about":"sheep"}' WHERE place = ${2 ** 26 + 2}`);
  const log = await openFor(t, { file });
  const [, fact] = await log.read('c1', 0, 10);
  assert.deepEqual([fact?.type, fact?.v, fact?.payload], ['dream.begun', 3, { about: 'sheep' }]);
});

test('a fact that could not be read back is never stated', async (t) => {
  const log = await openFor(t, { file: await aLog(t) });
  const usage = { input: NaN };
  const bad: Draft = { type: 'llm.response', payload: { content: [], stop: 'finished', usage, attempt: 1 } };
  await assert.rejects(async () => log.post('c1', bad), /llm\.response that does not fit its schema.*usage\.input/);
  assert.equal((await log.find('c1'))?.head, 3);
});

/** Writes until the log is full, and gives what was acknowledged. */
async function fill(log: Log, file: string): Promise<number> {
  const lease = await leaseOn(log, 'c1');
  let { head } = (await log.find('c1'))!;
  await refused(
    async () => {
      for (;;) head = added(await log.append(lease, head, [answer('x'.repeat(9000)), answer('y')])).at(-1)!.seq;
    },
    file,
    'log_full',
  );
  return head;
}

for (const synchronous of ['full', 'normal'] as const) {
  test(`a full disk says so, loses nothing, and the log goes on when there is room (${synchronous})`, async (t) => {
    const file = await aLog(t);
    const connection = await connect(file, synchronous, 100);
    connection.exec('PRAGMA max_page_count = 100');
    const log = createSqliteLog(connection, { file, clock, synchronous });
    const head = await fill(log, file);
    assert.equal((await log.find('c1'))!.head, head);
    connection.exec('PRAGMA max_page_count = 10000');
    assert.equal((await log.post('c1', say('more'))).fact.seq, head + 1);
    await log.close();
    const again = await openFor(t, { file });
    assert.equal((await again.read('c1', 0, 10_000)).length, head + 1);
  });
}

test('of writes that share a commit, the one that does not fit is refused and the others are kept', async (t) => {
  const file = await aLog(t);
  const connection = await connect(file, 'full', 100);
  connection.exec('PRAGMA max_page_count = 100');
  const log = createSqliteLog(connection, { file, clock });
  t.after(() => log.close());
  const texts = ['a', 'x'.repeat(600_000), 'b', 'c'];
  const results = await Promise.allSettled(texts.map(async (text) => log.post('c1', say(text))));
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value.fact.seq : 'refused')),
    [4, 'refused', 5, 6],
  );
});

test('a disk that is really full says so and loses nothing', { skip: mountRefused }, async (t) => {
  const disk = smallDisk(t, '1m');
  const ballast = path.join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(300_000));
  const file = await aLog(t, path.join(disk, 'treadle.db'));
  const log = await openSqliteLog({ file, clock });
  const head = await fill(log, file);
  rmSync(ballast);
  assert.equal((await log.post('c1', say('more'))).fact.seq, head + 1);
  await log.close();
  const again = await openFor(t, { file });
  assert.equal((await again.read('c1', 0, 10_000)).length, head + 1);
  await again.close();
});

test('a disk that may only be read says so', { skip: mountRefused }, async (t) => {
  const disk = smallDisk(t, '1m');
  const file = await aLog(t, path.join(disk, 'treadle.db'));
  spawnSync('mount', ['-o', 'remount,ro', disk]);
  const elsewhere = path.join(disk, 'new', 'treadle.db');
  await refused(() => openSqliteLog({ file: elsewhere, clock }), elsewhere, 'log_full', 'log_unavailable');
  await refused(
    async () => {
      const log = await openFor(t, { file });
      await log.post('c1', say('x'));
    },
    file,
    'log_full',
    'log_unavailable',
  );
});

test('a folder that no file system makes is refused at once, and so is one below a file', async (t) => {
  const file = temporaryFile(t);
  writeFileSync(file, '');
  const below = path.join(file, 'a', 'b', 'treadle.db');
  await refused(() => openSqliteLog({ file: below, clock }), 'treadle.db', 'log_unavailable');
  if (process.platform !== 'linux') return;
  for (const folder of ['/proc/treadle', '/proc/treadle/below'])
    await refused(() => makeDataFolder(folder), folder, 'log_unavailable');
});

test('a copy without write permission is read, and nothing is made beside it', async (t) => {
  const file = await aLog(t);
  const folder = path.dirname(file);
  const before = readdirSync(folder);
  chmodSync(file, 0o444);
  chmodSync(folder, 0o555);
  // Permissions do not bind a superuser: the reading is done by somebody else.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const script = `
    import { DatabaseSync } from 'node:sqlite';
    const { openSqliteLogToRead } = await import(${JSON.stringify(pathToFileURL(path.resolve('src/adapters/stores/sqlite.ts')).href)});
    const log = openSqliteLogToRead({ file: ${JSON.stringify(file)}, clock: { now: () => 1 } });
    const [row] = log.list({ limit: 1 });
    let code;
    try { await log.rename('c1', 'x'); } catch (problem) { code = problem.code; }
    console.log(JSON.stringify([row.id, log.read('c1', 0, 9).length, code]));
    log.close();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    ...nobody,
    encoding: 'utf8',
  });
  chmodSync(folder, 0o755);
  assert.deepEqual([stdout.trim(), stderr], ['["c1",3,"log_full"]', '']);
  assert.deepEqual(readdirSync(folder), before);
});

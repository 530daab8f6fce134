// A database whose disk is really full: tables that cannot grow, and a server that cannot even write its own log.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { TreadleError } from '../../src/base/errors.ts';
import type { Log } from '../../src/kernel/log.ts';
import { until } from '../cli/treadle.ts';
import { aConversation, say } from '../conformance/log-samples.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { fillUp, mountRefused, smallDisk } from '../support/small-disk.ts';
import { startFleet } from './fleet.ts';

const skip = withoutPostgres || (mountRefused === false ? false : `${mountRefused}; a trigger stands for a full disk`);
const ended = ({ statusKind }: { readonly statusKind: string }): boolean => statusKind === 'ended';

/** States facts in a conversation of its own until none fits, however small. What was taken, and the last refusal. */
async function fill(log: Log, id: string): Promise<{ taken: number; refusal: TreadleError }> {
  await log.create(aConversation(id));
  let taken = 0;
  for (let size = 6_000; ;) {
    try {
      await log.post(id, say(randomBytes(size / 2).toString('hex')));
      assert.ok(++taken < 50_000, 'there is room without end');
    } catch (problem) {
      assert.ok(TreadleError.is(problem), String(problem));
      if (size === 6_000 && problem.code === 'log_full') size = 20;
      else return { taken, refusal: problem };
    }
  }
}

describe('a full disk of PostgreSQL', { skip }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.stop());

  test('a run in mid action and a new one are told so, nothing is lost, and all goes on when there is room', async (t) => {
    const disk = smallDisk(t, '4m');
    const { uid, gid } = statSync(cluster.folder);
    chownSync(disk, uid, gid);
    const fleet = startFleet(t, { url: `${cluster.url}?schema=brim` });
    const log = await fleet.log();
    cluster.sql(`CREATE TABLESPACE small LOCATION '${disk}'`);
    cluster.sql('ALTER TABLE brim.facts SET TABLESPACE small');
    const [server, worker] = await Promise.all([fleet.serve('--no-drive'), fleet.work()]);
    const world = fleet.world();
    const id = await fleet.begin(server, `once 2500 ${world.file}`);
    await fleet.rest(server, id, () => world.happened().size === 1);
    const makeRoom = fillUp(disk);
    const { taken, refusal } = await fill(log, 'ballast');
    assert.equal(refusal.code, 'log_full');

    assert.equal(await fleet.post(server, '/runs', { prompt: 'quick' }), 507);
    const ready = await fetch(`${server.url}/ready`);
    assert.deepEqual([ready.status, /"log_full"/.test(await ready.text())], [507, true]);
    await until(() => worker.said().includes('log_full'));
    assert.equal((await fetch(`${worker.url}/ready`)).status, 503);

    makeRoom();
    await fleet.rest(server, id, ended);
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1, 1, 1], []]);
    assert.equal((await fleet.rest(server, await fleet.begin(server, 'quick'), ended)).status, 'completed');
    assert.equal((await fetch(`${server.url}/ready`)).status, 200);
    assert.equal((await log.read('ballast', 0, 10_000)).length, taken);
    await log.remove('ballast');
  });
});

describe('a PostgreSQL that cannot write its own log', { skip }, () => {
  test('ends, and when there is room it has all that was taken, and runs go on', async (t) => {
    const disk = smallDisk(t, '160m');
    chmodSync(disk, 0o755);
    const cluster = await startPostgres({
      folder: disk,
      safe: true,
      settings: ['max_wal_size=32MB', 'min_wal_size=32MB'],
    });
    t.after(() => cluster.kill());
    const fleet = startFleet(t, { url: cluster.url });
    const log = await fleet.log();
    const [server] = await Promise.all([fleet.serve('--no-drive'), fleet.work()]);
    const world = fleet.world();
    const id = await fleet.begin(server, `asked 10 ${world.file}`);
    const waiting = await fleet.rest(server, id);
    const makeRoom = fillUp(disk);
    const { taken, refusal } = await fill(log, 'ballast');
    assert.equal(refusal.code, 'log_full');
    // A page of a table that cannot be had is an error of one statement; a page of its own log is the end of the server.
    assert.throws(() => {
      for (let left = 200; left > 0; left--)
        cluster.sql(`SELECT pg_logical_emit_message(true, 'ballast', repeat('x', 1000000))`);
    });
    await until(async () => (await fetch(`${server.url}/ready`)).status === 503);
    makeRoom();
    await cluster.kill();
    await cluster.start();
    const answers = waiting.requests.map(({ id: request, digest }) => ({ request, digest, decision: 'allow' }));
    assert.equal(await fleet.post(server, `/runs/${id}/answers`, answers), 200);
    assert.equal((await fleet.rest(server, id, ended)).status, 'completed');
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1], []]);
    assert.equal((await log.read('ballast', 0, 100_000)).length, taken);
  });
});

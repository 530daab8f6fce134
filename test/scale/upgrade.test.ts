// Processes of this version beside those of the next, over one database. The next one is made of these same sources: it
// states one fact with a payload that this version does not know, and its tables are a step further.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { treadle, until } from '../cli/treadle.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { EFFECTS, startFleet, type Fleet, type Process, type Run } from './fleet.ts';

const NEXT = { NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'fixtures/next-edition.mjs')}` };
const ended = ({ statusKind }: Run): boolean => statusKind === 'ended';

describe('an upgrade while runs are under way', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres({ settings: ['max_connections=200'] });
  });
  after(() => cluster.stop());

  /** Allows what the run waits for. */
  async function allow(fleet: Fleet, server: Process, run: Run): Promise<void> {
    const answers = run.requests.map(({ id: request, digest }) => ({ request, digest, decision: 'allow' }));
    assert.equal(await fleet.post(server, `/runs/${run.id}/answers`, answers), 200);
  }

  test('runs that wait for an approval go on, whoever is asked, and nothing happens twice or is lost', async (t) => {
    const url = `${cluster.url}?schema=rolling`;
    const old = startFleet(t, { url });
    const log = await old.log();
    const [oldServer, oldWorker] = await Promise.all([old.serve('--no-drive'), old.work()]);
    const world = old.world();
    const waiting: Run[] = [];
    for (let left = 6; left > 0; left--)
      waiting.push(await old.rest(oldServer, await old.begin(oldServer, `asked 10 ${world.file}`)));
    const inAction = await old.begin(oldServer, `once 1500 ${world.file}`);
    await old.rest(oldServer, inAction, () => world.happened().size === 1);

    const next = startFleet(t, { url, env: NEXT });
    const [server, worker] = await Promise.all([next.serve('--no-drive'), next.work()]);
    for (const [index, run] of waiting.entries()) await allow(next, index % 2 === 0 ? server : oldServer, run);
    for (const { id } of waiting) assert.equal((await next.rest(server, id, ended)).status, 'completed');
    assert.equal((await next.rest(server, inAction, ended)).status, 'completed');

    // One that the new one drove alone: the old one can tell nobody what is in it, and says so.
    await oldWorker.end('SIGTERM');
    const later = await next.begin(server, `once 10 ${world.file}`);
    await next.rest(server, later, ended);
    const refused = await fetch(`${oldServer.url}/api/v1/runs/${later}/events`);
    assert.deepEqual([refused.status, /"log_unavailable"/.test(await refused.text())], [503, true]);
    assert.match(oldServer.said(), /log_version/);
    await worker.end('SIGTERM');

    // As the next one reads it: the payload is the same, and only its version is not.
    cluster.sql(`UPDATE rolling.facts SET v = NULL WHERE type = 'tool.result'`);
    const broken = [];
    for (const id of [...waiting.map((run) => run.id), inAction, later])
      broken.push(...(await old.broken(id, new Map([...world.happened()].filter(([key]) => key.startsWith(id))))));
    assert.deepEqual(broken, []);
    assert.deepEqual(new Set(world.happened().values()), new Set([1]));
    assert.equal((await log.counts()).completed, 8);
  });

  test('a worker of the old one that is given what only the new one can read leaves it whole, for the new one', async (t) => {
    const url = `${cluster.url}?schema=returned`;
    const old = startFleet(t, { url });
    const oldWorker = await old.work();
    const next = startFleet(t, { url, env: NEXT });
    const [server, worker] = await Promise.all([next.serve('--no-drive'), next.work()]);
    oldWorker.signal('SIGSTOP');
    const world = old.world();
    const id = await next.begin(server, `once 10 ${world.file}`);
    await next.rest(server, id, ended);
    await worker.end('SIGTERM');
    oldWorker.signal('SIGCONT');
    assert.equal(await next.post(server, `/runs/${id}/messages`, { content: 'quick' }), 202);
    await until(() => oldWorker.said().includes('log_version'));
    await next.work();
    const run = await next.rest(server, id, ended);
    assert.equal(run.status, 'completed');
    assert.deepEqual([...world.happened().values()], [1, 1, 1]);
  });

  test('a process of the old one that is started anew is refused by the tables, and so is a command', async (t) => {
    const url = `${cluster.url}?schema=late`;
    const fleet = startFleet(t, { url, env: NEXT });
    await fleet.work();
    for (const command of [['worker', EFFECTS], ['list']]) {
      const { code, err } = await treadle(command, { cwd: fleet.folder, env: { DATABASE_URL: url } });
      assert.match(err, /version \d+.*update Treadle/s);
      assert.match(err, /log_version/);
      assert.notEqual(code, 0);
    }
  });
});

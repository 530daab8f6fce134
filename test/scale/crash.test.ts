// What kills, freezes, cuts off and misleads workers and their database, and what holds all the same.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isObject } from '../../src/base/json.ts';
import { ENGINES, type EngineName } from '../../src/platform/hosting/engine.ts';
import { follow } from '../http/events.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { EFFECTS, LEASE_MS, startFleet, type Fleet } from './fleet.ts';
import { startProxy } from './proxy.ts';

const KINDS = ['once', 'idempotent', 'read'] as const;
const ended = ({ statusKind }: { readonly statusKind: string }): boolean => statusKind === 'ended';

/** What the log says came of each action, in order. */
async function outcomes(fleet: Fleet, id: string): Promise<string[]> {
  return (await fleet.facts(id)).flatMap((fact) => (fact.type === 'tool.result' ? [fact.payload.outcome] : []));
}

function fleetOn(engine: EngineName): void {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres({ settings: ['max_connections=300'] });
  });
  after(() => cluster.stop());

  test('B005: a worker killed in mid action: another goes on, and what acts once does not act twice', async (t) => {
    const fleet = startFleet(t, { engine, url: `${cluster.url}?schema=killed` });
    const [server, worker] = await Promise.all([fleet.serve('--no-drive'), fleet.work()]);
    const worlds = KINDS.map(() => fleet.world());
    const ids = await Promise.all(
      KINDS.map((kind, index) => fleet.begin(server, `${kind} 700 ${worlds[index]!.file}`)),
    );
    await fleet.rest(server, ids[0]!, () => worlds.every(({ happened }) => happened().size === 1));
    await worker.end('SIGKILL');
    await fleet.work();
    const told = [];
    for (const [index, kind] of KINDS.entries()) {
      await fleet.rest(server, ids[index]!, ended);
      const happened = worlds[index]!.happened();
      told.push([kind, await outcomes(fleet, ids[index]!), [...happened.values()]]);
      assert.deepEqual(await fleet.broken(ids[index]!, happened), []);
    }
    assert.deepEqual(told, [
      ['once', ['unknown', 'ok', 'ok'], [1, 1, 1]],
      ['idempotent', ['ok', 'ok', 'ok'], [2, 1, 1]],
      ['read', ['ok', 'ok', 'ok'], [2, 1, 1]],
    ]);
  });

  test('a worker frozen past its lease and thawed: it can write nothing, and works on', async (t) => {
    const fleet = startFleet(t, { engine, url: `${cluster.url}?schema=frozen` });
    const [server, zombie] = await Promise.all([fleet.serve('--no-drive'), fleet.work()]);
    const world = fleet.world();
    const id = await fleet.begin(server, `once 700 ${world.file}`);
    await fleet.rest(server, id, () => world.happened().size === 1);
    zombie.signal('SIGSTOP');
    const other = await fleet.work();
    await fleet.rest(server, id, ended);
    zombie.signal('SIGCONT');
    await pause(LEASE_MS);
    assert.deepEqual(await outcomes(fleet, id), ['unknown', 'ok', 'ok']);
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1, 1, 1], []]);
    await other.end('SIGTERM');
    const next = await fleet.begin(server, 'quick');
    assert.equal((await fleet.rest(server, next, ended)).status, 'completed');
  });

  test('a worker cut off from the database for longer than its lease, with its sockets open', async (t) => {
    const proxy = await startProxy(cluster.port);
    t.after(() => proxy.close());
    const fleet = startFleet(t, { engine, url: `${cluster.url}?schema=cut` });
    const DATABASE_URL = `${cluster.url.replace(String(cluster.port), String(proxy.port))}?schema=cut`;
    const [server] = await Promise.all([fleet.serve('--no-drive'), fleet.workWith({ DATABASE_URL })]);
    const world = fleet.world();
    const id = await fleet.begin(server, `once 700 ${world.file}`);
    await fleet.rest(server, id, () => world.happened().size === 1);
    proxy.hold(true);
    await fleet.work();
    await fleet.rest(server, id, ended);
    proxy.hold(false);
    await pause(LEASE_MS);
    assert.deepEqual(await outcomes(fleet, id), ['unknown', 'ok', 'ok']);
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1, 1, 1], []]);
  });

  test('connections that are cut all the time: nothing is repeated, and a reader misses no entry', async (t) => {
    const fleet = startFleet(t, { engine, url: `${cluster.url}?schema=dropped` });
    const [server] = await Promise.all([fleet.serve('--no-drive'), fleet.work()]);
    const world = fleet.world();
    const id = await fleet.begin(server, `once 400 ${world.file}`);
    const reader = await follow(`${server.url}/api/v1/runs/${id}/stream`);
    const heard = reader.until((event) => event.event === 'end');
    const done = new AbortController();
    const cutting = (async () => {
      while (!done.signal.aborted) {
        cluster.sql(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'treadle%' AND query LIKE '%"dropped%'`,
        );
        await pause(150);
      }
    })();
    await fleet.rest(server, id, () => world.happened().size === 3);
    await pause(600);
    done.abort();
    await cutting;
    await fleet.rest(server, id, ended);
    assert.deepEqual(await outcomes(fleet, id), ['ok', 'ok', 'ok']);
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1, 1, 1], []]);
    const entries = (await heard).flatMap((event) => {
      const data: unknown = event.event === 'entry' ? JSON.parse(event.data) : {};
      const entry = isObject(data) ? data['entry'] : undefined;
      return isObject(entry) ? [`${String(entry['id'])} ${String(entry['revision'])}`] : [];
    });
    assert.equal(new Set(entries).size, entries.length, 'no entry came twice');
    const page = (await (await fetch(`${server.url}/api/v1/runs/${id}/events?limit=100`)).json()) as {
      readonly events: readonly { readonly id: string }[];
    };
    const wanted = new Set(page.events.map((entry) => entry.id));
    assert.deepEqual(new Set(entries.map((entry) => entry.split(' ')[0])), wanted);
  });

  test('workers whose clocks are an hour apart drive each run once, one at a time', async (t) => {
    const fleet = startFleet(t, { engine, url: `${cluster.url}?schema=clocks` });
    const clock = { NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'fixtures/clock.mjs')}` };
    const [server] = await Promise.all([
      fleet.serve('--no-drive'),
      fleet.workWith({ ...clock, CLOCK_OFFSET_MS: '3600000' }),
      fleet.workWith({ ...clock, CLOCK_OFFSET_MS: '-3600000' }),
    ]);
    const world = fleet.world();
    const ids = await Promise.all(Array.from({ length: 10 }, () => fleet.begin(server, `once 300 ${world.file}`)));
    for (const id of ids) await fleet.rest(server, id, ended);
    assert.deepEqual([...new Set(world.happened().values())], [1]);
    assert.equal(world.happened().size, 30);
  });

  test('workers that are killed one after another while they race: every run ends, and breaks no rule', async (t) => {
    const fleet = startFleet(t, { engine, url: `${cluster.url}?schema=races` });
    const [server, ...workers] = await Promise.all([fleet.serve('--no-drive'), fleet.work(), fleet.work()]);
    const runs = await Promise.all(
      Array.from({ length: 18 }, async (_, index) => {
        const world = fleet.world();
        return { world, id: await fleet.begin(server, `${KINDS[index % 3] ?? 'once'} 250 ${world.file}`) };
      }),
    );
    for (const worker of workers) {
      await pause(300);
      await worker.end('SIGKILL');
      await fleet.work();
    }
    const broken: string[] = [];
    for (const { id, world } of runs) {
      await fleet.rest(server, id, ended);
      broken.push(...(await fleet.broken(id, world.happened())));
    }
    assert.deepEqual(broken, []);
  });

  test('a run that waits meets a new edition of its bundle', async (t) => {
    const url = `${cluster.url}?schema=upgrade`;
    const fleet = startFleet(t, { engine, url });
    const [server, old] = await Promise.all([fleet.serve('--no-drive'), fleet.work()]);
    const world = fleet.world();
    const id = await fleet.begin(server, `asked 10 ${world.file}`);
    const waiting = await fleet.rest(server, id);
    await old.end('SIGTERM');
    await server.end('SIGTERM');
    const edited = startFleet(t, { engine, url, bundle: EFFECTS.replace('.yaml', '-next.yaml') });
    const [next] = await Promise.all([edited.serve('--no-drive'), edited.work()]);
    const answers = waiting.requests.map(({ id: request, digest }) => ({ request, digest, decision: 'allow' }));
    assert.equal(await fleet.post(next, `/runs/${id}/answers`, answers), 200);
    assert.equal((await fleet.rest(next, id, ended)).status, 'completed');
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1], []]);
  });

  // DBOS asks for work all the time, whoever waits.
  if (engine === 'embedded')
    test('ten thousand runs that wait cost the database nothing', async (t) => {
      const fleet = startFleet(t, { engine, url: `${cluster.url}?schema=crowd` });
      await fleet.log();
      cluster.sql(`INSERT INTO crowd.conversations
      (id, agent, bundle, user_id, tenant, agent_path, created_at, updated_at, minute, status, continue_at)
      SELECT 'c' || n, 'main', 'effects@1', 'ana', 'acme', 'main', 0, 0, 0, 'pending_action_approval', 99999999999999
      FROM generate_series(1, 10000) n`);
      await Promise.all([fleet.serve('--no-drive'), fleet.work()]);
      cluster.sql(`CREATE FUNCTION crowd_scans() RETURNS bigint LANGUAGE sql AS
      $$ SELECT sum(coalesce(idx_scan, 0) + seq_scan)::bigint FROM pg_stat_user_tables WHERE schemaname = 'crowd' $$`);
      const scans = (): number => Number(cluster.sql('SELECT crowd_scans()'));
      // What was asked at the start is counted late; whoever asks all the time is never quiet.
      let asked = Infinity;
      for (let left = 8; left > 0 && asked > 20; left--) {
        const before = scans();
        await pause(4_000);
        asked = scans() - before;
      }
      assert.ok(asked <= 20, `${asked} scans in four seconds`);
    });
}

function killedDatabase(engine: EngineName): void {
  test('in mid action, and comes back: nothing is lost, and nothing repeated', async (t) => {
    const cluster = await startPostgres({ safe: true });
    t.after(() => cluster.stop());
    const fleet = startFleet(t, { engine, url: cluster.url });
    const [server] = await Promise.all([fleet.serve('--no-drive'), fleet.work()]);
    const world = fleet.world();
    const id = await fleet.begin(server, `once 700 ${world.file}`);
    await fleet.rest(server, id, () => world.happened().size === 1);
    await cluster.kill();
    const ready = await fetch(`${server.url}/ready`);
    assert.equal(ready.status, 503);
    await cluster.start();
    await fleet.rest(server, id, ended);
    assert.deepEqual(await outcomes(fleet, id), ['ok', 'ok', 'ok']);
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1, 1, 1], []]);
  });
}

for (const engine of ENGINES) {
  describe(`a fleet on ${engine}`, { skip: withoutPostgres, concurrency: 3 }, () => fleetOn(engine));
  describe(`a database that is killed under ${engine}`, { skip: withoutPostgres }, () => killedDatabase(engine));
}

// Two servers that only answer and a worker that only drives, over one PostgreSQL.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isObject } from '../../src/base/json.ts';
import { follow } from '../http/events.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { startFleet } from './fleet.ts';

describe('servers and workers over one database', { skip: withoutPostgres, concurrency: 3 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres({ settings: ['max_connections=200'] });
  });
  after(() => cluster.stop());

  const parsed = (data: string): Record<string, unknown> => {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : {};
  };

  test('a run begun on one server is streamed from another, word by word, while a worker drives it', async (t) => {
    const fleet = startFleet(t, { url: `${cluster.url}?schema=words` });
    const [one, other] = [await fleet.serve('--no-drive'), await fleet.serve('--no-drive')];
    const id = await fleet.begin(one, 'story');
    const reader = await follow(`${other.url}/api/v1/runs/${id}/stream?deltas=true`);
    await reader.until((event) => event.event === 'status');
    await fleet.work();
    const events = await reader.until((event) => event.event === 'end');
    const deltas = events
      .filter((event) => event.event === 'delta')
      .map((event) => String(parsed(event.data)['delta']));
    const entries = events.filter((event) => event.event === 'entry').map((event) => parsed(event.data)['entry']);
    const told = entries.flatMap((one) => (isObject(one) && one['role'] === 'assistant' ? [String(one['text'])] : []));
    assert.ok(deltas.length > 3, `it came in ${deltas.length} pieces`);
    // The last pieces may be late: the entry that has them all is there.
    assert.equal(told.at(-1)?.startsWith(deltas.join('')), true);
    assert.deepEqual(await fleet.broken(id), []);
  });

  test('what is approved, steered and stopped at one server counts for a run that goes on elsewhere', async (t) => {
    const fleet = startFleet(t, { url: `${cluster.url}?schema=orders` });
    const [one, other] = [await fleet.serve('--no-drive'), await fleet.serve('--no-drive')];
    await fleet.work();
    const world = fleet.world();
    const id = await fleet.begin(one, `asked 10 ${world.file}`);
    const waiting = await fleet.rest(other, id);
    assert.equal(waiting.status, 'pending_action_approval');
    const answers = waiting.requests.map(({ id: request, digest }) => ({ request, digest, decision: 'allow' }));
    const twice = await Promise.all([one, other].map((server) => fleet.post(server, `/runs/${id}/answers`, answers)));
    assert.deepEqual(twice, [200, 200]);
    assert.equal((await fleet.rest(one, id, ({ statusKind }) => statusKind === 'ended')).status, 'completed');
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1], []]);

    const long = await fleet.begin(one, `read 60000 ${world.file}`);
    await fleet.rest(one, long, ({ status }) => status === 'running');
    assert.equal(await fleet.post(other, `/runs/${long}/messages`, { content: 'quick', mode: 'steer' }), 202);
    assert.equal((await fleet.rest(other, long)).status, 'completed');

    const hanging = await fleet.begin(other, `read 60000 ${world.file}`);
    await fleet.rest(one, hanging, ({ status }) => status === 'running');
    assert.equal(await fleet.post(one, `/runs/${hanging}/stop`, {}), 202);
    assert.equal((await fleet.rest(one, hanging)).status, 'stopped');
    assert.deepEqual(await fleet.broken(hanging), []);
  });

  test('a key, a choice and a repeated request are the same for all servers', async (t) => {
    const fleet = startFleet(t, { url: `${cluster.url}?schema=same` });
    const [one, other] = [await fleet.serve('--no-drive'), await fleet.serve('--no-drive')];
    const create = async ({ url }: { readonly url: string }): Promise<unknown> => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'k-1' };
      const reply = await fetch(`${url}/api/v1/runs`, { method: 'POST', headers, body: '{"prompt":"quick"}' });
      return parsed(await reply.text())['id'];
    };
    assert.equal(await create(one), await create(other));
  });

  test('a server that is told to end lets go of its readers and finishes what it drives, at once', async (t) => {
    const fleet = startFleet(t, { url: `${cluster.url}?schema=ending` });
    const [one, other] = [await fleet.serve(), await fleet.serve('--no-drive')];
    const world = fleet.world();
    const id = await fleet.begin(other, `once 800 ${world.file}`);
    const reader = await follow(`${one.url}/api/v1/runs/${id}/stream`);
    await fleet.rest(other, id, () => world.happened().size === 1);
    assert.equal(await one.end('SIGTERM'), 0);
    assert.doesNotMatch(one.said(), /"level":"error"/);
    const left = await reader.until((event) => event.event === 'end');
    assert.equal(left.at(-1)?.event === 'end', false);
    const results = (await fleet.facts(id)).flatMap((fact) =>
      fact.type === 'tool.result' ? [fact.payload.outcome] : [],
    );
    assert.deepEqual(results, ['ok']);
    await fleet.work();
    assert.equal((await fleet.rest(other, id, ({ statusKind }) => statusKind === 'ended')).status, 'completed');
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1, 1, 1], []]);
  });

  test('a process that is told to end lets its runs come to a good place, and others go on', async (t) => {
    const fleet = startFleet(t, { url: `${cluster.url}?schema=drain` });
    const server = await fleet.serve('--no-drive');
    const worker = await fleet.work();
    const world = fleet.world();
    const id = await fleet.begin(server, `once 800 ${world.file}`);
    await fleet.rest(server, id, () => world.happened().size === 1);
    assert.equal(await worker.end('SIGTERM'), 0);
    assert.doesNotMatch(worker.said(), /"level":"error"/);
    const results = (await fleet.facts(id)).filter((fact) => fact.type === 'tool.result');
    assert.deepEqual(
      results.map((fact) => fact.payload.outcome),
      ['ok'],
    );
    await fleet.work();
    assert.equal((await fleet.rest(server, id, ({ statusKind }) => statusKind === 'ended')).status, 'completed');
    assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1, 1, 1], []]);
  });
});

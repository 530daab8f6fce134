// A worker that the network keeps from its database: others take over, and what it comes back with is refused.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../cli/treadle.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { startFleet } from './fleet.ts';
import { farMachine, letIn, LISTENS } from './network.ts';

describe('a worker that is cut off from the database for longer than its lease', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres({ settings: ['max_connections=100', LISTENS] });
    letIn(cluster);
  });
  after(() => cluster.stop());

  for (const [loss, what, first] of [
    ['all', 'every packet is lost', ['unknown']],
    // Its result may have been stated, and only nobody told it so.
    ['answers', 'its packets arrive and the answers do not', ['unknown', 'ok']],
  ] as const)
    test(`${what}: another goes on, and the first is fenced when it is back, and works on`, async (t) => {
      const schema = `lost_${loss}`;
      const fleet = startFleet(t, { url: `${cluster.url}?schema=${schema}` });
      const far = await farMachine(t, cluster, schema);
      const [server, lost] = await Promise.all([fleet.serve('--no-drive'), fleet.workAt(far)]);
      const world = fleet.world();
      const id = await fleet.begin(server, `once 700 ${world.file}`);
      await fleet.rest(server, id, () => world.happened().size === 1);
      far.cut(loss);
      const second = await fleet.work();
      await fleet.rest(server, id, ({ statusKind }) => statusKind === 'ended');
      far.heal();
      await until(() => lost.said().includes('another worker has taken over'));
      const outcomes = (await fleet.facts(id)).flatMap((fact) =>
        fact.type === 'tool.result' ? [fact.payload.outcome] : [],
      );
      assert.ok(first.some((outcome) => outcome === outcomes[0]));
      assert.deepEqual(outcomes.slice(1), ['ok', 'ok']);
      assert.deepEqual([[...world.happened().values()], await fleet.broken(id, world.happened())], [[1, 1, 1], []]);
      await second.end('SIGTERM');
      const next = await fleet.begin(server, 'quick');
      assert.equal((await fleet.rest(server, next, (run) => run.statusKind === 'ended')).status, 'completed');
    });
});

// Which engine a program takes, and what it says where that one cannot be had.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { treadle } from '../cli/treadle.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';
import { EFFECTS, startFleet } from './fleet.ts';

const ROLES = path.join(import.meta.dirname, '../../examples/deploy/roles.sql');
const cwd = import.meta.dirname;

test('DBOS without a PostgreSQL database, and an engine that there is not, are mistakes of whoever said so', async () => {
  const said = [
    await treadle(['worker', EFFECTS, '--engine', 'dbos'], { cwd }),
    await treadle(['serve', EFFECTS, '--memory'], {
      cwd,
      env: { TREADLE_ENGINE: 'dbos', DATABASE_URL: 'postgres://h/d' },
    }),
    await treadle(['worker', EFFECTS, '--engine', 'temporal'], { cwd }),
    await treadle(['worker', EFFECTS], { cwd, env: { TREADLE_ENGINE: 'Dbos' } }),
    await treadle(['worker', EFFECTS, '--engine', 'dbos', '--user-runs', '3'], { cwd }),
  ];
  assert.deepEqual(
    said.map(({ code, err }) => [code, /^✗ (.*?): [^]*code {4}usage/.exec(err)?.[1]]),
    [
      [2, 'the engine dbos'],
      [2, 'the engine dbos'],
      [2, '--engine'],
      [2, 'TREADLE_ENGINE'],
      [2, '--user-runs'],
    ],
  );
});

describe('the tables of DBOS', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres();
    cluster.sql(readFileSync(ROLES, 'utf8'));
  });
  after(() => cluster.stop());
  const agents = (): string => cluster.url.replace('treadle@', 'agents:agents@');
  const migrateAs = (url: string) => treadle(['migrate', '--engine', 'dbos'], { cwd, env: { DATABASE_URL: url } });

  test('are made by a role that may, and worked with by one that may not', async (t) => {
    await treadle(['migrate'], { cwd, env: { DATABASE_URL: cluster.url } });
    const refused = await migrateAs(agents());
    assert.match(refused.err, /migrate\s+--engine dbos[^]*log_unavailable/);
    const made = await migrateAs(cluster.url);
    assert.match(made.out, /DBOS in its schema treadle_dbos were brought from version 0 to \d+/);
    const again = await migrateAs(agents());
    assert.match(again.out, /DBOS in its schema treadle_dbos are up to date/);
    const fleet = startFleet(t, { url: agents(), engine: 'dbos' });
    const server = await fleet.serve();
    const id = await fleet.begin(server, 'quick');
    const done = await fleet.rest(server, id, ({ statusKind }) => statusKind === 'ended');
    const figures = await (await fetch(`${server.url}/metrics`)).text();
    assert.deepEqual([done.status, /^treadle_queue_rows \d+$/m.test(figures)], ['completed', true]);
    assert.equal(await server.end('SIGTERM'), 0);
    assert.doesNotMatch(server.said(), /"level":"(warn|error)"/);
  });

  test('that are older are said to be, to a role that may not alter them', async () => {
    cluster.sql('UPDATE treadle_dbos.dbos_migrations SET version = 100');
    const refused = await migrateAs(agents());
    assert.match(refused.err, /migrate\s+--engine dbos[^]*log_unavailable/);
  });
});

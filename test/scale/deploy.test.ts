// The files of examples/deploy are such as Docker, PostgreSQL and Treadle take them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { PACKAGE } from '../../src/adapters/engines/dbos/sdk.ts';
import { openPostgresLog } from '../../src/adapters/stores/postgres.ts';
import { readDatabaseUrl } from '../../src/adapters/stores/postgres/settings.ts';
import { openPostgresControlStore } from '../../src/adapters/stores/control/postgres.ts';
import { systemClock } from '../../src/base/clock.ts';
import { isObject } from '../../src/base/json.ts';
import { treadle } from '../cli/treadle.ts';
import { aConversation, say } from '../conformance/log-samples.ts';
import { startPostgres, withoutPostgres } from '../support/postgres.ts';

const folder = path.join(import.meta.dirname, '../../examples/deploy');
const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

test('services of the compose file give commands and options that exist, and an address that can be read', async () => {
  const compose = parse(read('compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
  };
  const ours = Object.entries(compose.services).filter(([, { image }]) => image === 'treadle');
  assert.deepEqual(
    ours.map(([name]) => name),
    ['migrate', 'server', 'worker'],
  );
  for (const [name, { command, environment }] of ours) {
    const [verb = '', ...rest] = command;
    const { out } = await treadle([verb, '--help'], { cwd: folder });
    for (const option of rest.filter((word) => word.startsWith('--')))
      assert.ok(out.includes(option), `${name}: ${verb} ${option}`);
    const url = (environment['DATABASE_URL'] ?? '').replace(/\$\{[^}]*\}/g, 'secret');
    assert.equal(readDatabaseUrl(url).schema, '"treadle"');
  }
  assert.ok(isObject(compose.services));
});

test('with DBOS every service of ours has it, no share that it refuses, and the package in the range that is known', () => {
  const text = read('compose.dbos.yaml');
  const { services } = parse(text) as { readonly services: Readonly<Record<string, Partial<Service>>> };
  assert.deepEqual(
    Object.entries(services).map(([name, { environment }]) => [name, environment?.['TREADLE_ENGINE']]),
    [
      ['migrate', 'dbos'],
      ['server', 'dbos'],
      ['worker', 'dbos'],
    ],
  );
  assert.doesNotMatch(services['worker']?.command?.join(' ') ?? '--tenant-runs', /--(tenant|user)-runs/);
  assert.ok(text.includes(PACKAGE));
});

test('every instruction of the Dockerfile is one', () => {
  const lines = read('Dockerfile').replaceAll(/\\\n/g, ' ').split('\n');
  const known = /^(#|$|(FROM|WORKDIR|COPY|RUN|USER|ENV|ENTRYPOINT|CMD|STOPSIGNAL|EXPOSE) )/;
  assert.deepEqual(
    lines.filter((line) => !known.test(line)),
    [],
  );
});

describe('the roles', { skip: withoutPostgres }, () => {
  test('of which one makes tables, and the other works with them and makes none', async (t) => {
    const cluster = await startPostgres();
    t.after(() => cluster.stop());
    cluster.sql(read('roles.sql'));
    const agents = cluster.url.replace('treadle@', 'agents:agents@');
    await assert.rejects(openPostgresLog({ url: agents, clock: systemClock, origin: 'test' }), /treadle migrate/);
    const migrated = await treadle(['migrate'], { cwd: folder, env: { DATABASE_URL: cluster.url } });
    assert.match(migrated.out, /were brought from version 0/);
    const log = await openPostgresLog({ url: agents, clock: systemClock, origin: 'test' });
    t.after(() => log.close());
    await log.create(aConversation('c1'));
    assert.equal((await log.post('c1', say('hello'))).fresh, true);
    assert.equal(await log.remove('c1'), true);
    const control = await openPostgresControlStore({ url: agents });
    assert.match(await control.secret('cursors'), /./);
    await control.close();
  });
});

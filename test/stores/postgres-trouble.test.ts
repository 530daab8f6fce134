// What an operator may do to a database, and what Treadle says then.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresLog, type PostgresLog } from '../../src/adapters/stores/postgres.ts';
import { systemClock } from '../../src/base/clock.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { until } from '../cli/treadle.ts';
import { aConversation, added, answer, leaseOn, say, seqs } from '../conformance/log-samples.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';

describe('trouble with PostgreSQL', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  let schemas = 0;
  before(async () => {
    cluster = await startPostgres({ safe: true, settings: ['max_connections=20', 'superuser_reserved_connections=3'] });
    cluster.sql(`CREATE ROLE guest LOGIN PASSWORD 'right'`);
  });
  after(() => cluster.stop());

  const open = (url: string): Promise<PostgresLog> =>
    openPostgresLog({ url, clock: systemClock, origin: `test-${++schemas}` });
  const fresh = (): string => `${cluster.url}?schema=s${++schemas}`;

  /** The error that comes of it. */
  async function refused(work: () => unknown): Promise<TreadleError> {
    try {
      await work();
    } catch (problem) {
      assert.ok(TreadleError.is(problem), String(problem));
      return problem;
    }
    return assert.fail('nothing was refused');
  }
  const said = (problem: TreadleError, code: string, words: RegExp): void => {
    assert.equal(problem.code, code);
    assert.match(problem.message, words);
    assert.doesNotMatch(problem.message, /right/);
  };

  test('an address that is none is refused before anything is asked', async () => {
    said(await refused(() => open('mysql://host/db')), 'usage', /postgres:\/\//);
    said(await refused(() => open(`${cluster.url}?schema=No-Good`)), 'usage', /schema/);
    said(await refused(() => open(`${cluster.url}?pool=1`)), 'usage', /pool/);
  });

  test('a host, a port and a database that are not there are told apart', async () => {
    said(await refused(() => open('postgres://a@nowhere.invalid/b')), 'log_unavailable', /host that exists|answers/);
    said(await refused(() => open('postgres://a@127.0.0.1:1/b')), 'log_unavailable', /ECONNREFUSED.*host and port/);
    const elsewhere = cluster.url.replace(/postgres$/, 'elsewhere');
    said(await refused(() => open(elsewhere)), 'log_unavailable', /"elsewhere" does not exist.*createdb/);
  });

  test('a role that is not let in is told so, without its password', async () => {
    const stranger = cluster.url.replace('treadle@', 'nobody:right@');
    said(await refused(() => open(stranger)), 'log_unavailable', /"nobody" does not exist.*user and a password/);
  });

  test('a password that is wrong is told so, and stands in no message', async () => {
    const file = path.join(cluster.folder, 'data/pg_hba.conf');
    const rules = readFileSync(file, 'utf8');
    writeFileSync(file, `host all locked 127.0.0.1/32 scram-sha-256\n${rules}`);
    cluster.sql(`CREATE ROLE locked LOGIN PASSWORD 'right'; SELECT pg_reload_conf()`);
    const as = (password: string): string => cluster.url.replace('treadle@', `locked:${password}@`);
    const wrong = await refused(() => open(as('bright')));
    said(wrong, 'log_unavailable', /password authentication failed.*%40/);
    said(await refused(() => open(as('right'))), 'log_unavailable', /treadle migrate/);
    said(await refused(() => open(cluster.url.replace('treadle@', 'locked@'))), 'log_unavailable', /password/);
    writeFileSync(file, rules);
    cluster.sql('SELECT pg_reload_conf()');
  });

  test('a server that cannot do TLS, and one that is no PostgreSQL, are told apart', async (t) => {
    said(await refused(() => open(`${cluster.url}?sslmode=require`)), 'log_unavailable', /SSL.*sslmode/);
    const other = createServer(
      (socket) => void socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo; // it listens on a port
    const elsewhere = await refused(() => open(`postgres://a@127.0.0.1:${port}/b`));
    said(elsewhere, 'log_unavailable', /PostgreSQL server that answers/);
  });

  test('a server that is too old is refused by its version', async () => {
    // A server that answers as PostgreSQL 13 does: there is none to be had that is so old and may be installed.
    cluster.sql(`CREATE ROLE elder LOGIN; CREATE SCHEMA older; GRANT USAGE ON SCHEMA older TO elder;
      ALTER ROLE elder SET search_path = older, pg_catalog;
      CREATE FUNCTION older.current_setting(text) RETURNS text LANGUAGE sql AS
        $$ SELECT CASE $1 WHEN 'server_version_num' THEN '130014' ELSE pg_catalog.current_setting($1) END $$`);
    const elder = cluster.url.replace('treadle@', 'elder@');
    said(await refused(() => open(elder)), 'log_version', /PostgreSQL 13.*14 or newer.*upgrade the server/);
  });

  test('a process whose connections are all waiting says that, and goes on when one is free', async () => {
    const url = fresh();
    const [here, there] = [await open(`${url}&pool=2`), await open(url)];
    await here.create(aConversation('c1'));
    await there.database.together(async (transaction) => {
      await transaction.run(`LOCK TABLE ${there.database.settings.schema}.conversations`);
      const waiting = [1, 2].map(async () => here.find('c1'));
      said(await refused(() => here.find('c1')), 'log_locked', /free connection of this process.*pool=/);
      void Promise.allSettled(waiting);
    });
    assert.equal((await here.find('c1'))?.id, 'c1');
    await here.close();
    await there.close();
  });

  test('a role that may not make tables is told to have them made', async () => {
    const guest = cluster.url.replace('treadle@', 'guest:right@');
    said(await refused(() => open(`${guest}?schema=mine`)), 'log_unavailable', /treadle migrate/);
    await (await open(`${cluster.url}?schema=mine`)).close();
    cluster.sql('GRANT USAGE ON SCHEMA mine TO guest; GRANT SELECT ON mine.schema_version TO guest');
    const log = await open(`${guest}?schema=mine`);
    said(await refused(() => log.find('c1')), 'log_unavailable', /permission denied.*role that may/);
    cluster.sql('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mine TO guest');
    assert.equal(await log.create(aConversation('c1')), true);
    assert.equal((await log.post('c1', say('hello'))).fresh, true);
    await log.close();
  });

  test('tables of a newer version are refused', async () => {
    await (await open(`${cluster.url}?schema=newer`)).close();
    cluster.sql('UPDATE newer.schema_version SET version = 99');
    said(await refused(() => open(`${cluster.url}?schema=newer`)), 'log_version', /version 99.*update Treadle/);
  });

  test('processes that start at once on an empty database all find its tables', async () => {
    const url = fresh();
    const logs = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    assert.equal(await logs[0]?.create(aConversation('c1')), true);
    assert.equal((await logs[3]?.find('c1'))?.id, 'c1');
    for (const log of logs) await log.close();
  });

  test('a table that somebody altered is told as such, and what is whole can be read', async () => {
    const log = await open(`${cluster.url}?schema=altered`);
    await log.create(aConversation('c1'));
    await log.post('c1', say('hello'));
    cluster.sql('ALTER TABLE altered.facts RENAME COLUMN cause TO because');
    said(await refused(() => log.post('c1', say('more'))), 'log_corrupt', /altered them/);
    cluster.sql('ALTER TABLE altered.facts RENAME COLUMN because TO cause');
    cluster.sql('DROP TABLE altered.blobs');
    said(await refused(() => log.post('c1', say('more'))), 'log_unavailable', /tables of Treadle/);
    assert.equal((await log.find('c1'))?.head, 1);
    cluster.sql('DELETE FROM altered.facts');
    cluster.sql('CREATE TABLE altered.blobs (hash bytea PRIMARY KEY, content bytea NOT NULL)');
    said(await refused(() => log.read('c1', 0, 10)), 'log_corrupt', /fact 1.*backup/);
    await log.close();
  });

  test('a server that takes no writes says that the log cannot grow', async () => {
    const guest = cluster.url.replace('treadle@', 'guest:right@');
    await (await open(`${cluster.url}?schema=still`)).close();
    cluster.sql('GRANT USAGE ON SCHEMA still TO guest; GRANT ALL ON ALL TABLES IN SCHEMA still TO guest');
    cluster.sql('ALTER ROLE guest SET default_transaction_read_only = on');
    const log = await open(`${guest}?schema=still`);
    cluster.sql('ALTER ROLE guest RESET default_transaction_read_only');
    said(await refused(() => log.create(aConversation('c1'))), 'log_full', /primary/);
    assert.deepEqual(await log.list({ limit: 1 }), []);
    await log.close();
  });

  test('a full disk is told as such, loses nothing, and is over when there is room', async () => {
    const log = await open(`${cluster.url}?schema=brim`);
    await log.create(aConversation('c1'));
    await log.post('c1', say('before'));
    // As PostgreSQL says it when a table cannot grow.
    cluster.sql(`CREATE FUNCTION brim.full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`);
    cluster.sql('CREATE TRIGGER full_disk BEFORE INSERT ON brim.facts FOR EACH ROW EXECUTE FUNCTION brim.full()');
    const lease = await leaseOn(log, 'c1');
    said(await refused(() => log.append(lease, 1, [answer('a')])), 'log_full', /No space left.*free some space/);
    said(await refused(() => log.post('c1', say('more'))), 'log_full', /safe/);
    assert.deepEqual([(await log.find('c1'))?.head, seqs(await log.read('c1', 0, 10))], [1, [1]]);
    cluster.sql('DROP TRIGGER full_disk ON brim.facts');
    assert.deepEqual(seqs(added(await log.append(lease, 1, [answer('a')]))), [2]);
    await log.close();
  });

  test('a server without a free connection says so, and so does a process without one', async () => {
    const guest = cluster.url.replace('treadle@', 'guest:right@');
    await (await open(`${cluster.url}?schema=full`)).close();
    cluster.sql('GRANT USAGE ON SCHEMA "full" TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA "full" TO guest');
    cluster.sql('ALTER ROLE guest CONNECTION LIMIT 1');
    const log = await open(`${guest}?schema=full&pool=4`);
    const asked = await Promise.allSettled(Array.from({ length: 4 }, async () => log.list({ limit: 1 })));
    cluster.sql('ALTER ROLE guest CONNECTION LIMIT -1');
    const problem = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))[0];
    assert.ok(TreadleError.is(problem));
    said(problem, 'log_unavailable', /too many connections.*pool=/);
    await log.close();
  });

  test('connections that are cut are replaced, and what was asked on them is answered', async () => {
    const log = await open(fresh());
    await log.create(aConversation('c1'));
    const lease = await leaseOn(log, 'c1');
    for (let head = 0; head < 30; head++) {
      if (head % 3 === 0)
        cluster.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'treadle'`);
      added(await log.append(lease, head, [answer(String(head))]));
    }
    assert.equal((await log.read('c1', 0, 100)).length, 30);
    await log.close();
  });

  test('an append outlives a crash of the server, and is there once', async () => {
    const log = await open(fresh());
    await log.create(aConversation('c1'));
    const lease = await leaseOn(log, 'c1');
    added(await log.append(lease, 0, [answer('before')]));
    await cluster.kill();
    const late = log.append(lease, 1, [answer('during')]);
    await pause(500);
    await cluster.start();
    added(await late);
    assert.deepEqual(seqs(await log.read('c1', 0, 10)), [1, 2]);
    await log.close();
  });

  test('an outage is told of once when it begins and once when it is over, however long it lasts', async () => {
    const lines: string[] = [];
    const url = fresh();
    const onWarning = (message: string): void => void lines.push(message);
    const log = await openPostgresLog({ url, clock: systemClock, origin: 'told', onWarning });
    await log.create(aConversation('c1'));
    const unwatch = log.watch('c1', () => undefined);
    const isUp = new Promise<void>((resolve) => log.line.onUp(resolve));
    await isUp;
    await cluster.kill();
    await pause(4_000);
    await cluster.start();
    await until(() => lines.length === 4);
    unwatch();
    await log.close();
    assert.deepEqual(lines.toSorted(), [
      'The log cannot be watched.',
      'The log is watched again.',
      'The other processes of the log are heard again.',
      'The other processes of the log cannot be heard.',
    ]);
  });

  test('facts of another process are told of, also after the line that tells was cut', async () => {
    const url = fresh();
    const [here, there] = [await open(url), await open(url)];
    await here.create(aConversation('c1'));
    let heard = (): void => undefined;
    const told = (): Promise<void> => new Promise((resolve) => (heard = resolve));
    const unwatch = here.watch('c1', () => heard());
    const first = told();
    await there.post('c1', say('one'));
    await first;
    cluster.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'treadle'`);
    const second = told();
    await there.post('c1', say('two', 'k'));
    await second;
    unwatch();
    await here.close();
    await there.close();
  });
});

// No statement that is asked all the time reads a whole table, however many conversations there are.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { openPostgresLog } from '../../src/adapters/stores/postgres.ts';
import { logStatements } from '../../src/adapters/stores/postgres/sql.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { SQL } from '../../src/adapters/stores/sqlite/sql.ts';
import { systemClock } from '../../src/base/clock.ts';
import { startPostgres, withoutPostgres } from '../support/postgres.ts';
import { temporaryFile } from './temporary.ts';

describe('the plans of PostgreSQL', { skip: withoutPostgres }, () => {
  test('go by an index in every statement of the log, and figures by the few rows that are kept for them', async (t) => {
    const cluster = await startPostgres();
    t.after(() => cluster.stop());
    const log = await openPostgresLog({ url: `${cluster.url}?schema=many`, clock: systemClock, origin: 'test' });
    t.after(() => log.close());
    cluster.sql(`INSERT INTO many.conversations
      (id, agent, bundle, user_id, tenant, agent_path, created_at, updated_at, minute, status, head)
      SELECT 'c' || n, 'main', 'b@1', 'u' || n % 100, 't' || n % 10, 'main', 0, 0, 0, 'completed', 3
      FROM generate_series(1, 20000) n`);
    cluster.sql(`INSERT INTO many.facts (conversation, seq, type, at, body)
      SELECT key, n, 'io.output', 0, '{}' FROM many.conversations, generate_series(1, 3) n`);
    cluster.sql('ANALYZE many.conversations, many.facts, many.run_counts');
    const whole: string[] = [];
    for (const [name, { text }] of Object.entries(logStatements('"many"'))) {
      const values = new Set(text.match(/\$\d+/g)).size;
      const given = values === 0 ? '' : `(${Array.from({ length: values }, () => 'NULL').join()})`;
      const plan = cluster.sql(
        `SET plan_cache_mode = force_generic_plan; PREPARE p AS ${text}; EXPLAIN (COSTS OFF) EXECUTE p${given}`,
      );
      for (const scan of plan.match(/Seq Scan on (conversations|facts|blobs)\b/g) ?? []) whole.push(`${name}: ${scan}`);
      if (name === 'counts') assert.doesNotMatch(plan, /conversations/);
    }
    assert.deepEqual(whole, []);
    assert.deepEqual(await log.counts(), { completed: 20_000 });
  });
});

test('the plans of SQLite go by an index, and figures by the few rows that are kept for them', async (t) => {
  const file = temporaryFile(t);
  await (await openSqliteLog({ file, clock: systemClock })).close();
  const connection = new DatabaseSync(file);
  t.after(() => connection.close());
  connection.function('folded', (text) => String(text));
  const whole: string[] = [];
  for (const [name, text] of Object.entries(SQL)) {
    if (!/^(SELECT|INSERT|UPDATE|DELETE)/.test(text)) continue;
    const plan = connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
    for (const { detail } of plan)
      if (/^SCAN (conversations|facts|blobs|c|f)$/.test(String(detail))) whole.push(`${name}: ${String(detail)}`);
  }
  assert.deepEqual(whole, []);
});

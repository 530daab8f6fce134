import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrl } from '../../src/platform/hosting/storage.ts';

const of = (url: string, data?: string): string | undefined =>
  databaseUrl({ data, environment: { DATABASE_URL: url } });

test('runs are kept in the PostgreSQL that DATABASE_URL names, unless a folder was named', () => {
  const url = 'postgres://agents@db/agents';
  assert.deepEqual(
    [of(url), of(url, '.treadle'), of('mysql://app@db/app', '.treadle'), of('')],
    [url, undefined, undefined, undefined],
  );
});

for (const wrong of ['mysql://app@db/app', 'postgress://u:p@h/d', 'pg://u:p@h/d', 'not a url']) {
  test(`${wrong} is no address, and is told instead of keeping runs elsewhere`, () => {
    assert.throws(() => of(wrong), { code: 'usage' });
  });
}

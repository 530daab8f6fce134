import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { readBudgets } from '../../src/platform/metering/read-budgets.ts';
import { temporaryFolder } from '../stores/temporary.ts';

function aFile(t: TestContext, text: string): string {
  const file = path.join(temporaryFolder(t), 'budgets.yaml');
  writeFileSync(file, text);
  return file;
}

test('budgets are read from YAML and from JSON, money as it is written', (t) => {
  assert.deepEqual(
    readBudgets(
      aFile(t, 'user: { day: { money: 2.50, tokens: 100000 } }\ntenants: { acme: { month: { money: "100" } } }'),
    ),
    {
      user: { day: { money: '2.5', tokens: 100_000 } },
      tenants: { acme: { month: { money: '100' } } },
    },
  );
  assert.deepEqual(readBudgets(aFile(t, '{"tenant": {"day": {"calls": 3}}}')), { tenant: { day: { calls: 3 } } });
  assert.deepEqual(readBudgets(aFile(t, '')), {});
});

test('what is not a budget is refused with its place', (t) => {
  assert.throws(
    () => readBudgets(aFile(t, 'user: { day: { money: -1 } }')),
    /user\.day\.money: found .*-1.*\(budgets_invalid\)/,
  );
  assert.throws(() => readBudgets(aFile(t, 'user: { week: {} }')), /user\.week: found a key that nothing reads/);
  assert.throws(() => readBudgets(aFile(t, 'user: [')), /budgets_invalid/);
  assert.throws(() => readBudgets('no/such/file'), /no\/such\/file: found ENOENT/);
});

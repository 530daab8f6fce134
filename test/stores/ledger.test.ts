import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { createMemoryLedger } from '../../src/adapters/stores/ledger/memory.ts';
import { openSqliteLedger } from '../../src/adapters/stores/ledger/sqlite.ts';
import { openSqliteControlStore } from '../../src/adapters/stores/control/sqlite.ts';
import { systemClock } from '../../src/base/clock.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { accountOfTenant } from '../../src/kernel/ledger.ts';
import { aCall, aSpender, ledgerConformance } from '../conformance/ledger.ts';
import { StillClock } from '../conformance/log-samples.ts';
import { temporaryFolder } from './temporary.ts';

ledgerConformance('memory', { open: (clock) => createMemoryLedger({ clock }) });

const folders: (() => void)[] = [];
const folder = temporaryFolder({ after: (undo) => void folders.push(undo) });
test.after(() => folders.forEach((undo) => undo()));
let files = 0;
ledgerConformance('sqlite', {
  open: (clock) => openSqliteLedger({ file: path.join(folder, `${++files}.db`), clock }),
  reopen: (clock) => openSqliteLedger({ file: path.join(folder, `${files}.db`), clock }),
});

test('the ledger lies in the control file, beside the keys', async () => {
  const file = path.join(folder, 'both.db');
  const clock = new StillClock();
  const [store, ledger] = [await openSqliteControlStore({ file, clock }), await openSqliteLedger({ file, clock })];
  ledger.add(aSpender(), [aCall(1)], { through: 1 });
  assert.equal(store.any(), false);
  assert.equal(ledger.position('c1'), 1);
  store.close();
  ledger.close();
});

test('a ledger that was closed says so', async () => {
  const ledger = await openSqliteLedger({ file: path.join(folder, 'closed.db'), clock: new StillClock() });
  ledger.close();
  assert.throws(
    () => ledger.position('c1'),
    (problem) => TreadleError.is(problem) && problem.code === 'log_unavailable',
  );
});

test('four processes at once set aside no more than there is, and lose no entry', async () => {
  const file = path.join(folder, 'race.db');
  (await openSqliteLedger({ file, clock: systemClock })).close();
  const child = path.join(import.meta.dirname, 'ledger-child.ts');
  const granted = await Promise.all(
    ['a', 'b', 'c', 'd'].map(
      (name) =>
        new Promise<number>((resolve, reject) => {
          const process = fork(child, [file, name], { execArgv: ['--no-warnings'] });
          process.once('message', (count) => resolve(Number(count)));
          process.once('error', reject);
          process.once('exit', (code) => (code === 0 ? undefined : reject(new Error(`exit ${code ?? 'by signal'}`))));
        }),
    ),
  );
  const ledger = await openSqliteLedger({ file, clock: systemClock });
  assert.equal(
    granted.reduce((sum, one) => sum + one),
    50,
  );
  assert.equal(ledger.spent(accountOfTenant('acme'), '2026-11').calls, 400);
  ledger.close();
});

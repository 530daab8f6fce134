import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createMemoryControlStore } from '../../src/adapters/stores/control/memory.ts';
import { openSqliteControlStore } from '../../src/adapters/stores/control/sqlite.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { controlStoreConformance } from '../conformance/control.ts';
import { StillClock } from '../conformance/log-samples.ts';
import { temporaryFolder } from './temporary.ts';

controlStoreConformance('memory', { open: (clock) => createMemoryControlStore({ clock }) });

const folders: (() => void)[] = [];
const folder = temporaryFolder({ after: (undo) => void folders.push(undo) });
test.after(() => folders.forEach((undo) => undo()));
let files = 0;
controlStoreConformance('sqlite', {
  open: (clock) => openSqliteControlStore({ file: path.join(folder, `${++files}.db`), clock }),
  reopen: (clock) => openSqliteControlStore({ file: path.join(folder, `${files}.db`), clock }),
});

const code = (wanted: string) => (problem: unknown) => TreadleError.is(problem) && problem.code === wanted;

test('a log is not a control file, and a control file is no log', async () => {
  const [log, control] = [path.join(folder, 'a-log.db'), path.join(folder, 'a-control.db')];
  const clock = new StillClock();
  await (await openSqliteLog({ file: log, clock })).close();
  (await openSqliteControlStore({ file: control, clock })).close();
  await assert.rejects(openSqliteControlStore({ file: log, clock }), code('log_unavailable'));
  await assert.rejects(openSqliteLog({ file: control, clock }), code('log_unavailable'));
});

test('a file that is no database says so', async () => {
  const file = path.join(folder, 'text.db');
  writeFileSync(file, 'x'.repeat(5000));
  await assert.rejects(openSqliteControlStore({ file, clock: new StillClock() }), code('log_corrupt'));
});

test('a control store that was closed says so', async () => {
  const store = await openSqliteControlStore({ file: path.join(folder, 'closed.db'), clock: new StillClock() });
  store.close();
  assert.throws(() => store.any(), code('log_unavailable'));
});
